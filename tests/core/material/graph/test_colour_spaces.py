"""Colour spaces: decoding and names."""

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.material.codegen.generate_teacher import generate
from verdigris.core.material.graph.colour_spaces import (
    COLOUR_SPACE_ALIASES,
    known_colour_spaces,
    name_in_materialx,
)
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..apart import colours as colours_of
from ..images import bilinear, decoded_srgb, image, look
from ..many_nodes import glow_by_turn
from ..surfaces import glow, probe, write_image

# Rows of the published matrices from the primaries to linear Rec.709.
ACESCG_TO_REC709 = [
    [1.70505, -0.62179, -0.08326],
    [-0.13026, 1.14080, -0.01055],
    [-0.02400, -0.12897, 1.15297],
]


@pytest.mark.parametrize(
    ("space", "decode"),
    [
        ("srgb_texture", decoded_srgb),
        ("lin_rec709", lambda x: x),
        ("g22_rec709", lambda x: x**2.2),
        ("g18_rec709", lambda x: x**1.8),
        ("acescg", lambda x: np.maximum(x @ np.transpose(ACESCG_TO_REC709), 0)),
    ],
)
def test_a_colour_space_is_decoded_by_its_closed_form(tmp_path, uv, colours, space, decode):
    write_image(tmp_path / "image.exr", colours.astype(np.float32))
    got = look(tmp_path, uv, "image.exr", attributes=f'colorspace="{space}"')
    np.testing.assert_allclose(got, decode(bilinear(colours, uv)), atol=1e-4)


def constant_in(space, name="colour"):
    port = f'<input name="value" type="color3" value="0.5, 0.25, 0.1" colorspace="{space}"/>'
    return f'<constant name="{name}" type="color3">{port}</constant>'


def constant(space):
    return probe(constant_in(space), "colour")


@pytest.mark.parametrize(("alias", "space"), COLOUR_SPACE_ALIASES.items())
def test_a_colour_space_by_another_name_is_the_same_and_known(alias, space):
    assert space in known_colour_spaces()
    [report] = describe(constant(alias), probe=False)
    assert "colour space" not in " ".join(part.name for part in report.parts)
    sources = []
    for each in (alias, space, "lin_rec709"):
        document = constant(each)
        sources.append(generate(document, document.require_material()).source)
    assert sources[0] == sources[1]
    assert (sources[0] == sources[2]) == (space == "lin_rec709")


