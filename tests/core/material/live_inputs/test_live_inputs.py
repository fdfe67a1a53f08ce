"""Live inputs: requests, what documents offer, and teachers that take their values."""

import numpy as np
import pytest

from verdigris.core.baking.finish.notices import kept_heights
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DocumentError, SettingsError
from verdigris.core.material.codegen.generate_teacher import generate
from verdigris.core.material.domain import QUADS, MeshPoints
from verdigris.core.material.live_inputs.find_inputs import find_live_inputs, published_inputs
from verdigris.core.material.live_inputs.live_input import (
    WantedInput,
    live_values,
    parse_all_wanted,
    parse_wanted,
)
from verdigris.core.material.live_inputs.open_inputs import reach_of_published
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import document, material, with_surface

SURFACE = (
    '<standard_surface name="s" type="surfaceshader">'
    '<input name="base_color" type="color3" nodegraph="g" output="color"/>'
    '<input name="specular_roughness" type="float" nodegraph="g" output="rough"/>'
    '<input name="specular" type="float" value="0.4"/></standard_surface>'
)

# compiles in a moment
PLAIN = (
    '<oren_nayar_diffuse_bsdf name="d" type="BSDF">'
    '<input name="color" type="color3" nodegraph="g" output="color"/>'
    '<input name="roughness" type="float" nodegraph="g" output="rough"/>'
    "</oren_nayar_diffuse_bsdf>"
    '<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>'
)


def graph(wetness="0.25", tint="0.5, 0.2, 0.1", shift="0"):
    """`wetness` darkens and smooths, `tint` colours, `shift` moves a noise."""
    return (
        '<nodegraph name="g">'
        f'<input name="wetness" type="float" value="{wetness}"/>'
        f'<input name="tint" type="color3" value="{tint}"/>'
        f'<input name="shift" type="float" value="{shift}"/>'
        '<input name="picture" type="filename" value=""/>'
        '<input name="steps" type="integer" value="2"/>'
        '<texcoord name="uv" type="vector2"/>'
        '<add name="moved" type="vector2"><input name="in1" type="vector2" nodename="uv"/>'
        '<input name="in2" type="float" interfacename="shift"/></add>'
        '<noise2d name="noise" type="float"><input name="texcoord" type="vector2" '
        'nodename="moved"/></noise2d>'
        '<mix name="dark" type="float"><input name="bg" type="float" value="1"/>'
        '<input name="fg" type="float" value="0.3"/>'
        '<input name="mix" type="float" interfacename="wetness"/></mix>'
        '<multiply name="color_of" type="color3">'
        '<input name="in1" type="color3" interfacename="tint"/>'
        '<input name="in2" type="float" nodename="dark"/></multiply>'
        '<add name="color_in" type="color3"><input name="in1" type="color3" nodename="color_of"/>'
        '<input name="in2" type="float" nodename="noise"/></add>'
        '<output name="color" type="color3" nodename="color_in"/>'
        '<output name="rough" type="float" nodename="dark"/></nodegraph>'
    )


def parsed(*parts):
    return parse_document(document(*parts), "a.mtlx")


def stone(surface=SURFACE, **values):
    return parsed(graph(**values), surface, material("s"))


