"""Generates the teacher of a surface that a shader file of a studio implements.

The studio's text is a module of its own, so that its names do not meet those of Verdigris. An
adapter at its end makes its functions public, and sets its live inputs for each sample.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.files.image_headers import find_atlas
from verdigris.core.material.files.paths import is_tiled
from verdigris.core.material.graph.colour_spaces import to_linear_rec709
from verdigris.core.material.graph.traversal import (
    defined_input,
    is_connected,
    is_of_document,
    value_of,
)
from verdigris.core.material.shader.declarations import Declarations, read_declarations
from verdigris.core.material.shader.document_text import (
    BLOCK,
    OF_PLACES,
    PLACES,
    SAMPLERS,
    TABLE,
    TRANSMISSION,
    expand_implementation,
)
from verdigris.core.material.shader.expand import ShaderText, is_shader

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.live_inputs.live_input import LiveInput
    from verdigris.core.material.load.mtlx_document import Document, Material

_ADAPTER = """
#line 1 "verdigris"
public float3 verdigrisResponse(float2 uv, float3 wi, float3 wo)
{{
    return float3({response}(uv, wi, wo));
}}
public float3 verdigrisEmission(float2 uv) {{ return {emission}; }}
public float verdigrisOpacity(float2 uv) {{ return {opacity}; }}
public void verdigrisOpen({arguments}) {{ {assignments} }}
"""
# `light` is 1 for the response to a unit light, or 0 for the emission, as in material.slang.
_SHADE = """
float4 shade(SurfacePoint point, float3 wi, float3 wo, float light, float emission)
{{
    verdigrisOpen({values});
    const float2 uv = {uv};
    const float coverage = saturate(verdigrisOpacity(uv));
    float3 colour = light * verdigrisResponse(uv, wi, wo);
    if (emission > 0.0)
        colour = emission * verdigrisEmission(uv);
    return float4(coverage * colour, coverage);
}}
"""


class ShaderCode(NamedTuple):
    """The code of a shader, and what it binds."""

    modules: tuple[tuple[str, str], ...]
    """Modules by name, each after those that it imports."""
    shade: str
    """The function that stands for the generated entry point."""
    images: tuple[tuple[str, mx.Input], ...]
    tables: tuple[tuple[str, str], ...]
    """Names of files of numbers, by variable."""
    uniforms: tuple[tuple[str, Any], ...]
    samplers: tuple[str, ...]
    index_below: float | None
    """The index of the solid below, 1 for a thin wall; None if no light passes."""


def find_shader(document: Document, material: Material) -> mx.Node | None:
    """The surface of a material that a shader file implements; None if nodes of MaterialX do."""
    nodes = list(document.nodes_of(material))
    found = [node for node in nodes if shader_implementation(node) is not None]
    if not found:
        return None
    others = [
        node.getName()
        for node in nodes
        if node.getType() == "surfaceshader" and node.getName() != found[0].getName()
    ]
    if others:
        raise DocumentError(
            f"{document.name}: {found[0].getName()!r} is a shader file, and cannot be mixed with "
            f"{others[0]!r}: mix them in the shader"
        )
    return found[0]


def shader_implementation(node: mx.Node) -> mx.Implementation | None:
    """The implementation of a surface by a shader file, if it has one."""
    import MaterialX as mx

    if node.getType() != mx.SURFACE_SHADER_TYPE_STRING:
        return None
    found = node.getImplementation("genslang")
    if not isinstance(found, mx.Implementation) or not is_of_document(found, node):
        return None
    return found if is_shader(found.getFile()) else None


def shader_code(
    document: Document,
    surface: mx.Node,
    live: Sequence[LiveInput],
    uv: str,
    values: Sequence[str],
    has_mesh: bool,
) -> ShaderCode:
    """The code of a surface. `uv` and `values` are code for the place, and for each live value."""
    implementation = shader_implementation(surface)
    assert implementation is not None
    text = expand_implementation(implementation, document.search, f"{document.name}: ")
    declarations = read_declarations(text.text)
    blocks = {port.getName(): port.getAttribute(BLOCK) for port in surface.getNodeDef().getInputs()}
    varying = [_varying(document, declarations, blocks, each) for each in live]
    listed = implementation.getAttribute(OF_PLACES)
    places = dict(each.split() for each in filter(None, listed.split(", ")))
    main = _with_adapter(text, declarations, implementation, varying, [*places.values()])
    name = f"studio_{hashlib.sha256(main.encode()).hexdigest()[:24]}"
    changed = {each for one in varying for each in one}
    images, tables, uniforms = _values(document, surface, blocks, changed)
    code = [PLACES[each] for each in places]
    if not has_mesh:
        # painted colours are white without a mesh
        code = ["float3(1.0)" if each == PLACES["VertexColour"] else each for each in code]
    shade = _SHADE.format(values=", ".join((*values, *code)), uv=uv)
    listed = implementation.getAttribute(SAMPLERS)
    return ShaderCode(
        (*text.modules, (name, main)),
        f"import {name};\n{shade}",
        images,
        tables,
        uniforms,
        tuple(filter(None, listed.split(", "))),
        float(implementation.getAttribute(TRANSMISSION) or 0) or None,
    )


def _varying(
    document: Document, declarations: Declarations, blocks: dict[str, str], live: LiveInput
) -> list[tuple[str, str]]:
    """The variables, with their blocks, that a live input sets."""
    found = []
    for path in live.paths:
        name = path.rpartition("/")[2]
        block = blocks.get(name, "")
        if declarations.find(name, block) is None:
            raise DocumentError(
                f"{document.name}: live input {name!r}: its declaration is not in the shader's own "
                "text, as if a macro wrote it: write it out"
            )
        found.append((name, block))
    return found


def _with_adapter(
    text: ShaderText,
    declarations: Declarations,
    implementation: mx.Implementation,
    varying: Sequence[Sequence[tuple[str, str]]],
    places: Sequence[str],
) -> str:
    assignments = []
    arguments = [f"float3 live{number}" for number in range(len(varying))]
    for number, name in enumerate(places):
        declared = declarations.find(name)
        kind = declared.kind if declared else "float3"
        arguments.append(f"{kind} place{number}")
        assignments.append(f"{name} = place{number};")
    for number, names in enumerate(varying):
        for name, block in names:
            declared = declarations.find(name, block)
            kind = declared.kind if declared else "float"
            value = f"live{number}.x" if kind[-1] not in "234" else f"live{number}"
            assignments.append(f"{name} = {kind}({value});")
    emission, opacity = (implementation.getAttribute(each) for each in ("emission", "opacity"))
    adapter = _ADAPTER.format(
        response=implementation.getAttribute("response") or "response",
        emission=f"float3({emission}(uv))" if emission else "float3(0.0)",
        opacity=f"float({opacity}(uv))" if opacity else "1.0",
        arguments=", ".join(arguments),
        assignments=" ".join(assignments),
    )
    changed = {each for names in varying for each in names} | {(name, "") for name in places}
    return declarations.rewritten(changed) + adapter


def _values(
    document: Document, surface: mx.Node, blocks: dict[str, str], varying: set[tuple[str, str]]
) -> tuple[
    tuple[tuple[str, mx.Input], ...], tuple[tuple[str, str], ...], tuple[tuple[str, Any], ...]
]:
    """Images, tables and values of a surface, by the variable's name, behind that of its block."""
    images, tables, uniforms = [], [], []
    for offered in surface.getNodeDef().getActiveInputs():
        name = offered.getName()
        block = blocks.get(name, "")
        if (name, block) in varying:
            continue
        port = surface.getInput(name) or offered
        if is_connected(port):
            raise DocumentError(
                f"{document.name}: input {name!r} of {surface.getName()!r} is connected, and the "
                "inputs of a shader file are values and images: compute it in the shader"
            )
        variable = f"{block}.{name}" if block else name
        if port.getType() == "filename":
            images.append((variable, port.getInterfaceInput() or port))
            continue
        if offered.getAttribute(TABLE):
            tables.append((variable, str(port.getResolvedValueString())))
            continue
        value = value_of(port)
        if value is None:
            value = value_of(defined_input(surface, name))
        plain = value.asTuple() if hasattr(value, "asTuple") else value
        if port.getType() == "color3":
            plain = to_linear_rec709(tuple(plain), port.getActiveColorSpace())
        uniforms.append((variable, plain))
    return tuple(images), tuple(tables), tuple(uniforms)


def check_images(document: Document, files: Sequence[str]) -> None:
    """Refuses tiles: a texture of a shader is one image."""
    for file in files:
        if is_tiled(file) and find_atlas([file], document.search):
            raise DocumentError(
                f"{document.name}: {file!r} names UDIM tiles, and a texture of a shader file is "
                "one image: name one tile"
            )
