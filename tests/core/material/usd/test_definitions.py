"""Every definition of MaterialX survives: a shader of it becomes a node of it."""

import json

from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.usd.network import Link, Network, Port, Shader
from verdigris.core.material.usd.signatures import TABLE, find_signature
from verdigris.core.material.usd.write_mtlx import write_document

# MaterialX 1.39 dropped these without a successor; documents that use them are refused by name.
GONE = ("ambientocclusion", "arrayappend", "curveadjust", "disney_brdf_2012", "disney_bsdf_2015")
# These are turned into others only in the company of certain nodes.
GONE_ALONE = ("ND_geompropvalue_string", "ND_thin_film_bsdf", "ND_thin_surface")


# MaterialX's own nodes stand for those of USD that read a property.
READERS = {
    f"ND_UsdPrimvarReader_{kind}": f"ND_geompropvalue_{kind}"
    for kind in ("boolean", "integer", "float", "vector2", "vector3", "vector4")
} | {
    f"ND_UsdPrimvarReader_{kind}": f"ND_geompropvalueuniform_{kind}"
    for kind in ("string", "filename")
}
# What is in a volume is dropped, and one kind of it stands for all.
VOLUMES = {
    f"ND_{kind}": "ND_anisotropic_vdf"
    for kind in ("absorption_vdf", "add_vdf", "mix_vdf", "multiply_vdfF", "multiply_vdfC")
}
# Displacement is dropped, and one kind of it stands for all.
DISPLACEMENTS = {
    f"ND_{kind}": "ND_displacement_float"
    for kind in ("displacement_vector3", "mix_displacementshader", "dot_displacementshader")
}


def definition_of(definition, version):
    """What a node, made from a shader of this definition, has for one in MaterialX's eyes."""
    signature = find_signature(definition, version)
    output = next(iter(signature.outputs))
    feeds = (Port("base", "float", link=Link("/m/node", output, "token")),)
    surface = Shader("/m/surface", "ND_standard_surface_surfaceshader", "", feeds)
    shaders = {surface.path: surface, "/m/node": Shader("/m/node", definition, "", ())}
    text = ".".join(str(number) for number in version)
    network = Network("m", "/m", text, Link(surface.path, "out", "token"), shaders=shaders)
    loaded = parse_document(write_document(network))
    found = loaded.root.getNode("node").getNodeDef()
    return found and found.getName()


def test_every_definition_of_today_resolves_to_itself():
    names = json.loads(TABLE.read_text())["current"]
    assert len(names) > 700
    for name in names:
        assert definition_of(name, (1, 39)) == (READERS | VOLUMES | DISPLACEMENTS).get(name, name)


def test_every_definition_of_1_38_is_upgraded_or_known_to_be_gone():
    names = json.loads(TABLE.read_text())["before_1.39"]
    assert len(names) > 100
    lost = [name for name in names if definition_of(name, (1, 38)) is None]
    unexpected = [
        name
        for name in lost
        if find_signature(name, (1, 38)).category not in GONE and name not in GONE_ALONE
    ]
    assert unexpected == [] and len(lost) == 28
