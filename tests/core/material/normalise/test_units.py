"""Values with units: thickness of films, and angles."""

import functools
import re

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.codegen.generate_teacher import generate
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

from ..apart import responses, responses_over_uv
from ..documents import document, material
from ..surfaces import UV, node

IN = np.float32([[0.6, 0, 0.8], [0.3, 0.2, 0.93]])
OUT = np.float32([[-0.6, 0, 0.8], [-0.2, -0.3, 0.93]])
SURFACE = (
    '<surface name="shader" type="surfaceshader">'
    '<input name="bsdf" type="BSDF" nodename="lobe"/></surface>'
)
LOBE = (
    '<conductor_bsdf name="lobe" type="BSDF">'
    '<input name="roughness" type="vector2" value="0.4, 0.4"/>'
    '<input name="thinfilm_ior" type="float" value="1.5"/>{film}</conductor_bsdf>' + SURFACE
)
SHADERS = {
    "thinfilm_thickness": (LOBE, 400.0),
    "thin_film_thickness of standard_surface": (
        '<standard_surface name="shader" type="surfaceshader">'
        '<input name="metalness" type="float" value="1"/>'
        '<input name="thin_film_IOR" type="float" value="1.5"/>{film}</standard_surface>',
        400.0,
    ),
    "thin_film_thickness of open_pbr_surface": (
        '<open_pbr_surface name="shader" type="surfaceshader">'
        '<input name="thin_film_weight" type="float" value="1"/>{film}</open_pbr_surface>',
        0.4,
    ),
    "iridescence_thickness": (
        '<gltf_pbr name="shader" type="surfaceshader">'
        '<input name="iridescence" type="float" value="1"/>{film}</gltf_pbr>',
        400.0,
    ),
}


def test_an_angle_needs_no_word_of_what_it_is():
    turned = (
        '<texcoord name="uv" type="vector2"/><place2d name="turned" type="vector2">'
        '<input name="texcoord" type="vector2" nodename="uv"/>'
        '<input name="rotate" type="float" value="{}"/></place2d>'
        '<separate2 name="apart" type="multioutput">'
        '<input name="in" type="vector2" nodename="turned"/></separate2>'
        '<oren_nayar_diffuse_bsdf name="lobe" type="BSDF">'
        '<input name="weight" type="float" nodename="apart" output="outx"/>'
        "</oren_nayar_diffuse_bsdf>"
    )
    uv = np.float32([[0.8, 0.3]] * 2)
    unturned, by_30 = responses_over_uv([turned.format(each) for each in ("0", "30")], uv, IN, OUT)
    assert np.abs(unturned / by_30 - 1).min() > 0.01
    expected = slang(turned.format("30"), SURFACE)
    for rotation in ('30" unit="degree', '0.5235988" unit="radian'):
        assert slang(turned.format(rotation), SURFACE) == expected


@pytest.mark.parametrize("name", SHADERS)
def test_a_film_of_400_nanometres_is_that_in_any_unit(name):
    shader, in_its_own_unit = SHADERS[name]

    def with_film(value, attributes=""):
        film = f'<input name="{name.split()[0]}" type="float" value="{value}"{attributes}/>'
        return shader.format(film=film)

    for value, unit in (("400", "nanometer"), ("0.4", "micron"), ("0.0004", "millimeter")):
        given = with_film(value, f' unittype="distance" unit="{unit}"')
        assert slang(given) == slang(with_film(in_its_own_unit))
    assert slang(with_film("0.4", ' unit="micron"')) == slang(with_film(in_its_own_unit))


NANOMETRES, MICRONS = (f'unittype="distance" unit="{unit}"' for unit in ("nanometer", "micron"))
METAL = (
    '<conductor_bsdf name="lobe" type="BSDF"><input name="roughness" type="vector2" '
    'value="0.4, 0.4"/><input name="thinfilm_ior" type="float" value="1.5"/>'
    '<input name="thinfilm_thickness" type="float" {}/></conductor_bsdf>'
)
MODEL = (
    '<standard_surface name="shader" type="surfaceshader">'
    '<input name="metalness" type="float" value="1"/>'
    '<input name="thin_film_thickness" type="float" {}/></standard_surface>'
)
IN_A_GRAPH = '<nodegraph name="graph">{}<output name="out" type="float" nodename="it"/></nodegraph>'
DOT = '<dot name="it" type="float"><input name="in" type="float" {}/></dot>'
OWN = (
    '<nodedef name="ND_own" node="own">'
    f'<input name="thick" type="float" value="0.4" {MICRONS}/>'
    '<output name="out" type="BSDF"/></nodedef><nodegraph name="NG_own" nodedef="ND_own">'
    + METAL.replace('"lobe"', '"inner"')
    + '<output name="out" type="BSDF" nodename="inner"/></nodegraph>'
)


