"""Nodes that read the geometry: a flat sample has texture coordinates, and no properties."""

import numpy as np
import pytest

from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import with_surface
from ..images import decoded_srgb
from ..surfaces import glow, node, probe, write_image

AT = np.float32([[0.2, 0.7]])
DROPPED = ("property 'Cd' of the geometry", "dropped")
TEXEL = np.array([0.2, 0.4, 0.8])
SRGB = 'colorspace="srgb_texture"'


def reader(kind, default, name="read", prop="Cd", category="geompropvalue"):
    """A reader of `prop`, whose default has these attributes."""
    port = f'<input name="default" type="{kind}" {default}/>' if default else ""
    return (
        f'<{category} name="{name}" type="{kind}">'
        f'<input name="geomprop" type="string" value="{prop}"/>{port}</{category}>'
    )


def as_colour(kind, source="read"):
    return node("convert", "colour", "color3", {"in": (kind, f"@{source}")})


def seen(body, **options):
    return glow(Teacher(probe(body, "colour", **options)), AT)[0]


def in_a_definition(kind, body, given=""):
    return (
        f'<nodedef name="ND_own" node="own"><input name="it" type="{kind}" value="0.2, 0.3, 0.4"/>'
        '<output name="out" type="color3"/></nodedef><nodegraph name="NG_own" nodedef="ND_own">'
        f'{body}<output name="out" type="color3" nodename="read"/></nodegraph>'
        f'<own name="colour" type="color3">{given}</own>'
    )


def in_a_graph(body, given):
    return (
        f'<nodegraph name="graph">{given}{body}'
        '<output name="out" type="color3" nodename="read"/></nodegraph>'
        '<dot name="colour" type="color3">'
        '<input name="in" type="color3" nodegraph="graph" output="out"/></dot>'
    )


FROM_INTERFACE = reader("color3", 'interfacename="it"')
BY_USD = (
    '<UsdPrimvarReader name="read" type="vector3"><input name="varname" type="string" value="Cd"/>'
    '<input name="fallback" type="vector3" {}/></UsdPrimvarReader>'
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            in_a_graph(FROM_INTERFACE, '<input name="it" type="color3" value="0.2, 0.3, 0.4"/>'),
            (0.2, 0.3, 0.4),
        ),
        (in_a_definition("color3", FROM_INTERFACE), (0.2, 0.3, 0.4)),
        (
            in_a_definition(
                "color3", FROM_INTERFACE, '<input name="it" type="color3" value="0.5, 0.6, 0.7"/>'
            ),
            (0.5, 0.6, 0.7),
        ),
        (BY_USD.format('value="0.2, 0.3, 0.4"') + as_colour("vector3"), (0.2, 0.3, 0.4)),
        (
            '<nodegraph name="graph"><input name="it" type="vector3" value="0.2, 0.3, 0.4"/>'
            + BY_USD.format('interfacename="it"')
            + '<output name="out" type="vector3" nodename="read"/></nodegraph>'
            '<convert name="colour" type="color3">'
            '<input name="in" type="vector3" nodegraph="graph" output="out"/></convert>',
            (0.2, 0.3, 0.4),
        ),
        (reader("color3", 'nodename="uv_colour"', "colour"), (0.2, 0.7, 0.25)),
        (
            reader("color3", f'value="0.5, 0.25, 0.75" {SRGB}', "colour"),
            decoded_srgb(np.array([0.5, 0.25, 0.75])),
        ),
        (
            reader("float", 'value="50" unit="centimeter" unittype="distance"')
            + as_colour("float"),
            (0.5, 0.5, 0.5),
        ),
    ],
    ids=[
        "of a graph",
        "of a definition",
        "of who uses a definition",
        "fallback of USD",
        "fallback of USD in a graph",
        "connected",
        "in a colour space",
        "with a unit",
    ],
)
def test_a_property_is_its_default_wherever_that_comes_from(body, expected):
    np.testing.assert_allclose(seen(body), expected, rtol=1e-5)


def test_the_colour_space_of_the_document_counts_for_defaults():
    made = probe(reader("color3", 'value="0.5, 0.5, 0.5"', "colour"), "colour")
    made.root.setColorSpace("srgb_texture")
    np.testing.assert_allclose(glow(Teacher(made), AT)[0], [0.2140411] * 3, rtol=1e-5)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("integer", "3", (3, 3, 3)),
        ("boolean", "true", (1, 1, 1)),
        ("vector2", "0.1, 0.2", (0.1, 0.2, 0)),
        ("vector4", "0.1, 0.2, 0.3, 0.4", (0.1, 0.2, 0.3)),
        ("color4", "0.1, 0.2, 0.3, 0.4", (0.1, 0.2, 0.3)),
        ("vector3", None, (0, 0, 0)),
    ],
)
def test_a_property_of_any_type_is_its_default(kind, value, expected):
    body = reader(kind, value and f'value="{value}"') + as_colour(kind)
    np.testing.assert_allclose(seen(body), expected, rtol=1e-6)


