"""The report tells of images of numbers that are decoded like colours."""

import numpy as np
import pytest

from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe

from .documents import with_surface
from .surfaces import node, write_image

ROUGH = '<input name="specular_roughness" type="float" nodename="part"/>'
SRGB = 'colorspace="srgb_texture"'


def image(kind, space=SRGB, category="image"):
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
USD = image("multioutput", category="UsdUVTexture")


@pytest.fixture
def folder(tmp_path):
    write_image(tmp_path / "i.png", np.full((2, 2, 4), 128, np.uint8))
    return tmp_path


def numbers_told(folder, text):
    made = parse_document(text, search_paths=[folder])
    parts = describe(made, probe=False)[0].parts
    return [part.how for part in parts if part.name == "numbers of 'i'"]


@pytest.mark.parametrize(
    "text",
    [
        with_surface(ROUGH, image("color3"), extract(1, "color3")),
        with_surface(ROUGH, image("color4"), extract(2, "color4")),
        with_surface(OF_APART, image("color3"), APART),
        with_surface(OF_APART, image("color3", ""), APART).replace("lin_rec709", "acescg"),
        with_surface(ROUGH.replace('"part"', '"i" output="r"'), USD),
    ],
    ids=["extracted", "of four", "taken apart", "in the space of the document", "of USD"],
)
def test_a_roughness_that_is_decoded_like_a_colour_is_told(folder, text):
    [how] = numbers_told(folder, text)
    assert "'specular_roughness' of 'shader' takes numbers" in how


@pytest.mark.parametrize(
    "text",
    [
        with_surface(ROUGH.replace("part", "i"), image("float")),
        with_surface(ROUGH, image("vector3"), extract(1, "vector3")),
        with_surface(ROUGH, image("color3", 'colorspace="none"'), extract(1, "color3")),
        with_surface(ROUGH, image("color3", ""), extract(1, "color3")),
        with_surface(ROUGH, image("color4"), extract(3, "color4")),
        with_surface(ROUGH.replace('"part"', '"i" output="a"'), USD),
        with_surface('<input name="base_color" type="color3" nodename="i"/>', image("color3")),
    ],
    ids=["float", "vector", "no space", "linear", "alpha", "alpha of USD", "a colour"],
)
def test_numbers_that_are_read_as_stored_and_colours_are_not_told(folder, text):
    assert not numbers_told(folder, text)