def constant(value, attributes="", name="thick", kind="float"):
    port = f'<input name="value" type="{kind}" value="{value}" {attributes}/>'
    return f'<constant name="{name}" type="{kind}">{port}</constant>'


def by_two(category, first, second, kind="float"):
    """A node `it` of two inputs, each with these attributes."""
    ports = zip(("in1", "in2"), (first, second), strict=True)
    inputs = "".join(f'<input name="{name}" type="{kind}" {written}/>' for name, written in ports)
    return f'<{category} name="it" type="{kind}">{inputs}</{category}>'


def on_the_right(value):
    """Nodes whose `thick` is zero on the left half of the surface."""
    inputs = {"value1": ("float", "@u"), "value2": ("float", "0.5"), "in1": ("float", str(value))}
    return UV + node("ifgreater", "thick", "float", inputs)


@functools.cache
def teacher_of(*parts):
    return Teacher(parse_document(document(*parts, material())))


def response(*parts, u=0.75):
    return teacher_of(*parts).response(np.full((2, 2), u, np.float32), IN, OUT)


def slang(*parts):
    """The generated code, with numbers of five digits. Equal code returns equal responses."""
    loaded = parse_document(document(*parts, material()))
    source = generate(loaded, loaded.require_material()).source
    return re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.5g}", source)


@pytest.mark.parametrize("name", SHADERS)
def test_a_film_is_as_thick_as_a_constant_in_front_of_it(name):
    shader, in_its_own_unit = SHADERS[name]
    port = f'<input name="{name.split()[0]}" type="float" {{}}/>'
    expected = response(shader.format(film=port.format(f'value="{in_its_own_unit}"')))
    connected = shader.format(film=port.format('nodename="thick"'))
    np.testing.assert_allclose(
        response(on_the_right(in_its_own_unit), connected), expected, rtol=1e-5
    )
    without = response(on_the_right(in_its_own_unit), connected, u=0.25)
    assert np.abs(expected / without - 1).max() > 0.02
    plain = constant(in_its_own_unit)
    assert slang(constant(0.4, MICRONS), connected) == slang(plain, connected)


ON_THE_WAY = {
    "in a graph": (
        IN_A_GRAPH.format(constant(400, NANOMETRES, "it")),
        'nodegraph="graph" output="out"',
    ),
    "given to a graph": (
        IN_A_GRAPH.format(
            f'<input name="given" type="float" value="0.4" {MICRONS}/>'
            + DOT.format('interfacename="given"')
        ),
        'nodegraph="graph"',
    ),
    "connected to a graph": (
        constant(400, NANOMETRES)
        + IN_A_GRAPH.format(
            '<input name="given" type="float" nodename="thick"/>'
            + DOT.format('interfacename="given"')
        ),
        'nodegraph="graph" output="out"',
    ),
    "behind an output": (
        constant(400, NANOMETRES) + '<output name="out" type="float" nodename="thick"/>',
        'output="out"',
    ),
    "multiplied": (by_two("multiply", f'value="0.2" {MICRONS}', 'value="2"'), 'nodename="it"'),
    "divided": (
        constant(0.8, MICRONS) + by_two("divide", 'nodename="thick"', 'value="2"'),
        'nodename="it"',
    ),
    "added to one without a unit": (
        constant(0.1, MICRONS) + by_two("add", 'nodename="thick"', 'value="300"'),
        'nodename="it"',
    ),
    "mixed": (
        # the share is a quotient of lengths, whatever they are in
        by_two("divide", f'value="0.05" {MICRONS}', f'value="0.1" {MICRONS}').replace(
            '"it"', '"share"'
        )
        + '<mix name="it" type="float">'
        f'<input name="fg" type="float" value="500" {NANOMETRES}/>'
        f'<input name="bg" type="float" value="0.3" {MICRONS}/>'
        '<input name="mix" type="float" nodename="share"/></mix>',
        'nodename="it"',
    ),
    "in a vector": (
        constant("0.1, 0.4", MICRONS, kind="vector2")
        + '<separate2 name="apart" type="multioutput">'
        '<input name="in" type="vector2" nodename="thick"/></separate2>',
        'nodename="apart" output="outy"',
    ),
    "a default": (
        '<geompropvalue name="it" type="float"><input name="geomprop" type="string" '
        f'value="film"/><input name="default" type="float" value="400" {NANOMETRES}/>'
        "</geompropvalue>",
        'nodename="it"',
    ),
}
GIVEN = {
    "by default": ("", ""),
    "in nanometres": ("", f'<input name="thick" type="float" value="400" {NANOMETRES}/>'),
    "without a unit": ("", '<input name="thick" type="float" value="400"/>'),
    "connected": (
        constant(0.4, MICRONS, "outside"),
        '<input name="thick" type="float" nodename="outside"/>',
    ),
}