def test_a_matrix_is_what_usd_falls_back_to():
    scale = "2, 0, 0, 0,  0, 3, 0, 0,  0, 0, 4, 0,  0, 0, 0, 1"
    body = (
        node(
            "UsdPrimvarReader",
            "read",
            "matrix44",
            {"varname": ("string", "m"), "fallback": ("matrix44", scale)},
        )
        + node(
            "transformmatrix",
            "moved",
            "vector3",
            {"in": ("vector3", "1, 1, 1"), "mat": ("matrix44", "@read")},
        )
        + as_colour("vector3", "moved")
    )
    np.testing.assert_allclose(seen(body), [2, 3, 4], rtol=1e-6)


@pytest.mark.parametrize("names", [("wear", "wear"), ("a.b", "a b")])
@pytest.mark.parametrize("kinds", [("float", "float"), ("float", "vector3")])
def test_each_reader_of_a_property_has_its_own_default_and_type(names, kinds):
    values = {"float": 'value="0.5"', "vector3": 'value="0.1, 0.2, 0.3"'}
    second = values[kinds[1]] if kinds[1] == "vector3" else 'value="0.25"'
    body = (
        reader(kinds[0], values["float"], "one", names[0])
        + reader(kinds[1], second, "other", names[1])
        + node("convert", "first", "color3", {"in": (kinds[0], "@one")})
        + node("convert", "second", "color3", {"in": (kinds[1], "@other")})
        + node(
            "add", "colour", "color3", {"in1": ("color3", "@first"), "in2": ("color3", "@second")}
        )
    )
    of_the_other = (0.1, 0.2, 0.3) if kinds[1] == "vector3" else (0.25,) * 3
    np.testing.assert_allclose(seen(body), np.add(0.5, of_the_other), rtol=1e-6)


def test_readers_of_two_types_without_a_default_are_zero():
    body = (
        reader("float", None, "one")
        + reader("vector3", None, "other")
        + node("convert", "second", "color3", {"in": ("vector3", "@other")})
        + node("add", "colour", "color3", {"in1": ("color3", "@second"), "in2": ("float", "@one")})
    )
    np.testing.assert_allclose(seen(body), np.zeros(3), atol=1e-7)


def test_coordinates_are_the_samples_though_others_read_defaults_of_that_name():
    body = (
        reader("vector2", None, "read", "st")
        + reader("float", 'value="0.5"', "other", "st")
        + as_colour("vector2").replace('"colour"', '"places"')
        + node(
            "multiply",
            "colour",
            "color3",
            {"in1": ("color3", "@places"), "in2": ("float", "@other")},
        )
    )
    np.testing.assert_allclose(seen(body), [0.1, 0.35, 0], rtol=1e-6, atol=1e-7)


def test_coordinates_whose_name_a_definition_takes_are_the_samples():
    body = (
        '<nodedef name="ND_own" node="own"><input name="it" type="string" value="UV Map"/>'
        '<output name="out" type="vector2"/></nodedef><nodegraph name="NG_own" nodedef="ND_own">'
        '<geompropvalue name="read" type="vector2">'
        '<input name="geomprop" type="string" interfacename="it"/></geompropvalue>'
        '<output name="out" type="vector2" nodename="read"/></nodegraph>'
        '<own name="places" type="vector2"/>' + as_colour("vector2", "places")
    )
    np.testing.assert_allclose(seen(body), [0.2, 0.7, 0], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("default", "expected"),
    [
        ('value="plain.png"', TEXEL),
        (f'value="plain.png" {SRGB}', decoded_srgb(TEXEL)),
        ('nodename="named"', TEXEL),
        (None, np.zeros(3)),
    ],
    ids=["given", "in a colour space", "connected", "none"],
)
def test_an_image_whose_file_is_a_property_is_the_default(tmp_path, default, expected):
    write_image(tmp_path / "plain.png", np.tile((TEXEL * 255).astype(np.uint8), (2, 2, 1)))
    body = (
        node("constant", "named", "filename", {"value": ("filename", "plain.png")})
        + reader("filename", default, category="geompropvalueuniform")
        + node("image", "colour", "color3", {"file": ("filename", "@read")})
    )
    np.testing.assert_allclose(seen(body, search_paths=[tmp_path]), expected, atol=1e-6)


def test_a_choice_that_is_a_property_is_the_default(tmp_path):
    halves = np.zeros((2, 2, 3), np.uint8)
    halves[:, 0] = 255
    write_image(tmp_path / "halves.png", halves)
    body = (
        reader("string", 'value="clamp"', category="geompropvalueuniform")
        + node("multiply", "far", "vector2", {"in1": ("vector2", "@uv"), "in2": ("float", "6")})
        + node(
            "image",
            "colour",
            "color3",
            {
                "file": ("filename", "halves.png"),
                "texcoord": ("vector2", "@far"),
                "uaddressmode": ("string", "@read"),
            },
        )
    )
    # at 1.2, where a picture that goes on is white
    np.testing.assert_allclose(seen(body, search_paths=[tmp_path]), [0, 0, 0], atol=1e-6)
    on = body.replace('value="clamp"', 'value="periodic"')
    assert seen(on, search_paths=[tmp_path]).min() > 0.9


