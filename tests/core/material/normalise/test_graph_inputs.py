"""Graph inputs and inputs of own definitions with a colour space or a unit."""

import numpy as np
import pytest

from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..images import decoded_srgb
from ..surfaces import document, glow, node, probe, write_image

WRITTEN = np.array([0.5, 0.25, 0.75])
COLOUR = 'type="color3" value="0.5, 0.25, 0.75"'
FILE = 'type="filename" value="plain.png"'
SRGB = 'colorspace="srgb_texture"'
AT = np.float32([[0.2, 0.7]])
AS_A_NODE = (
    '<nodedef name="ND_own" node="own">{input}<output name="out" type="color3"/></nodedef>'
    '<nodegraph name="NG_own" nodedef="ND_own">{body}</nodegraph>'
)
READ = (
    '<dot name="read" type="color3"><input name="in" type="color3" interfacename="it"/></dot>'
    '<output name="out" type="color3" nodename="read"/>'
)
SAMPLED = READ.replace("dot", "image").replace('"in" type="color3"', '"file" type="filename"')


def given(attributes):
    return f'<input name="it" {attributes}/>'


def in_a_graph(body, attributes, before=""):
    graph = f'<nodegraph name="graph">{given(attributes)}{body}</nodegraph>'
    port = '<input name="in" type="color3" nodegraph="graph" output="out"/>'
    return f'{before}{graph}<dot name="colour" type="color3">{port}</dot>'


def by_default(body, attributes):
    own = AS_A_NODE.format(input=given(attributes), body=body)
    return own + '<own name="colour" type="color3"/>'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    texels = np.tile((WRITTEN * 255).round().astype(np.uint8), (2, 2, 1))
    write_image(folder / "plain.png", texels)
    return folder


def seen(text, folder, space="lin_rec709"):
    document = probe(text, "colour", search_paths=[folder])
    document.root.setColorSpace(space)
    return glow(Teacher(document), AT)[0]


@pytest.mark.parametrize(
    "text",
    [
        in_a_graph(READ, f"{COLOUR} {SRGB}"),
        in_a_graph(SAMPLED, f"{FILE} {SRGB}"),
        by_default(READ, f"{COLOUR} {SRGB}"),
        by_default(SAMPLED, f"{FILE} {SRGB}"),
    ],
    ids=["colour of a graph", "file of a graph", "default colour", "default file"],
)
def test_a_colour_space_counts_that_is_reported_where_a_value_is_given(folder, text):
    np.testing.assert_allclose(seen(text, folder), decoded_srgb(WRITTEN), atol=2e-3)


@pytest.mark.parametrize("given_to", [in_a_graph, by_default])
def test_a_value_beside_the_input_of_a_graph_that_is_read_does_not_count(folder, given_to):
    read = READ.replace("interfacename", 'value="1,0,0" interfacename')
    np.testing.assert_allclose(seen(given_to(read, COLOUR), folder), WRITTEN, atol=1e-6)
    sampled = SAMPLED.replace("interfacename", 'value="not_there.png" interfacename')
    np.testing.assert_allclose(seen(given_to(sampled, FILE), folder), WRITTEN, atol=2e-3)


def test_a_value_beside_what_a_graph_in_a_graph_passes_on_does_not_count(folder):
    inner = '<input name="handed" type="color3" value="1,0,0" interfacename="it"/>'
    inner += READ.replace('interfacename="it"', 'interfacename="handed"')
    output = '<output name="out" type="color3" nodegraph="inner" output="out"/>'
    text = in_a_graph(f'<nodegraph name="inner">{inner}</nodegraph>{output}', COLOUR)
    np.testing.assert_allclose(seen(text, folder), WRITTEN, atol=1e-6)


def test_a_graph_takes_a_linear_file_into_a_document_that_is_not(folder):
    text = in_a_graph(SAMPLED, f'{FILE} colorspace="lin_rec709"')
    np.testing.assert_allclose(seen(text, folder, "srgb_texture"), WRITTEN, atol=2e-3)


def test_a_colour_that_comes_into_a_graph_from_a_node_is_decoded_once(folder):
    source = node("constant", "source", "color3", {"value": ("color3", "0.5, 0.25, 0.75")})
    text = in_a_graph(READ, 'type="color3" nodename="source"', source)
    got = seen(text, folder, "srgb_texture")
    np.testing.assert_allclose(got, decoded_srgb(WRITTEN), atol=1e-5)


def turned(attributes):
    """A graph that turns texture coordinates by an input and gives them as a colour."""
    body = (
        '<texcoord name="uv" type="vector2"/><rotate2d name="turned" type="vector2">'
        '<input name="in" type="vector2" nodename="uv"/>'
        '<input name="amount" type="float" interfacename="it"/></rotate2d>'
        '<convert name="read" type="vector3"><input name="in" type="vector2" nodename="turned"/>'
        '</convert><convert name="colour" type="color3">'
        '<input name="in" type="vector3" nodename="read"/></convert>'
        '<output name="out" type="color3" nodename="colour"/>'
    )
    return in_a_graph(body, f'type="float" {attributes}')


