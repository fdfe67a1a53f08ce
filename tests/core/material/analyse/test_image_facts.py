"""The report lists the images of a material, and what is not read of them."""

import struct

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.material.files.image_headers import read_info
from verdigris.core.material.files.image_texels import read_image
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import document, material, standard_surface, with_image
from ..reports import NO_SPECULAR, fates, report
from ..surfaces import glow, node, probe, write_image


def test_settings_that_a_graph_is_given_are_reported_as_those_of_its_nodes():
    text = document(
        '<nodegraph name="g"><input name="set" type="integer" value="1"/>'
        '<input name="which" type="string" value="spec"/>'
        '<input name="how" type="string" value="cubic"/>'
        '<texcoord name="uv" type="vector2">'
        '<input name="index" type="integer" interfacename="set"/></texcoord>'
        '<image name="i" type="color3"><input name="layer" type="string" interfacename="which"/>'
        '<input name="filtertype" type="string" interfacename="how"/>'
        '<input name="texcoord" type="vector2" nodename="uv"/></image>'
        '<output name="out" type="color3" nodename="i"/></nodegraph>',
        standard_surface('<input name="base_color" type="color3" nodegraph="g" output="out"/>'),
        material(),
    )
    found = fates(text)
    assert found["texture coordinates 1"] == "approximated"
    assert found["layer 'spec' of an image"] == "approximated"
    assert found["cubic filtering"] == "approximated"


@pytest.mark.parametrize("kind", ["float", "vector3", "color3"])
def test_the_colour_space_of_an_image_is_reported_where_it_counts(kind, tmp_path):
    write_image(tmp_path / "i.exr", np.full((2, 2, 3), 0.5, np.float32))
    file = '<input name="file" type="filename" value="i.exr" colorspace="srgb_texture"/>'
    shown = node("convert", "shown", "color3", {"in": (kind, "@i")})
    shown = shown.replace("convert", "dot") if kind == "color3" else shown
    text = f'<image name="i" type="{kind}">{file}</image>{shown}'
    made = probe(text, "shown", search_paths=[tmp_path])
    is_decoded = glow(Teacher(made), [[0.5, 0.5]])[0, 0] < 0.4
    reported = describe(made, probe=False)[0].textures[0].colour_space
    assert (reported, is_decoded) == (
        ("srgb_texture", True) if kind == "color3" else ("numbers as stored", False)
    )


def test_a_blur_that_a_sample_cannot_see_is_approximated(tmp_path):
    texels = np.random.default_rng(5).integers(0, 255, (8, 8, 3)).astype(np.uint8)
    write_image(tmp_path / "i.png", texels)
    image = node("image", "i", "color3", {"file": ("filename", "i.png")})
    ports = {"in": ("color3", "@i"), "size": ("float", "1")}
    blurred = probe(image + node("blur", "soft", "color3", ports), "soft", search_paths=[tmp_path])
    uv = np.random.default_rng(6).random((50, 2))
    sharp = glow(Teacher(probe(image, "i", search_paths=[tmp_path])), uv)
    np.testing.assert_allclose(glow(Teacher(blurred), uv), sharp, atol=1e-6)
    parts = describe(blurred, probe=False)[0].parts
    assert [part.fate for part in parts if part.name == "blur"] == ["approximated"]


def test_a_layer_of_an_image_is_approximated(tmp_path):
    spec = oiio.ImageSpec(2, 2, 6, "half")
    spec.channelnames = ("R", "G", "B", "worn.R", "worn.G", "worn.B")
    target = oiio.ImageOutput.create(str(tmp_path / "layers.exr"))
    assert target.open(str(tmp_path / "layers.exr"), spec)
    texels = np.full((2, 2, 6), 0.8, np.float16)
    texels[..., 3:] = 0.2
    assert target.write_image(texels) and target.close()
    layer = '<input name="layer" type="string" value="worn"/></image>'
    text = (
        with_image("layers.exr")
        .replace("</image>", layer)
        .replace('<input name="base_color"', NO_SPECULAR + '<input name="base_color"')
    )
    found = report(text, probe=True, search_paths=[tmp_path])
    assert {part.name: part.fate for part in found.parts}[
        "layer 'worn' of an image"
    ] == "approximated"
    assert found.probe.albedo == pytest.approx((0.8, 0.8, 0.8), abs=0.01)


def exif(orientation):
    """The segment of a JPEG in which cameras say how they were held: a TIFF's header."""
    entry = struct.pack("<HHIHH", 0x0112, 3, 1, orientation, 0)
    header = b"II*\0" + struct.pack("<IH", 8, 1) + entry + bytes(4)
    return b"\xff\xe1" + struct.pack(">H", len(header) + 8) + b"Exif\0\0" + header