def in_a_definition(before, given, is_direct):
    reads = 'interfacename="thick"'
    own = OWN.format(reads if is_direct else 'nodename="it"')
    if not is_direct:
        own = own.replace('nodedef="ND_own">', f'nodedef="ND_own">{DOT.format(reads)}')
    return before + own + f'<own name="lobe" type="BSDF">{given}</own>'


FILMS = {
    "400": METAL.format('value="400"'),
    "none": METAL.format('value="0"'),
    **{name: feeding + METAL.format(source) for name, (feeding, source) in ON_THE_WAY.items()},
    **{f"{name}, direct": in_a_definition(*parts, True) for name, parts in GIVEN.items()},
    **{f"{name}, through a node": in_a_definition(*parts, False) for name, parts in GIVEN.items()},
}


@pytest.fixture(scope="module")
def films():
    """What metal under each of these films returns."""
    found = dict(zip(FILMS, responses(FILMS.values(), IN, OUT), strict=True))
    assert np.abs(found["400"] / found["none"] - 1).max() > 0.02
    return found


@pytest.mark.parametrize("way", [name for name in FILMS if name not in ("400", "none")])
def test_a_film_keeps_its_unit_on_the_way_and_into_a_definition(films, way):
    np.testing.assert_allclose(films[way], films["400"], rtol=1e-5)


def test_one_thickness_feeds_films_of_two_units_and_what_is_no_film():
    of_standard, of_open_pbr = (
        SHADERS[f"thin_film_thickness of {model}"][0].format(
            film='<input name="thin_film_thickness" type="float" nodename="thick"/>'
        )
        for model in ("standard_surface", "open_pbr_surface")
    )
    shared = constant(0.4, MICRONS)
    for shader, other, thickness in (
        (of_standard, of_open_pbr, "400"),
        (of_open_pbr, of_standard, "0.4"),
    ):
        found = slang(shared, other.replace('"shader"', '"other"'), shader)
        assert found == slang(constant(thickness), shader) != slang(constant("40"), shader)
    # in metres it is next to nothing
    scaled = by_two("multiply", 'nodename="thick"', 'value="1e6"')
    lit = METAL.format('nodename="thick"') + (
        '<convert name="colour" type="color3"><input name="in" type="float" nodename="it"/>'
        '</convert><uniform_edf name="glow" type="EDF">'
        '<input name="color" type="color3" nodename="colour"/></uniform_edf>'
    )
    both = SURFACE.replace("</surface>", '<input name="edf" type="EDF" nodename="glow"/></surface>')
    teacher = Teacher(parse_document(document(shared, scaled, lit, both, material())))
    emission = teacher.unlit(np.float32([[0.5, 0.5]]), np.float32([[0, 0, 1]]))[0, :3]
    np.testing.assert_allclose(emission, [0.4] * 3, rtol=1e-5)