def test_an_angle_that_is_given_to_a_graph_may_be_in_radians(folder):
    u, v = AT[0].astype(np.float64)
    cosine, sine = np.cos(np.pi / 9), np.sin(np.pi / 9)
    expected = u * cosine + v * sine, v * cosine - u * sine, 0
    for angle in ('value="20"', f'value="{np.pi / 9:.9f}" unit="radian" unittype="angle"'):
        np.testing.assert_allclose(seen(turned(angle), folder), expected, atol=1e-5)


def test_a_film_that_is_given_to_a_graph_is_as_thick_as_its_unit_reports():
    def response(attributes):
        body = (
            '<standard_surface name="surf" type="surfaceshader">'
            '<input name="metalness" type="float" value="1"/>'
            '<input name="thin_film_thickness" type="float" interfacename="it"/>'
            '</standard_surface><output name="out" type="surfaceshader" nodename="surf"/>'
        )
        port = given(f'type="float" {attributes}')
        teacher = Teacher(document(f'<nodegraph name="graph">{port}{body}</nodegraph>'))
        wi, wo = np.float32([[0.6, 0, 0.8]]), np.float32([[-0.6, 0, 0.8]])
        return teacher.response(AT, wi, wo)

    expected = response('value="400"')
    assert np.abs(response('value="0.4"') / expected - 1).max() > 0.02
    in_microns = response('value="0.4" unit="micron" unittype="distance"')
    np.testing.assert_allclose(in_microns, expected, rtol=1e-5)


@pytest.mark.parametrize("prefix", ["", 'fileprefix="pictures/"'], ids=["plain", "prefix"])
def test_the_file_that_a_definition_names_is_read(folder, prefix):
    text = by_default(SAMPLED, FILE).replace('node="own"', f'node="own" {prefix}')
    at = folder
    if prefix:
        at = folder / "apart"
        (at / "pictures").mkdir(parents=True, exist_ok=True)
        (at / "pictures" / "plain.png").write_bytes((folder / "plain.png").read_bytes())
    np.testing.assert_allclose(seen(text, at), WRITTEN, atol=2e-3)
    document_in_srgb = seen(text, at, "srgb_texture")
    np.testing.assert_allclose(document_in_srgb, decoded_srgb(WRITTEN), atol=2e-3)


LENGTH = 'type="float" value="{}" unit="centimeter" unittype="distance"'


@pytest.mark.parametrize(
    ("given_there", "expected"),
    [
        ("", 0.5),
        (LENGTH.format(20), 0.2),
        ('type="float" value="2" unit="meter" unittype="distance"', 2),
        ('type="float" value="20"', 20),
    ],
    ids=["by default", "in centimetres", "in metres", "without a unit"],
)
def test_a_length_that_a_definition_takes_is_in_metres(folder, given_there, expected):
    read = READ.replace("dot", "convert").replace('"in" type="color3"', '"in" type="float"')
    text = by_default(read, LENGTH.format(50))
    if given_there:
        text = text.removesuffix("/>") + f">{given(given_there)}</own>"
    np.testing.assert_allclose(seen(text, folder), [expected] * 3, rtol=1e-6)


def test_the_report_names_the_colour_space_in_which_the_file_of_a_graph_is_read(folder):
    text = in_a_graph(SAMPLED, f"{FILE} {SRGB}")
    [report] = describe(probe(text, "colour", search_paths=[folder]), probe=False)
    assert [facts.colour_space for facts in report.textures] == ["srgb_texture"]


def test_a_graph_that_implements_a_definition_is_no_material():
    own = (
        '<nodedef name="ND_own" node="own"><input name="it" type="color3" value="0, 0, 0"/>'
        '<output name="out" type="surfaceshader"/></nodedef>'
        '<implementation name="IM_own" nodedef="ND_own" nodegraph="graph"/>'
        f'<nodegraph name="graph">{given(COLOUR)}<surface_unlit name="lit" type="surfaceshader">'
        '<input name="emission_color" type="color3" interfacename="it"/></surface_unlit>'
        '<output name="out" type="surfaceshader" nodename="lit"/></nodegraph>'
        '<own name="surf" type="surfaceshader"><input name="it" type="color3" value="1, 0.5, 0"/>'
        "</own>"
    )
    made = document(own)
    assert [material.name for material in made.materials] == ["surf"]
    np.testing.assert_allclose(glow(Teacher(made), AT), [[1, 0.5, 0]], atol=1e-6)