@pytest.mark.parametrize("orientation", [1, 3, 6])
def test_an_image_that_viewers_turn_is_read_as_it_is_stored_and_reported(orientation, tmp_path):
    path = tmp_path / "phone.jpg"
    write_image(path, np.uint8([0] * 8 + [255] * 8).repeat(16 * 3).reshape(16, 16, 3))
    data = path.read_bytes()
    path.write_bytes(data[:2] + exif(orientation) + data[2:])
    loaded = parse_document(with_image("phone.jpg"), [tmp_path])
    info = read_info("phone.jpg", "document: picture", loaded.search)
    # rows of an image go up
    texels = read_image(info, "document: picture").levels[0]
    assert texels[0, :, 0].min() > 250 and texels[-1, :, 0].max() < 5
    reported = [
        part
        for part in report(with_image("phone.jpg"), search_paths=[tmp_path]).parts
        if part.name == "orientation of phone.jpg"
    ]
    assert [part.fate for part in reported] == ([] if orientation == 1 else ["ignored"])
    assert all(
        f"viewers rotate or mirror it by its orientation {orientation}" in part.how
        for part in reported
    )


def test_a_missing_texture_is_the_reason_why_it_cannot_be_baked(tmp_path):
    found = report(with_image("gone.png"), search_paths=[tmp_path])
    assert "cannot be baked" in found.verdict
    assert "picture" in found.problem
    assert "gone.png" in found.problem
    assert str(tmp_path) in found.problem


def test_a_texture_is_described_by_its_header(tmp_path):
    import OpenImageIO as oiio

    pixels = np.zeros((4, 8, 3), np.float32)
    oiio.ImageBuf(pixels).write(str(tmp_path / "a.exr"))
    texture = report(with_image("a.exr"), search_paths=[tmp_path]).textures[0]
    assert (texture.width, texture.height, texture.channels) == (8, 4, 3)
    assert texture.kind == "float"
    assert texture.colour_space == "lin_rec709"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1001], []),
        ([1001, 1002, 1011], [("kept", "side by side in one square of 2 x 2 tiles")]),
        ([1003], [("kept", "side by side in one square of 1 x 1 tiles")]),
        ([1001, 1901], [("approximated", "only tile 1001 is baked")]),
    ],
)
def test_tiles_are_reported_with_the_square_that_they_become(tmp_path, cells, expected):
    for cell in cells:
        write_image(tmp_path / f"t.{cell}.png", np.full((2, 2, 3), 99, np.uint8))
    [found] = describe(parse_document(with_image("t.&lt;UDIM&gt;.png"), [tmp_path]), probe=False)
    written = [
        (part.fate, part.how.partition(",")[0]) for part in found.parts if part.name == "UDIM tiles"
    ]
    assert written == expected


def without_a_file(file, category="image"):
    default = '<input name="default" type="color3" value="0.2, 0.4, 0.6"/>'
    return f'<{category} name="i" type="color3">{file}{default}</{category}>'


@pytest.mark.parametrize("category", ["image", "tiledimage"])
@pytest.mark.parametrize("file", ["", '<input name="file" type="filename" value=""/>'])
def test_an_image_that_names_no_file_is_reported(file, category):
    made = probe(without_a_file(file, category), "i")
    np.testing.assert_allclose(glow(Teacher(made), [[0.3, 0.6]])[0], [0.2, 0.4, 0.6], rtol=1e-5)
    [part] = [each for each in describe(made, probe=False)[0].parts if "image" in each.name]
    assert (part.name, part.fate) == ("image of 'i'", "approximated")
    assert "has no file name" in part.how


def test_an_image_whose_file_the_graph_names_is_not_reported(tmp_path):
    write_image(tmp_path / "i.png", np.full((2, 2, 3), 255, np.uint8))
    inner = without_a_file('<input name="file" type="filename" interfacename="which"/>')
    text = (
        '<nodegraph name="g"><input name="which" type="filename" value="{}"/>'
        f'{inner}<output name="out" type="color3" nodename="i"/></nodegraph>'
        '<dot name="d" type="color3"><input name="in" type="color3" nodegraph="g" output="out"/>'
        "</dot>"
    )
    for file, reported in (("i.png", []), ("", ["image of 'g/i'"])):
        made = probe(text.format(file), "d", search_paths=[tmp_path])
        parts = describe(made, probe=False)[0].parts
        assert [part.name for part in parts if "image" in part.name] == reported


def test_a_node_of_the_document_may_do_without_the_file_that_it_can_take(tmp_path):
    write_image(tmp_path / "i.png", np.full((2, 2, 3), 255, np.uint8))
    inner = without_a_file('<input name="file" type="filename" interfacename="which"/>')
    own = (
        '<nodedef name="ND_own" node="own"><input name="which" type="filename" value=""/>'
        '<output name="out" type="color3"/></nodedef><nodegraph name="NG_own" nodedef="ND_own">'
        f'{inner}<output name="out" type="color3" nodename="i"/></nodegraph>'
        '<own name="o" type="color3"/>'
    )
    parts = describe(probe(own, "o", search_paths=[tmp_path]), probe=False)[0].parts
    assert not [part.name for part in parts if "image" in part.name]