def test_a_length_out_of_a_definition_is_refused_in_front_of_a_film():
    own = (
        '<nodedef name="ND_own" node="own"><output name="out" type="float"/></nodedef>'
        f'<nodegraph name="NG_own" nodedef="ND_own">{constant(400, NANOMETRES)}'
        '<output name="out" type="float" nodename="thick"/></nodegraph>'
        '<own name="inner" type="float"/>'
    )
    message = (
        "node 'shader', input 'thin_film_thickness': needs nanometers, .* through 'inner', "
        ".*: write those values in nanometers, without a unit"
    )
    with pytest.raises(DocumentError, match=message):
        parse_document(document(own, MODEL.format('nodename="inner"'), material()))
    # as it may be where it is no film
    parse_document(document(own, MODEL.format('value="400"'), material()))


QUARTER = {"degree": "90", "radian": "1.57079633"}
BRUSHED = {
    "standard_surface": (
        '<standard_surface name="shader" type="surfaceshader">'
        '<input name="metalness" type="float" value="1"/>'
        '<input name="specular_anisotropy" type="float" value="0.8"/>'
        '<input name="specular_roughness" type="float" value="0.4"/>'
        '<input name="specular_rotation" type="float" {}/></standard_surface>',
        0.25,
    ),
    "gltf_pbr": (
        '<gltf_pbr name="shader" type="surfaceshader">'
        '<input name="anisotropy_strength" type="float" value="0.8"/>'
        '<input name="roughness" type="float" value="0.4"/>'
        '<input name="anisotropy_rotation" type="float" {}/></gltf_pbr>',
        np.pi / 2,
    ),
}


@pytest.mark.parametrize("name", BRUSHED)
def test_a_brushed_metal_is_turned_by_the_angle_that_is_given(name):
    shader, as_it_takes_it = BRUSHED[name]
    plain, connected = shader.format(f'value="{as_it_takes_it}"'), shader.format('nodename="thick"')
    expected = response(plain)
    np.testing.assert_allclose(
        response(on_the_right(as_it_takes_it), connected), expected, rtol=1e-4
    )
    unturned = response(on_the_right(as_it_takes_it), connected, u=0.25)
    assert np.abs(expected / unturned - 1).max() > 0.02
    for unit, quarter in QUARTER.items():
        written = f'unittype="angle" unit="{unit}"'
        assert slang(shader.format(f'value="{quarter}" {written}')) == slang(plain)
        given = slang(constant(quarter, written), connected)
        assert given == slang(constant(as_it_takes_it), connected)


TURNED = (
    '<texcoord name="uv" type="vector2"/><rotate2d name="turned" type="vector2">'
    '<input name="in" type="vector2" nodename="uv"/>'
    '<input name="amount" type="float" nodename="thick"/></rotate2d>'
    '<absval name="size" type="vector2">'
    '<input name="in" type="vector2" nodename="turned"/></absval>'
    '<convert name="colour" type="color3"><input name="in" type="vector2" nodename="size"/>'
    "</convert>"
)
SINE = (
    '<sin name="sine" type="float"><input name="in" type="float" nodename="thick"/></sin>'
    '<convert name="colour" type="color3"><input name="in" type="float" nodename="sine"/></convert>'
)
PLAIN = (
    '<convert name="colour" type="color3"><input name="in" type="float" nodename="thick"/>'
    "</convert>"
)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [(TURNED, (0.7, 0.2, 0)), (SINE, (1, 1, 1)), (PLAIN, (90, 90, 90))],
    ids=["turns degrees", "sine of radians", "degrees by themselves"],
)
def test_an_angle_that_is_connected_is_as_its_reader_takes_it(nodes, expected):
    in_degrees, angle = (
        constant(quarter, f'unittype="angle" unit="{unit}"') for unit, quarter in QUARTER.items()
    )
    lit = (
        '<uniform_edf name="glow" type="EDF"><input name="color" type="color3" nodename="colour"/>'
        '</uniform_edf><surface name="shader" type="surfaceshader">'
        '<input name="edf" type="EDF" nodename="glow"/></surface>'
    )
    assert slang(in_degrees, nodes, lit) == slang(angle, nodes, lit)
    teacher = Teacher(parse_document(document(angle, nodes, lit, material())))
    got = teacher.unlit(np.float32([[0.2, 0.7]]), np.float32([[0, 0, 1]]))[0, :3]
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
