"""Small documents for tests."""

from __future__ import annotations

HEADER = '<?xml version="1.0"?>\n<materialx version="1.39" colorspace="lin_rec709">\n'
FOOTER = "</materialx>\n"
MATERIAL = (
    '<surfacematerial name="{name}" type="material">'
    '<input name="surfaceshader" type="surfaceshader" nodename="{shader}"/></surfacematerial>\n'
)
# A shader in a graph, which a document may have without a material.
GRAPH = (
    '<nodegraph name="graph"><standard_surface name="inner" type="surfaceshader"/>'
    '<output name="out" type="surfaceshader" nodename="inner"/></nodegraph>'
)
# A node `wear` that a document defines, and an image to be in it.
DEFINITION = (
    '<nodedef name="ND_wear" node="wear">{inputs}<output name="out" type="color3"/></nodedef>'
    '<nodegraph name="NG_wear" nodedef="ND_wear">{nodes}'
    '<output name="out" type="color3" nodename="inner"/></nodegraph>'
)
IMAGE = '<image name="inner" type="color3"><input name="file" type="filename" {written}/></image>'


def document(*parts: str) -> str:
    return HEADER + "\n".join(parts) + FOOTER


def standard_surface(inputs: str = "", name: str = "shader") -> str:
    return f'<standard_surface name="{name}" type="surfaceshader">{inputs}</standard_surface>'


def material(shader: str = "shader", name: str = "material") -> str:
    return MATERIAL.format(name=name, shader=shader)


def with_surface(inputs: str = "", *nodes: str) -> str:
    """A document of one standard surface with these inputs, fed by these nodes."""
    return document(*nodes, standard_surface(inputs), material())


def with_image(file: str) -> str:
    """A document whose base colour is an image."""
    return with_surface(
        '<input name="base_color" type="color3" nodename="picture"/>',
        '<image name="picture" type="color3">'
        f'<input name="file" type="filename" value="{file}"/></image>',
    )


def chain(length: int) -> str:
    """A document in which the roughness comes out of a chain of nodes."""
    links = "".join(
        f'<add name="n{i}" type="float"><input name="in1" type="float" nodename="n{i - 1}"/>'
        '<input name="in2" type="float" value="0.0001"/></add>'
        for i in range(1, length)
    )
    return document(
        '<nodegraph name="graph"><constant name="n0" type="float">'
        '<input name="value" type="float" value="0.1"/></constant>'
        f'{links}<output name="out" type="float" nodename="n{length - 1}"/></nodegraph>',
        standard_surface(
            '<input name="specular_roughness" type="float" nodegraph="graph" output="out"/>'
        ),
        material(),
    )