NAMES = {
    "sRGB": decoded_srgb,
    "Utility - sRGB - Texture": decoded_srgb,
    "ACEScg": lambda x: x @ np.transpose(ACESCG_TO_REC709),
    "scene-linear Rec.709-sRGB": lambda x: x,
    "Raw": lambda x: x,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_colour_space_may_have_the_name_that_applications_give_it(name, evaluated):
    [report] = describe(constant(name), probe=False)
    assert "colour space" not in " ".join(part.name for part in report.parts)
    expected = np.maximum(NAMES[name](np.array([0.5, 0.25, 0.1])), 0)
    np.testing.assert_allclose(evaluated[name], expected, atol=1e-4)


# Spaces for textures in OpenColorIO's configurations whose primaries MaterialX has nothing for.
NOT_IN_MATERIALX = {"Linear Rec.2020", "sRGB Encoded AP1", "CIE XYZ-D65 - Scene-referred"}

OCIO_CONFIGURATIONS = (
    "cg-config-v1.0.0_aces-v1.3_ocio-v2.1",
    "cg-config-v4.0.0_aces-v2.0_ocio-v2.5",
)


@pytest.mark.parametrize("name", OCIO_CONFIGURATIONS)
def test_a_space_for_textures_of_opencolorio_is_known_by_all_its_names(name):
    config = oiio.ColorConfig(f"ocio://{name}")
    spaces = [each for each in config.getColorSpaceNames() if is_for_textures(config, each)]
    assert len(spaces) > 8
    source = oiio.ImageBuf(np.full((1, 1, 3), [0.5, 0.25, 0.1], np.float32))
    parts = []
    for at, space in enumerate(spaces):
        known = {name_in_materialx(each) for each in (space, *config.getAliases(space))}
        assert known <= known_colour_spaces(), space
        parts.append(constant_in(space, f"shown_{at}"))
    _, found = glow_by_turn(parts, 11, offset=4.0)
    for space, got in zip(spaces, found, strict=True):
        linear = oiio.ImageBufAlgo.colorconvert(
            source, space, "lin_rec709", colorconfig=f"ocio://{name}"
        )
        expected = np.maximum(linear.get_pixels()[0, 0], 0)
        np.testing.assert_allclose(
            np.maximum(got, 0), np.tile(expected, (len(got), 1)), atol=1e-3, err_msg=space
        )


def is_for_textures(config, space):
    if space.removesuffix(" - Texture") in NOT_IN_MATERIALX:
        return False
    return space == "ACEScg" or config.getColorSpaceFamilyByName(space) == "Utility"


@pytest.mark.parametrize(
    ("name", "space"),
    [
        ("Non-Color", "none"),
        ("Linear Rec.709", "lin_rec709"),
        ("scene-linear Rec 709/sRGB", "lin_rec709"),
    ],
)
def test_names_of_blender_and_maya_stand_for_what_they_mean(name, space):
    assert name_in_materialx(name) == space


def test_an_image_without_a_colour_space_takes_its_documents(tmp_path, uv, colours):
    write_image(tmp_path / "image.exr", colours.astype(np.float32))
    document = probe(image("image.exr"), "texels", search_paths=[tmp_path])
    document.root.setColorSpace("srgb_texture")
    expected = decoded_srgb(bilinear(colours, uv))
    np.testing.assert_allclose(glow(Teacher(document), uv), expected, atol=1e-4)


def missing(space, of_default=""):
    """An image of this colour space without a file, and its default."""
    written = f'colorspace="{space}"'
    body = image("", "color3", written, default=("color3", "0.1, 0.2, 0.3"))
    return body.replace('"texels"', '"colour"').replace(
        'name="default"', f'name="default" {of_default}'
    )


SPACES = ("srgb_texture", "g22_rec709", "acescg", "lin_rec709")


@pytest.mark.parametrize("space", SPACES)
def test_the_default_of_an_image_is_not_of_the_colour_space_of_its_file(space, evaluated):
    np.testing.assert_allclose(evaluated[f"default: {space}"], [0.1, 0.2, 0.3], atol=1e-6)


def test_a_default_of_a_colour_space_of_its_own_is_decoded_once(evaluated):
    expected = decoded_srgb(np.array([0.1, 0.2, 0.3]))
    np.testing.assert_allclose(evaluated["default of its own"], expected, atol=1e-6)


def test_a_default_is_given_beside_a_constant_border_and_texels_are_decoded_within(tmp_path):
    write_image(tmp_path / "image.exr", np.full((4, 4, 3), 0.5, np.float32))
    modes = {f"{axis}addressmode": ("string", "constant") for axis in "uv"}
    uv = np.float32([[0.5, 0.5], [1.5, 0.5], [0.5, -0.1]])
    found = look(
        tmp_path,
        uv,
        "image.exr",
        attributes='colorspace="srgb_texture"',
        default=("color3", "0.5, 0.25, 0.1"),
        **modes,
    )
    inside = np.full(3, decoded_srgb(0.5))
    np.testing.assert_allclose(found, [inside, [0.5, 0.25, 0.1], [0.5, 0.25, 0.1]], atol=1e-5)


NO_FILE = '<input name="file" type="filename" value="" colorspace="srgb_texture"/>'
TILED = (
    f'<tiledimage name="colour" type="color3">{NO_FILE}'
    '<input name="default" type="color3" value="0.5, 0.25, 0.1"/></tiledimage>'
)
OF_USD = (
    f'<UsdUVTexture name="texels" type="multioutput">{NO_FILE}'
    '<input name="fallback" type="color4" value="0.5, 0.25, 0.1, 1"/></UsdUVTexture>'
    '<dot name="colour" type="color3">'
    '<input name="in" type="color3" nodename="texels" output="rgb"/></dot>'
)


READERS = {"tiledimage": TILED, "UsdUVTexture": OF_USD}


@pytest.mark.parametrize("name", READERS)
def test_so_it_is_where_a_graph_reads_the_image(name, evaluated):
    np.testing.assert_allclose(evaluated[name], [0.5, 0.25, 0.1], atol=1e-6)


@pytest.fixture(scope="module")
def evaluated():
    """What each of the constants and of the images without a file gives, of one document."""
    bodies = {name: constant_in(name) for name in NAMES} | READERS
    bodies |= {f"default: {space}": missing(space) for space in SPACES}
    bodies["default of its own"] = missing("srgb_texture", 'colorspace="srgb_texture"')
    return dict(zip(bodies, colours_of(bodies.values()), strict=True))


def test_another_name_of_linear_colours_prints_nothing(capfd):
    document = constant("lin_rec709_scene")
    generate(document, document.require_material())
    assert capfd.readouterr().err == ""