def test_the_report_reports_that_a_sample_has_no_such_property():
    for body in (reader("color3", 'value="1, 1, 1"', "colour"), BY_USD + as_colour("vector3")):
        made = probe(body.format('value="1, 1, 1"'), "colour")
        [report] = describe(made, probe=False)
        assert DROPPED in {(part.name, part.fate) for part in report.parts}


def test_coordinates_read_and_turned_by_nodes_of_usd_are_those_of_the_sample():
    nodes = (
        '<UsdPrimvarReader name="reader" type="vector2">'
        '<input name="varname" type="string" value="st"/></UsdPrimvarReader>'
        '<UsdTransform2d name="turned" type="vector2">'
        '<input name="in" type="vector2" nodename="reader"/>'
        '<input name="rotation" type="float" value="90"/>'
        '<input name="scale" type="vector2" value="2, 1"/>'
        '<input name="translation" type="vector2" value="1, 0"/></UsdTransform2d>'
        '<separate2 name="apart" type="multioutput">'
        '<input name="in" type="vector2" nodename="turned"/></separate2>'
    )
    inputs = (
        '<input name="base" type="float" value="0"/><input name="specular" type="float" value="0"/>'
        '<input name="emission" type="float" nodename="apart" output="{}"/>'
    )
    uv = np.float32([[0.375, 0.625], [0.2, 0.9]])
    ahead = np.float32([[0, 0, 1]] * 2)
    for output, expected in (("outx", 1 - uv[:, 1]), ("outy", 2 * uv[:, 0])):
        teacher = Teacher(parse_document(with_surface(inputs.format(output), nodes)))
        np.testing.assert_allclose(teacher.unlit(uv, ahead)[:, 0], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("float", '"0.25"', (0.25, 0.25, 0.25)),
        ("color3", '"0.1, 0.2, 0.3"', (0.1, 0.2, 0.3)),
        ("float", None, (0, 0, 0)),
    ],
)
def test_a_property_of_the_geometry_is_its_default_on_a_sample(kind, given, expected):
    default = f'<input name="default" type="{kind}" value={given}/>' if given else ""
    nodes = (
        f'<geompropvalue name="wear" type="{kind}">'
        f'<input name="geomprop" type="string" value="wear"/>{default}</geompropvalue>'
        '<convert name="shown" type="color3">'
        f'<input name="in" type="{kind}" nodename="wear"/></convert>'
        if kind != "color3"
        else f'<geompropvalue name="shown" type="{kind}">'
        f'<input name="geomprop" type="string" value="wear"/>{default}</geompropvalue>'
    )
    found = glow(Teacher(probe(nodes, "shown")), AT)
    np.testing.assert_allclose(found[0], expected, rtol=1e-5)


@pytest.mark.parametrize("kind", ["float", "color3", "color4"])
def test_what_multiplies_by_paint_that_a_sample_has_not_is_itself(kind):
    body = (
        f'<geomcolor name="paint" type="{kind}"/>'
        + node("convert", "plain", "color3", {"in": (kind, "@paint")}) * (kind != "color3")
        + node(
            "multiply",
            "tinted",
            "color3",
            {
                "in1": ("color3", "0.7, 0.4, 0.1"),
                "in2": ("color3", "@paint" if kind == "color3" else "@plain"),
            },
        )
    )
    found = glow(Teacher(probe(body, "tinted")), AT)
    np.testing.assert_allclose(found[0], [0.7, 0.4, 0.1], rtol=1e-5)


@pytest.mark.parametrize("name", ["UV Map", "UVMap.001", "primvars:st", "DiffuseUV", "st"])
@pytest.mark.parametrize("category", ["geompropvalue", "UsdPrimvarReader"])
def test_coordinates_by_any_name_are_those_of_the_sample(category, name):
    port = "geomprop" if category == "geompropvalue" else "varname"
    body = (
        node(category, "places", "vector2", {port: ("string", name)})
        + node("separate2", "apart", "multioutput", {"in": ("vector2", "@places")})
        + '<combine3 name="colour" type="color3">'
        '<input name="in1" type="float" nodename="apart" output="outx"/>'
        '<input name="in2" type="float" nodename="apart" output="outy"/></combine3>'
    )
    loaded = probe(body, "colour")
    found = glow(Teacher(loaded), AT)
    np.testing.assert_allclose(found[0], [0.2, 0.7, 0], rtol=1e-5, atol=1e-6)
    reported = [p.fate for p in describe(loaded, probe=False)[0].parts if "coordinates" in p.name]
    assert reported == ([] if name.endswith("st") else ["approximated"])
