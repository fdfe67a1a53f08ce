"""Nodes that read the geometry: a flat sample has texture coordinates, and no properties."""

import numpy as np
import pytest

from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..apart import colours, place
from ..images import decoded_srgb
from ..surfaces import glow, node, probe, write_image

AT = np.float32([[0.2, 0.7]])
DEFAULT = ("property 'Cd' of the geometry", "approximated")
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


def add(first, second):
    both = {"in1": ("color3", f"@{first}"), "in2": ("color3", f"@{second}")}
    return node("add", "colour", "color3", both)


# What has no texture coordinates to read is a colour; else a function of them.
SOURCES = {
    "of a graph": (
        in_a_graph(FROM_INTERFACE, '<input name="it" type="color3" value="0.2, 0.3, 0.4"/>'),
        (0.2, 0.3, 0.4),
    ),
    "of a definition": (in_a_definition("color3", FROM_INTERFACE), (0.2, 0.3, 0.4)),
    "of who uses a definition": (
        in_a_definition(
            "color3", FROM_INTERFACE, '<input name="it" type="color3" value="0.5, 0.6, 0.7"/>'
        ),
        (0.5, 0.6, 0.7),
    ),
    "fallback of USD": (
        BY_USD.format('value="0.2, 0.3, 0.4"') + as_colour("vector3"),
        (0.2, 0.3, 0.4),
    ),
    "fallback of USD in a graph": (
        '<nodegraph name="graph"><input name="it" type="vector3" value="0.2, 0.3, 0.4"/>'
        + BY_USD.format('interfacename="it"')
        + '<output name="out" type="vector3" nodename="read"/></nodegraph>'
        '<convert name="colour" type="color3">'
        '<input name="in" type="vector3" nodegraph="graph" output="out"/></convert>',
        (0.2, 0.3, 0.4),
    ),
    "connected": (reader("color3", 'nodename="uv_colour"', "colour"), lambda u, v: (u, v, 0.25)),
    "in a colour space": (
        reader("color3", f'value="0.5, 0.25, 0.75" {SRGB}', "colour"),
        decoded_srgb(np.array([0.5, 0.25, 0.75])),
    ),
    "with a unit": (
        reader("float", 'value="50" unit="centimeter" unittype="distance"') + as_colour("float"),
        (0.5, 0.5, 0.5),
    ),
}
TYPES = {
    ("integer", "3"): (3, 3, 3),
    ("boolean", "true"): (1, 1, 1),
    ("float", "0.25"): (0.25, 0.25, 0.25),
    ("vector2", "0.1, 0.2"): (0.1, 0.2, 0),
    ("vector4", "0.1, 0.2, 0.3, 0.4"): (0.1, 0.2, 0.3),
    ("color4", "0.1, 0.2, 0.3, 0.4"): (0.1, 0.2, 0.3),
    ("float", None): (0, 0, 0),
    ("vector3", None): (0, 0, 0),
}
SCALE = "2, 0, 0, 0,  0, 3, 0, 0,  0, 0, 4, 0,  0, 0, 0, 1"
MATRIX = (
    node(
        "UsdPrimvarReader",
        "read",
        "matrix44",
        {"varname": ("string", "m"), "fallback": ("matrix44", SCALE)},
    )
    + node(
        "transformmatrix",
        "moved",
        "vector3",
        {"in": ("vector3", "1, 1, 1"), "mat": ("matrix44", "@read")},
    )
    + as_colour("vector3", "moved")
)


def two_readers(first, second, names):
    """The sum of what two readers give, as colours, each of (type, default)."""
    made = ""
    for (kind, value), prop, name in zip((first, second), names, ("one", "other"), strict=True):
        made += reader(kind, value and f'value="{value}"', name, prop)
        made += node("convert", f"{name}_colour", "color3", {"in": (kind, f"@{name}")})
    return made + add("one_colour", "other_colour")


