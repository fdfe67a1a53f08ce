"""Nodes that read images through a graph decode them where they are sampled."""

import numpy as np
import pytest

from verdigris.core.base.errors import TextureError
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..images import decoded_srgb
from ..surfaces import glow, node, probe, write_image

COLOURS = {"one.png": np.array([128, 64, 191]), "two.png": np.array([30, 220, 90])}
FACTOR = np.array([0.5, 0.25, 0.75])
FACTOR_TEXT = "0.5, 0.25, 0.75"
SRGB = 'colorspace="srgb_texture"'
AT = np.float32([[0.2, 0.7]])
OWN = (
    '<nodedef name="ND_own" node="own">{inputs}<output name="out" type="color3"/></nodedef>'
    '<nodegraph name="NG_own" nodedef="ND_own">{body}<output name="out" type="color3" '
    'nodename="result"/></nodegraph>'
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    for name, colour in COLOURS.items():
        write_image(folder / name, np.tile(colour.astype(np.uint8), (2, 2, 1)))
    return folder


def linear(name):
    return decoded_srgb(COLOURS[name] / 255)


def seen(text, folder, space="lin_rec709"):
    document = probe(text, "colour", search_paths=[folder])
    document.root.setColorSpace(space)
    return glow(Teacher(document), AT)[0]


def reader(category, inputs, kind="color3", name="colour"):
    """A node whose files are in sRGB."""
    return node(category, name, kind, inputs).replace('"filename"', f'"filename" {SRGB}')


def one_of(category, output, inputs):
    """One output of a node of several."""
    port = f'<input name="in" type="color3" nodename="several" output="{output}"/>'
    several = reader(category, inputs, "multioutput", "several")
    return f'{several}<dot name="colour" type="color3">{port}</dot>'


ONE = ("filename", "one.png")
SCALED = {
    "gltf_image": reader("gltf_image", {"file": ONE, "factor": ("color3", FACTOR_TEXT)}),
    "gltf_colorimage": one_of(
        "gltf_colorimage", "outcolor", {"file": ONE, "color": ("color4", f"{FACTOR_TEXT}, 1")}
    ),
    "UsdUVTexture": one_of(
        "UsdUVTexture", "rgb", {"file": ONE, "scale": ("color4", f"{FACTOR_TEXT}, 1")}
    ),
}


@pytest.mark.parametrize("category", SCALED)
def test_a_factor_multiplies_linear_colours(folder, category):
    expected = linear("one.png") * FACTOR
    np.testing.assert_allclose(seen(SCALED[category], folder), expected, atol=1e-4)


def test_channels_of_a_usd_texture_are_those_of_its_colour(folder):
    several = reader("UsdUVTexture", {"file": ONE}, "multioutput", "several")
    ports = "".join(
        f'<input name="in{at}" type="float" nodename="several" output="{channel}"/>'
        for at, channel in enumerate("rgb", 1)
    )
    text = f'{several}<combine3 name="colour" type="color3">{ports}</combine3>'
    np.testing.assert_allclose(seen(text, folder), linear("one.png"), atol=1e-4)


def test_a_usd_texture_keeps_its_address_modes(folder):
    far = node("constant", "far", "vector2", {"value": ("vector2", "1.5, 0.5")})
    for mode, expected in (("black", 0 * FACTOR), ("clamp", linear("one.png"))):
        ports = {"file": ONE, "st": ("vector2", "@far"), "wrapS": ("string", mode)}
        got = seen(far + one_of("UsdUVTexture", "rgb", ports), folder)
        np.testing.assert_allclose(got, expected, atol=1e-4)


def test_three_projected_images_are_blended_as_light(folder):
    names = ("one.png", "two.png", "one.png")
    files = {f"file{axis}": ("filename", name) for axis, name in zip("xyz", names, strict=True)}
    aslant = node("constant", "aslant", "vector3", {"value": ("vector3", "0.6, 0.8, 0")})
    ports = {**files, "normal": ("vector3", "@aslant"), "blend": ("float", "1")}
    got = seen(aslant + reader("triplanarprojection", ports), folder)
    ends = linear("one.png"), linear("two.png")
    share = (got - ends[0]) / (ends[1] - ends[0])
    assert 0.5 < share[0] < 0.9
    np.testing.assert_allclose(share, share[0], atol=1e-3)


@pytest.mark.parametrize("own_space", ["", SRGB])
def test_a_defined_node_may_work_on_what_it_samples(folder, own_space):
    image = '<image name="read" type="color3"><input name="file" type="filename" {}/></image>'
    body = image.format(f'interfacename="picture" {own_space}') + node(
        "multiply", "result", "color3", {"in1": ("color3", "@read"), "in2": ("color3", FACTOR_TEXT)}
    )
    inputs = '<input name="picture" type="filename" value=""/>'
    space = "" if own_space else SRGB
    use = f'<own name="colour" type="color3"><input name="picture" {space} type="filename" '
    text = OWN.format(inputs=inputs, body=body) + use + 'value="one.png"/></own>'
    expected = linear("one.png") * FACTOR
    np.testing.assert_allclose(seen(text, folder), expected, atol=1e-4)


@pytest.mark.parametrize("says", ["the definition", "its graph"])
def test_the_report_names_the_space_that_a_definition_reports_of_its_files(folder, says):
    body = node("image", "read", "color3", {"file": ("filename", "@")})
    in_graph, in_definition = (SRGB, "") if says == "its graph" else ("", SRGB)
    body = body.replace('nodename=""', f'interfacename="picture" {in_graph}')
    body += node("dot", "result", "color3", {"in": ("color3", "@read")})
    text = OWN.format(inputs=f'<input name="picture" type="filename" {in_definition}/>', body=body)
    text += node("own", "colour", "color3", {"picture": ONE})
    [found] = describe(probe(text, "colour", search_paths=[folder]), probe=False)
    assert [facts.colour_space for facts in found.textures] == ["srgb_texture"]
    np.testing.assert_allclose(seen(text, folder), linear("one.png"), atol=1e-4)


def test_each_of_two_uses_has_the_files_that_it_names(folder):
    body = reader("tiledimage", {"file": ("filename", "")}, name="first")
    body += reader("tiledimage", {"file": ("filename", "")}, name="second")
    for name in ("picture", "other"):
        body = body.replace('value=""', f'interfacename="{name}"', 1)
    body += node(
        "subtract", "result", "color3", {"in1": ("color3", "@first"), "in2": ("color3", "@second")}
    )
    inputs = "".join(f'<input name="{name}" type="filename"/>' for name in ("picture", "other"))
    text = OWN.format(inputs=inputs, body=body)
    for name, files in (("there", COLOURS), ("back", reversed(COLOURS))):
        first, second = (("filename", file) for file in files)
        text += node("own", name, "color3", {"picture": first, "other": second})
    both = {"in1": ("color3", "@there"), "in2": ("color3", "0.1, 0.2, 0.4")}
    text += node("multiply", "scaled", "color3", both)
    text += node(
        "add", "colour", "color3", {"in1": ("color3", "@scaled"), "in2": ("color3", "@back")}
    )
    got = seen(text, folder)
    difference = linear("one.png") - linear("two.png")
    expected = np.maximum(difference * (np.array([0.1, 0.2, 0.4]) - 1), 0)
    np.testing.assert_allclose(got, expected, atol=1e-4)


def test_a_document_in_another_space_is_decoded_once(folder):
    body = node("image", "read", "color3", {"file": ("filename", "")})
    body = body.replace('value=""', 'interfacename="picture"')
    body += node("dot", "result", "color3", {"in": ("color3", "@read")})
    text = OWN.format(inputs='<input name="picture" type="filename"/>', body=body)
    text += node("own", "colour", "color3", {"picture": ONE})
    got = seen(text, folder, "srgb_texture")
    np.testing.assert_allclose(got, linear("one.png"), atol=1e-4)


def test_a_file_name_keeps_its_prefix_and_its_tokens(folder):
    tiled = reader("tiledimage", {"file": ("filename", "[which].png")}, name="read")
    graph = (
        '<nodegraph name="graph" fileprefix="deeper/../"><token name="which" type="string" '
        f'value="one"/>{tiled}<output name="out" type="color3" nodename="read"/></nodegraph>'
    )
    port = '<input name="in" type="color3" nodegraph="graph" output="out"/>'
    (folder / "deeper").mkdir()
    got = seen(f'{graph}<dot name="colour" type="color3">{port}</dot>', folder)
    np.testing.assert_allclose(got, linear("one.png"), atol=1e-4)


def test_a_missing_file_is_reported_with_the_node_of_the_document(folder):
    with pytest.raises(TextureError, match=r"document: colour/file: 'nothing\.png' was not found"):
        seen(node("tiledimage", "colour", "color3", {"file": ("filename", "nothing.png")}), folder)


def test_two_definitions_may_call_the_nodes_alike_that_name_their_files(folder):
    text = ""
    for name, file in (("first", "one.png"), ("second", "two.png")):
        body = reader("image", {"file": ("filename", file)}, name="read")
        body += node("dot", "result", "color3", {"in": ("color3", "@read")})
        own = OWN.format(inputs="", body=body).replace("own", name)
        text += own + f'<{name} name="use_of_{name}" type="color3"/>'
    ports = {"in1": ("color3", "@use_of_first"), "in2": ("color3", "@use_of_second")}
    got = seen(text + node("add", "colour", "color3", ports), folder)
    np.testing.assert_allclose(got, linear("one.png") + linear("two.png"), atol=1e-4)


def test_names_may_hold_what_parts_those_of_a_path(folder):
    tiled = reader("tiledimage", {"file": ONE}, name="wood/old")
    out = '<output name="out" type="color3" nodename="wood/old"/>'
    port = '<input name="in" type="color3" nodegraph="planks/all" output="out"/>'
    text = f'<nodegraph name="planks/all">{tiled}{out}</nodegraph>'
    got = seen(f'{text}<dot name="colour" type="color3">{port}</dot>', folder)
    np.testing.assert_allclose(got, linear("one.png"), atol=1e-4)
