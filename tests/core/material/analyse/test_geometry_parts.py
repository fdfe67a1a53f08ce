"""The report lists what a material reads from the geometry, of which a sample has little."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import document, material, with_surface
from ..reports import fates, report
from ..surfaces import node, shader


def test_further_texture_coordinates_are_read_as_the_first():
    nodes = (
        '<texcoord name="second" type="vector2"><input name="index" type="integer" value="{}"/>'
        '</texcoord><separate2 name="apart" type="multioutput">'
        '<input name="in" type="vector2" nodename="second"/></separate2>'
    )
    base = '<input name="base" type="float" nodename="apart" output="outx"/>'
    assert fates(with_surface(base, nodes.format(1)))["texture coordinates 1"] == "approximated"
    assert set(fates(with_surface(base, nodes.format(0)))) == {"base", "specular"}


@pytest.mark.parametrize("index", ["0", "1"])
def test_what_a_definition_reads_by_default_varies_over_the_surface(index):
    own = (
        f'<geompropdef name="coordinates" type="vector2" geomprop="texcoord" index="{index}"/>'
        '<nodedef name="ND_own" node="own"><input name="at" type="vector2" '
        'defaultgeomprop="coordinates"/><output name="out" type="float"/></nodedef>'
        '<nodegraph name="NG_own" nodedef="ND_own"><magnitude name="far" type="float">'
        '<input name="in" type="vector2" interfacename="at"/></magnitude>'
        '<output name="out" type="float" nodename="far"/></nodegraph><own name="far" type="float"/>'
    )
    found = report(with_surface('<input name="base" type="float" nodename="far"/>', own))
    assert found.varying_inputs == ("base",)
    reported = [part.name for part in found.parts if "coordinates" in part.name]
    assert reported == (["texture coordinates 1"] if index == "1" else [])


def test_patterns_in_space_are_reported_whether_they_are_given_places_or_not():
    base = '<input name="base" type="float" nodename="noise"/>'
    noise = '<noise3d name="noise" type="float">{}</noise3d>'
    given = noise.format('<input name="position" type="vector3" nodename="p"/>')
    place = '<position name="p" type="vector3"/>'
    assert fates(with_surface(base, given, place))["place in space"] == "approximated"
    assert fates(with_surface(base, noise.format("")))["place in space"] == "approximated"
    parts = report(with_surface(base, given, place)).parts
    [reported] = [part.how for part in parts if part.name == "place in space"]
    # no bake takes a mesh
    assert "without a mesh the position is that on a flat unit square" in reported
    flat = noise.format("").replace("noise3d", "noise2d")
    assert "place in space" not in fates(with_surface(base, flat))


SLOPE = node("normal", "n", "vector3", {"space": ("string", "world")})
ALONG = node("tangent", "t", "vector3", {"space": ("string", "world")})
LOOK = node("viewdirection", "v", "vector3", {"space": ("string", "world")})
UP = {"in1": ("vector3", "@n"), "in2": ("vector3", "0,1,0")}
VIEW = {"in1": ("vector3", "@n"), "in2": ("vector3", "@v")}
MASKS = {
    "y": (node("extract", "m", "float", {"in": ("vector3", "@n")}), True),
    "up": (node("dotproduct", "m", "float", UP), True),
    "angle": (
        node("viewdirection", "v", "vector3", {}) + node("dotproduct", "m", "float", VIEW),
        False,
    ),
    "y of a product": (
        ALONG
        + node("multiply", "p", "vector3", {"in1": ("vector3", "@n"), "in2": ("vector3", "@t")})
        + node("extract", "m", "float", {"in": ("vector3", "@p")}),
        True,
    ),
    "y of the view": (LOOK + node("extract", "m", "float", {"in": ("vector3", "@v")}), True),
    "length": (node("magnitude", "m", "float", {"in": ("vector3", "@n")}), True),
}


@pytest.mark.parametrize("mask", MASKS)
def test_a_mask_of_where_a_surface_faces_is_reported(mask):
    nodes, is_told = MASKS[mask]
    found = fates(with_surface('<input name="base" type="float" nodename="m"/>', SLOPE, nodes))
    assert found.get("direction in space") == ("approximated" if is_told else None)


def test_a_normal_that_is_used_as_one_is_not_reported():
    inputs = '<input name="coat_normal" type="vector3" nodename="n"/>'
    assert "direction in space" not in fates(with_surface(inputs, SLOPE))
    turned = node("normalize", "u", "vector3", {"in": ("vector3", "@n")})
    inputs = inputs.replace('"n"', '"u"') + '<input name="tangent" type="vector3" nodename="t"/>'
    assert "direction in space" not in fates(with_surface(inputs, SLOPE, turned, ALONG))


@pytest.mark.parametrize(
    ("value", "is_told"),
    [
        ("0.6, 0, 0.8", True),
        ("0.6f, 0f, 0.8f", True),
        ("0, 0, 1", False),
        ("0.0f, 0.0f, 1.0f", False),
        ("0.0, 0.0, 0.0", False),
    ],
)
def test_a_value_that_the_surface_overrules_is_reported(value, is_told):
    found = fates(with_surface(f'<input name="coat_normal" type="vector3" value="{value}"/>'))
    assert ("value of 'coat_normal'" in found) == is_told


READERS = {
    "plain": ('<geompropvalue name="{0}" type="float">{1}</geompropvalue>', "geomprop"),
    "with a default": (
        '<geompropvalue name="{0}" type="float">{1}<input name="default" type="float" value="0.5"/>'
        "</geompropvalue>",
        "geomprop",
    ),
    "of USD": ('<UsdPrimvarReader name="{0}" type="float">{1}</UsdPrimvarReader>', "varname"),
}


@pytest.mark.parametrize("kind", READERS)
def test_each_property_that_a_sample_has_not_is_reported_by_its_own_name(kind):
    body, port = READERS[kind]
    names = ("dirt", "Worn Edges.001")
    readers = [
        body.format(at, f'<input name="{port}" type="string" value="{name}"/>')
        for at, name in zip("ab", names, strict=True)
    ]
    inputs = (
        '<input name="base" type="float" nodename="a"/>'
        '<input name="specular" type="float" nodename="b"/>'
    )
    found = fates(with_surface(inputs, *readers))
    for name in names:
        assert found[f"property {name!r} of the geometry"] == "approximated"
    assert "property of the geometry" not in found


def test_a_property_whose_name_a_definition_gives_is_reported_by_it():
    own = (
        '<nodedef name="ND_own" node="own"><input name="which" type="string" value="dirt"/>'
        '<output name="out" type="float"/></nodedef><nodegraph name="NG_own" nodedef="ND_own">'
        '<geompropvalue name="far" type="float"><input name="geomprop" type="string" '
        'interfacename="which"/><input name="default" type="float" value="1"/></geompropvalue>'
        '<output name="out" type="float" nodename="far"/></nodegraph><own name="far" type="float"/>'
    )
    found = fates(with_surface('<input name="base" type="float" nodename="far"/>', own))
    assert found["property 'dirt' of the geometry"] == "approximated"


def test_texture_coordinates_are_reported_by_the_name_that_they_have():
    reader = (
        '<geompropvalue name="uv" type="vector2"><input name="geomprop" type="string" '
        'value="UV Map.001"/></geompropvalue><magnitude name="far" type="float">'
        '<input name="in" type="vector2" nodename="uv"/></magnitude>'
    )
    found = fates(with_surface('<input name="base" type="float" nodename="far"/>', reader))
    assert found["texture coordinates 'UV Map.001'"] == "approximated"


@pytest.mark.parametrize(
    ("graph", "given"),
    [('<input name="uv" type="vector2"/>', 'interfacename="uv"'), ("", 'value="0, 0"')],
    ids=["an input of the graph that has no value", "a value that is passed over"],
)
def test_an_input_that_is_connected_to_nothing_reads_the_surface(graph, given):
    noise = f'<noise2d name="n" type="float"><input name="texcoord" type="vector2" {given}/>'
    nodes = (
        f'<nodegraph name="g">{graph}{noise}</noise2d>'
        '<output name="out" type="float" nodename="n"/></nodegraph>'
    )
    base = '<input name="base" type="float" nodegraph="g" output="out"/>'
    assert report(with_surface(base, nodes)).varying_inputs == ("base",)


@pytest.mark.parametrize(
    ("model", "glow", "layer"),
    [
        ("standard_surface", "emission", "coat"),
        ("open_pbr_surface", "emission_luminance", "coat_weight"),
    ],
)
def test_what_glows_below_a_coat_hangs_on_the_view(model, glow, layer):
    lit = {glow: ("float", "1")}
    # a coat where u is 1
    teacher = Teacher(shader(model, lit | {layer: ("float", "@u")}), device=open_device("software"))
    ahead, flat = [0, 0, 1], [0.995, 0, 0.1]
    seen = teacher.unlit(
        np.float32([[0, 0.5], [0, 0.5], [1, 0.5], [1, 0.5]]), np.float32([ahead, flat] * 2)
    )[:, 0]
    assert seen[0] > 0.9 and seen[2] > 0.9
    assert seen[1] > 0.6 * seen[0] and seen[3] < 0.6 * seen[2]
    for coat in ("0", "1"):
        made = document(
            node(model, "shader", "surfaceshader", lit | {layer: ("float", coat)}), material()
        )
        assert ("emission by view" in fates(made)) == (coat == "1")


@pytest.mark.parametrize(
    ("name", "kind", "reported"),
    [
        ("emission_color", "color3", "emission by view"),
        ("opacity", "color3", "opacity by view"),
        ("base_color", "color3", None),
    ],
)
def test_maps_of_what_hangs_on_the_view_are_reported(name, kind, reported):
    facing = (
        '<facingratio name="facing" type="float"/><convert name="seen" type="color3">'
        '<input name="in" type="float" nodename="facing"/></convert>'
    )
    found = fates(with_surface(f'<input name="{name}" type="{kind}" nodename="seen"/>', facing))
    assert [each for each in found if each.endswith("by view")] == ([reported] if reported else [])
    assert reported is None or found[reported] == "approximated"