HALF, QUARTER, VECTOR = ("float", "0.5"), ("float", "0.25"), ("vector3", "0.1, 0.2, 0.3")
READERS = {
    "of one name": (two_readers(HALF, QUARTER, ("wear", "wear")), (0.75,) * 3),
    "of one name and two types": (two_readers(HALF, VECTOR, ("wear", "wear")), (0.6, 0.7, 0.8)),
    "of alike names": (two_readers(HALF, QUARTER, ("a.b", "a b")), (0.75,) * 3),
    "of alike names and two types": (two_readers(HALF, VECTOR, ("a.b", "a b")), (0.6, 0.7, 0.8)),
    "of two types without a default": (
        two_readers(("float", None), ("vector3", None), ("Cd", "Cd")),
        (0, 0, 0),
    ),
}
TURNED = (
    node("UsdPrimvarReader", "read", "vector2", {"varname": ("string", "st")})
    + node(
        "UsdTransform2d",
        "turned",
        "vector2",
        {
            "in": ("vector2", "@read"),
            "rotation": ("float", "90"),
            "scale": ("vector2", "2, 1"),
            "translation": ("vector2", "1, 0"),
        },
    )
    + as_colour("vector2", "turned")
)
COORDINATES = {
    "though others read defaults of that name": (
        reader("vector2", None, "read", "st")
        + reader("float", 'value="0.5"', "other", "st")
        + as_colour("vector2").replace('"colour"', '"places"')
        + node(
            "multiply",
            "colour",
            "color3",
            {"in1": ("color3", "@places"), "in2": ("float", "@other")},
        ),
        lambda u, v: (u / 2, v / 2, 0),
    ),
    "by a name that a definition takes": (
        '<nodedef name="ND_own" node="own"><input name="it" type="string" value="UV Map"/>'
        '<output name="out" type="vector2"/></nodedef><nodegraph name="NG_own" nodedef="ND_own">'
        '<geompropvalue name="read" type="vector2">'
        '<input name="geomprop" type="string" interfacename="it"/></geompropvalue>'
        '<output name="out" type="vector2" nodename="read"/></nodegraph>'
        '<own name="places" type="vector2"/>' + as_colour("vector2", "places"),
        lambda u, v: (u, v, 0),
    ),
    "turned by nodes of USD": (TURNED, lambda u, v: (1 - v, 2 * u, 0)),
}
NAMES = ("UV Map", "UVMap.001", "primvars:st", "DiffuseUV", "st")
PORTS = {"geompropvalue": "geomprop", "UsdPrimvarReader": "varname"}


def by_name(category, name):
    places = node(category, "places", "vector2", {PORTS[category]: ("string", name)})
    return places + as_colour("vector2", "places")


NAMED = {
    f"{category} of {name}": (by_name(category, name), lambda u, v: (u, v, 0))
    for category in PORTS
    for name in NAMES
}
FILES = {
    "given": ('value="plain.png"', TEXEL),
    "given in a colour space": (f'value="plain.png" {SRGB}', decoded_srgb(TEXEL)),
    "given by a node": ('nodename="named"', TEXEL),
    "none": (None, np.zeros(3)),
}


def image_of(default):
    return (
        node("constant", "named", "filename", {"value": ("filename", "plain.png")})
        + reader("filename", default, category="geompropvalueuniform")
        + node("image", "colour", "color3", {"file": ("filename", "@read")})
    )


def tinted(kind):
    paint = "@paint" if kind == "color3" else "@plain"
    return (
        f'<geomcolor name="paint" type="{kind}"/>'
        + node("convert", "plain", "color3", {"in": (kind, "@paint")}) * (kind != "color3")
        + node(
            "multiply",
            "colour",
            "color3",
            {"in1": ("color3", "0.7, 0.4, 0.1"), "in2": ("color3", paint)},
        )
    )


PAINT = ("float", "color3", "color4")
CASES = {
    **{f"image: {name}": (image_of(given), found) for name, (given, found) in FILES.items()},
    **{f"tint: {kind}": (tinted(kind), (0.7, 0.4, 0.1)) for kind in PAINT},
    **{
        f"type: {kind} {value}": (
            reader(kind, value and f'value="{value}"') + as_colour(kind),
            expected,
        )
        for (kind, value), expected in TYPES.items()
    },
    **SOURCES,
    "matrix": (MATRIX, (2, 3, 4)),
    **READERS,
    **COORDINATES,
    **NAMED,
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What each case shows, of one document."""
    folder = tmp_path_factory.mktemp("images")
    write_image(folder / "plain.png", np.tile((TEXEL * 255).astype(np.uint8), (2, 2, 1)))
    found = colours((body for body, _ in CASES.values()), search_paths=[folder])
    return dict(zip(CASES, found, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_a_property_is_its_default_and_coordinates_are_the_samples(shown, name):
    """Wherever a default comes from, and however others that read the same name differ."""
    expected = CASES[name][1]
    if callable(expected):
        expected = expected(*place(list(CASES).index(name)))
    np.testing.assert_allclose(shown[name], expected, rtol=1e-5, atol=1e-6)


def test_the_colour_space_of_the_document_counts_for_defaults():
    made = probe(reader("color3", 'value="0.5, 0.5, 0.5"', "colour"), "colour")
    made.root.setColorSpace("srgb_texture")
    np.testing.assert_allclose(glow(Teacher(made), AT)[0], [0.2140411] * 3, rtol=1e-5)


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
        assert DEFAULT in {(part.name, part.fate) for part in report.parts}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("category", PORTS)
def test_coordinates_by_another_name_are_reported(category, name):
    parts = describe(probe(by_name(category, name), "colour"), probe=False)[0].parts
    reported = [part.fate for part in parts if "coordinates" in part.name]
    assert reported == ([] if name.endswith("st") else ["approximated"])
