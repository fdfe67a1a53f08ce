"""The report lists images whose numbers are decoded like colours, and normals without decoding."""

import numpy as np
import pytest

from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import document, material, with_surface
from ..surfaces import node, normalised, respond, write_image

# Straight up, as normal maps store it.
UP = np.array([128, 128, 255])
LIGHT = np.array([-0.6, 0, 0.8])
NORMAL = '<input name="normal" type="vector3" nodename="{}"/>'
MAP = '<normalmap name="map" type="vector3"><input name="in" type="vector3" nodename="{}"/>'
MAP += "</normalmap>"
AS_VECTOR = (
    '<convert name="vector" type="vector3"><input name="in" type="color3" nodename="i"/></convert>'
)


def image(kind="vector3", attributes="", file="n.png", category="image", more=""):
    return (
        f'<{category} name="i" type="{kind}"><input name="file" type="filename" value="{file}" '
        f"{attributes}/>{more}</{category}>"
    )


@pytest.fixture
def folder(tmp_path):
    write_image(tmp_path / "n.png", np.full((2, 2, 3), UP, np.uint8))
    write_image(tmp_path / "n.exr", np.full((2, 2, 3), (0, 0, 1), np.float32))
    return tmp_path


def reported(folder, text):
    made = parse_document(text, search_paths=[folder])
    parts = describe(made, probe=False)[0].parts
    return {part.name: part.how for part in parts if part.fate == "approximated"}


def cosine_of_light(folder, text):
    """Of a Lambert lobe, whose response it is but for a factor of pi."""
    teacher = Teacher(parse_document(text, search_paths=[folder]))
    return respond(teacher, [[0.5, 0.5]], [LIGHT], [[0, 0, 1]])[0, 0] * np.pi


def lambert(inputs, *nodes):
    """A white lobe with these inputs."""
    return document(
        *nodes,
        '<oren_nayar_diffuse_bsdf name="lobe" type="BSDF">'
        f'<input name="color" type="color3" value="1, 1, 1"/>{inputs}</oren_nayar_diffuse_bsdf>'
        '<surface name="shader" type="surfaceshader">'
        '<input name="bsdf" type="BSDF" nodename="lobe"/></surface>',
        material(),
    )


def test_an_image_that_a_normal_takes_without_a_normal_map_is_reported(folder):
    bare = lambert(NORMAL.format("i"), image())
    assert "normalmap" in reported(folder, bare)["'normal' of 'lobe'"]
    assert cosine_of_light(folder, bare) == pytest.approx(UP @ LIGHT / 255, abs=0.002)
    mapped = lambert(NORMAL.format("map"), image(), MAP.format("i"))
    assert not reported(folder, mapped)
    assert cosine_of_light(folder, mapped) == pytest.approx(LIGHT[2], abs=0.004)


def test_directions_in_a_file_of_floats_are_no_mistake(folder):
    text = with_surface(NORMAL.format("i"), image(file="n.exr"))
    assert not reported(folder, text)


def test_a_normal_map_that_is_decoded_like_colours_is_reported(folder):
    def mapped(space):
        picture = image("color3", f'colorspace="{space}"')
        return lambert(NORMAL.format("map"), picture, AS_VECTOR, MAP.format("vector"))

    bent = mapped("srgb_texture")
    assert "srgb_texture" in reported(folder, bent)["numbers of 'i'"]
    x = ((128 / 255 + 0.055) / 1.055) ** 2.4 * 2 - 1
    assert cosine_of_light(folder, bent) == pytest.approx(
        normalised(np.array([x, x, 1])) @ LIGHT, abs=0.002
    )
    for space in ("none", "lin_rec709"):
        assert not reported(folder, mapped(space))


def test_the_space_of_the_document_counts_for_its_images(folder):
    text = with_surface(NORMAL.format("map"), image("color3"), AS_VECTOR, MAP.format("vector"))
    assert not reported(folder, text)
    of_aces = text.replace('colorspace="lin_rec709"', 'colorspace="acescg"')
    assert "acescg" in reported(folder, of_aces)["numbers of 'i'"]


SCALED = (
    '<input name="scale" type="color4" value="2, 2, 2, 1"/>'
    '<input name="bias" type="color4" value="-1, -1, -1, 0"/>'
)