def directions(count):
    random = np.random.default_rng(3)
    found = []
    for _ in range(2):
        vectors = random.standard_normal((count, 3))
        vectors[:, 2] = 0.1 + np.abs(vectors[:, 2])
        found.append((vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("f4"))
    return random.random((count, 2)).astype("f4"), *found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("wetness", "use NAME=LOW..HIGH"),
        ("wetness=0-1", "use NAME=LOW..HIGH"),
        ("wetness=0..x", "use NAME=LOW..HIGH"),
        ("wetness=1..1", "the range 1..1 is empty"),
        ("wetness=1..0", "the range 1..0 is reversed"),
        ("wetness=0..inf", "neither a number"),
        ("wetness=0..1@2", "the default 2 is outside of 0..1"),
        ("wetness=0..1:0", "density is 0: use a whole number from 1 to"),
        ("tint=0..1,1,1", "a number and a colour do not make a range"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(text, told):
    with pytest.raises(SettingsError, match=told.replace("..", r"\.\.")):
        parse_wanted(text)


def test_a_request_is_read_with_default_and_density():
    wanted = parse_wanted("age=-.5..10@2:4")
    assert (wanted.name, wanted.low, wanted.high) == ("age", (-0.5,), (10.0,))
    assert (wanted.default, wanted.density, str(wanted)) == (2, 4, "age=-0.5..10@2:4")
    with pytest.raises(SettingsError, match="age is given twice"):
        parse_all_wanted(["age=0..1", "age=0..2"])
    with pytest.raises(SettingsError, match=r"4 live inputs.*at most 3"):
        parse_all_wanted([f"{name}=0..1" for name in "abcd"])


def test_a_document_lists_what_it_offers_and_what_that_reaches():
    source = stone()
    chosen = source.require_material()
    offered = published_inputs(source, chosen)
    assert [*offered] == ["wetness", "tint", "shift", "specular"]
    reach = {each.name: each for each in reach_of_published(source, chosen)}
    assert reach["wetness"].inputs == ("base_color", "specular_roughness")
    assert not reach["wetness"].only_by_uv
    assert reach["shift"].inputs == ("base_color",)
    assert reach["shift"].only_by_uv


def test_inputs_that_move_heights_are_named():
    taller = (
        '<input name="tall" type="float" value="1"/><multiply name="high" type="float">'
        '<input name="in1" type="float" nodename="dark"/><input name="in2" type="float" '
        'interfacename="tall"/></multiply><output name="high_out" type="float" nodename="high"/>'
    )
    heights = (
        '<displacement name="moved" type="displacementshader"><input name="displacement" '
        'type="float" nodegraph="g" output="high_out"/></displacement>'
    )
    ending = (
        '<input name="displacementshader" type="displacementshader" nodename="moved"/></surfacem'
    )
    made = graph().replace("</nodegraph>", f"{taller}</nodegraph>")
    source = parsed(made, PLAIN, heights, material("s").replace("</surfacem", ending))
    chosen = source.require_material()
    reach = {each.name: each for each in reach_of_published(source, chosen)}
    assert {name for name, each in reach.items() if each.keeps_heights} == {"wetness", "tall"}
    assert str(reach["wetness"]).endswith("(the displacement keeps the document's value)")
    teacher = Teacher(source, live=[parse_wanted(text) for text in ("wetness=0..1", "shift=0..1")])
    (told,) = kept_heights(teacher, "stone")
    assert told.text == "stone: live input wetness: the displacement keeps the document's value"
    with pytest.raises(
        DocumentError, match=r"does not reach .* displacement keeps .*: leave it out"
    ):
        Teacher(source, live=[parse_wanted("tall=0..1")])


def test_an_offer_has_its_value_and_a_range_to_begin_with():
    made = (
        '<nodegraph name="g">'
        '<input name="wet" type="float" value="0.25" uiname="Wetness" uimin="0" uimax="2"/>'
        '<input name="big" type="float" value="40"/><input name="low" type="float" value="-3"/>'
        '<input name="out" type="float" value="5" uimin="0" uisoftmax="2"/>'
        '<input name="ior" type="float" value="1.5" uimin="1" uimax="99999"/>'
        '<input name="tint" type="color3" value="0.1, 0.2, 0.3"/>'
        '<input name="snow" type="color3" value="1, 1, 1"/>'
        + "".join(
            f'<add name="{at}" type="float"><input name="in1" type="float" interfacename="{at}_"/>'
            "</add>"
            for at in "ab"
        )
        .replace("a_", "wet")
        .replace("b_", "big")
        + '<output name="o" type="float" nodename="a"/></nodegraph>'
    )
    surface = (
        SURFACE.replace("color3", "float")
        .replace("base_color", "base")
        .replace('output="color"', 'output="o"')
        .replace('output="rough"', 'output="o"')
    )
    found = parsed(made, surface, material("s"))
    offered = published_inputs(found, found.require_material())
    ranges = {name: (each.value, each.low, each.high) for name, each in offered.items()}
    assert ranges["wet"] == ((0.25,), (0,), (2,))
    assert ranges["big"] == ((40,), (0,), (80,)) and ranges["low"] == ((-3,), (-6,), (0,))
    # a value outside of its slider
    assert ranges["out"] == ((5,), (0,), (5,))
    # a limit of what is possible at all is none of a slider
    assert ranges["ior"] == ((1.5,), (1,), (3,))
    assert ranges["tint"] == ((0.1, 0.2, 0.3), (0.1, 0.2, 0.3), (1, 1, 1))
    assert ranges["snow"][2] == (0, 0, 0)
    # the slider of the definition
    assert ranges["specular"] == ((0.4,), (0,), (1,))
    labels = {name: (each.label, each.is_of_surface) for name, each in offered.items()}
    assert labels["wet"] == ("Wetness", False) and labels["specular"] == ("Specular", True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rain=0..1", "it has wetness, tint, shift, specular, or name any other by its path"),
        ("picture=0..1", "names an image"),
        ("steps=0..1", "has the type integer and changes the graph itself"),
        ("s/thin_walled=0..1", "has the type boolean and changes the graph itself"),
        ("base_color=0,0,0..1,1,1", "is connected to a node"),
        ("wetness=0,0,0..1,1,1", "has the type float: use a range such as 0..1"),
        ("tint=0..1", "has the type color3: use a range such as"),
        ("s/normal=0..1", "has the type vector3: only numbers and colours"),
        ("time=0..1", "no node of material 'material' reads the time: use one of wetness, tint"),
    ],
)
def test_an_input_that_cannot_stay_open_is_refused_by_name(text, told):
    source = stone()
    with pytest.raises(DocumentError, match=told) as failure:
        find_live_inputs(source, source.require_material(), [parse_wanted(text)])
    assert text.partition("=")[0] in str(failure.value)


def test_a_name_is_that_of_the_surface_that_sets_it():
    """Two surfaces have a metalness, and one of them sets it."""
    surfaces = (
        '<standard_surface name="a" type="surfaceshader">'
        '<input name="metalness" type="float" value="0.5"/></standard_surface>'
        '<standard_surface name="b" type="surfaceshader"/>'
        '<mix name="s" type="surfaceshader"><input name="fg" type="surfaceshader" nodename="a"/>'
        '<input name="bg" type="surfaceshader" nodename="b"/></mix>'
    )
    found = parse_document(document(surfaces + material("s")), "two.mtlx")
    (chosen,) = found.materials
    offered = published_inputs(found, chosen)
    assert {name: each.kind for name, each in offered.items()} == {"metalness": "float"}
    (live,) = find_live_inputs(found, chosen, [parse_wanted("metalness=0..1")])
    assert live.paths == ("a/metalness",)
    assert [str(each) for each in reach_of_published(found, chosen)] == [
        "metalness=0..1: metalness"
    ]


def test_defaults_are_the_documents_values_within_the_range():
    wanted = parse_all_wanted(["wetness=0..0.5", "tint=0,0,0..1,0.4,0.2", "specular=.5..1"])
    source = stone()
    inputs = find_live_inputs(source, source.require_material(), wanted)
    assert [each.default for each in inputs] == pytest.approx([0.5, 0.5, 0])
    assert live_values(inputs, {"wetness": 0.125}, "it") == pytest.approx((0.25, 0.5, 0))
    with pytest.raises(SettingsError, match="it has no live input 'rain': it has specular, tint"):
        live_values(inputs, {"rain": 1}, "it")
    with pytest.raises(SettingsError, match=r"wetness is 2: use a number from 0 to 0\.5"):
        live_values(inputs, {"wetness": 2}, "it")


def test_a_teacher_takes_a_value_for_each_sample():
    """Against documents that have the values."""
    uv, wi, wo = directions(20)
    wanted, device = (
        parse_all_wanted(["wetness=0..2", "tint=1,0,0..0,0,1"]),
        open_device("software"),
    )
    teacher = Teacher(stone(PLAIN), device=device, live=wanted)
    steps = np.array([[0.1, 0.5], [0.4, 0.25]], np.float32)
    live = np.repeat(steps, 10, axis=0)
    found = teacher.response(uv, wi, wo, live=live)
    for number, (wetness, tint) in enumerate(steps):
        still = stone(PLAIN, wetness=2 * wetness, tint=f"{1 - tint}, 0, {tint}")
        part = slice(10 * number, 10 * number + 10)
        exact = Teacher(still, device=device).response(uv[part], wi[part], wo[part])
        np.testing.assert_allclose(found[part], exact, rtol=2e-5, atol=1e-6)
        # and as the material's own values
        teacher.live = (float(wetness), float(tint))
        own = teacher.response(uv[part], wi[part], wo[part])
        np.testing.assert_array_equal(own, found[part])


def test_time_is_a_live_input():
    moving = parsed(
        '<time name="now" type="float"/><oren_nayar_diffuse_bsdf name="d" type="BSDF">'
        '<input name="weight" type="float" nodename="now"/></oren_nayar_diffuse_bsdf>'
        '<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/>'
        "</surface>",
        material("s"),
    )
    assert [*published_inputs(moving, moving.require_material())] == ["time"]
    wanted, device = parse_all_wanted(["time=0..0.5"]), open_device("software")
    teacher = Teacher(moving, device=device, live=wanted)
    uv, wi, wo = directions(3)
    live = np.array([[0], [0.5], [1]], np.float32)
    # a Lambertian of .18 times the time
    exact = 0.18 * 0.5 * live * wi[:, 2:] / np.pi
    np.testing.assert_allclose(teacher.response(uv, wi, wo, live=live), exact.repeat(3, 1), 1e-4)
    assert not teacher.response(uv, wi, wo).any()


def test_an_input_of_a_graph_with_a_colour_space_or_a_unit_reaches_what_reads_it():
    def colours(name, value, space):
        return (
            f'<nodegraph name="{name}">'
            f'<input name="tint" type="color3" value="{value}" colorspace="{space}"/>'
            '<input name="turn" type="float" value="90" unit="degree" unittype="angle"/>'
            '<dot name="d" type="color3"><input name="in" type="color3" interfacename="tint"/>'
            '</dot><dot name="t" type="float"><input name="in" type="float" interfacename="turn"/>'
            '</dot><output name="color" type="color3" nodename="d"/>'
            '<output name="rough" type="float" nodename="t"/></nodegraph>'
        )

    coat = '<input name="coat_color" type="color3" nodegraph="h" output="color"/>'
    surface = SURFACE.replace("</standard", coat + "</standard")
    graphs = colours("g", "0.5, 0.5, 0.5", "srgb_texture"), colours("h", "1, 0, 0", "acescg")
    source = parsed(*graphs, surface, material("s"))
    chosen = source.require_material()
    reach = {each.name: each for each in reach_of_published(source, chosen)}
    assert reach["g/tint"].inputs == ("base_color",)
    assert reach["h/tint"].inputs == ("coat_color",)
    assert reach["g/turn"].inputs == ("specular_roughness",)
    offered = published_inputs(source, chosen)
    np.testing.assert_allclose(offered["g/tint"].value, 0.21404, atol=1e-5)
    # the first column of the published matrix from AP1 to Rec.709
    np.testing.assert_allclose(offered["h/tint"].value, [1.70505, -0.13026, -0.024], atol=1e-5)


def test_live_inputs_and_properties_of_a_mesh_are_read_together():
    source = parse_document(
        with_surface(
            '<input name="base" type="float" value="0.5"/>'
            '<input name="specular_roughness" type="float" nodename="wet"/>',
            '<geompropvalue name="wet" type="float">'
            '<input name="geomprop" type="string" value="wet"/></geompropvalue>',
        )
    )
    chosen = source.require_material()
    live = find_live_inputs(source, chosen, [WantedInput("base", (0.0,), (1.0,))])
    texels = np.zeros((4, 4, 4 * (QUADS + 1)), np.float32)
    points = MeshPoints(texels, np.ones((4, 4), bool), 1, None, ("wet",))
    found = generate(source, chosen, points, live).source
    assert "liveOf(point" in found and "gMeshProperties[0].x" in found