@pytest.mark.parametrize(("more", "is_told"), [("", True), (SCALED, False)])
def test_texels_without_scale_and_bias_are_reported_of_a_preview_surface(folder, more, is_told):
    text = with_surface(
        '<input name="normal" type="vector3" nodename="vector"/>',
        image("multioutput", category="UsdUVTexture", more=more),
        AS_VECTOR.replace('"i"', '"i" output="rgb"'),
    ).replace("standard_surface", "UsdPreviewSurface")
    found = reported(folder, text)
    assert ("'normal' of 'shader'" in found) == is_told
    assert not is_told or "bias" in found["'normal' of 'shader'"]


def test_a_node_that_reads_normal_maps_itself_is_not_reported(folder):
    text = with_surface(NORMAL.format("i"), image(category="gltf_normalmap"))
    assert not reported(folder, text)


def test_slopes_that_a_normal_takes_without_a_normal_map_are_reported(folder):
    slopes = (
        '<heighttonormal name="slopes" type="vector3"><input name="in" type="float" value="0.5"/>'
        '<input name="scale" type="float" value="2"/></heighttonormal>'
    )
    bare = lambert(NORMAL.format("slopes"), slopes)
    assert "'slopes', from 0 to 1" in reported(folder, bare)["'normal' of 'lobe'"]
    # of a flat height, (0.5, 0.5, 1)
    assert cosine_of_light(folder, bare) == pytest.approx([0.5, 0.5, 1] @ LIGHT, abs=0.002)
    mapped = lambert(NORMAL.format("map"), slopes, MAP.format("slopes"))
    assert "'normal' of 'lobe'" not in reported(folder, mapped)
    assert cosine_of_light(folder, mapped) == pytest.approx(LIGHT[2], abs=0.002)


ROUGH = '<input name="specular_roughness" type="float" nodename="part"/>'
SRGB = 'colorspace="srgb_texture"'


def number_image(kind, space=SRGB, category="image"):
    return (
        f'<{category} name="i" type="{kind}"><input name="file" type="filename" value="i.png" '
        f"{space}/></{category}>"
    )


def extract(index, kind):
    ports = {"in": (kind, "@i"), "index": ("integer", str(index))}
    return node("extract", "part", "float", ports)


APART = (
    '<separate3 name="apart" type="multioutput"><input name="in" type="color3" nodename="i"/>'
    "</separate3>"
)
OF_APART = ROUGH.replace('"part"', '"apart" output="outg"')
USD = number_image("multioutput", category="UsdUVTexture")


@pytest.fixture
def number_folder(tmp_path):
    write_image(tmp_path / "i.png", np.full((2, 2, 4), 128, np.uint8))
    return tmp_path


def numbers_told(number_folder, text):
    made = parse_document(text, search_paths=[number_folder])
    parts = describe(made, probe=False)[0].parts
    return [part.how for part in parts if part.name == "numbers of 'i'"]


@pytest.mark.parametrize(
    "text",
    [
        with_surface(ROUGH, number_image("color3"), extract(1, "color3")),
        with_surface(ROUGH, number_image("color4"), extract(2, "color4")),
        with_surface(OF_APART, number_image("color3"), APART),
        with_surface(OF_APART, number_image("color3", ""), APART).replace("lin_rec709", "acescg"),
        with_surface(ROUGH.replace('"part"', '"i" output="r"'), USD),
    ],
    ids=["extracted", "of four", "taken apart", "in the space of the document", "of USD"],
)
def test_a_roughness_that_is_decoded_like_a_colour_is_reported(number_folder, text):
    [how] = numbers_told(number_folder, text)
    assert "'specular_roughness' of 'shader' expects numbers" in how


@pytest.mark.parametrize(
    "text",
    [
        with_surface(ROUGH.replace("part", "i"), number_image("float")),
        with_surface(ROUGH, number_image("vector3"), extract(1, "vector3")),
        with_surface(ROUGH, number_image("color3", 'colorspace="none"'), extract(1, "color3")),
        with_surface(ROUGH, number_image("color3", ""), extract(1, "color3")),
        with_surface(ROUGH, number_image("color4"), extract(3, "color4")),
        with_surface(ROUGH.replace('"part"', '"i" output="a"'), USD),
        with_surface(
            '<input name="base_color" type="color3" nodename="i"/>', number_image("color3")
        ),
    ],
    ids=["float", "vector", "no space", "linear", "alpha", "alpha of USD", "a colour"],
)
def test_numbers_that_are_read_as_stored_and_colours_are_not_reported(number_folder, text):
    assert not numbers_told(number_folder, text)
