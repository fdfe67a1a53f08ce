"""Textures that cannot be used: each is refused by node, path and reason."""

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.device import open_device
from verdigris.core.errors import TextureError, VerdigrisError
from verdigris.core.material.document import parse_document
from verdigris.core.material.generate import generate
from verdigris.core.material.teacher import Teacher

from .documents import chain, with_image


def load(folder, file, **options):
    document = parse_document(with_image(file), [folder], "tray.mtlx", **options)
    return Teacher(document, device=open_device("software"))


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "whole.png"
    texels = np.random.default_rng(3).random((64, 64, 3)).astype(np.float32)
    image = oiio.ImageBuf(texels)
    image.set_write_format("uint8")
    assert image.write(str(path))
    return path


def test_a_whole_texture_loads(whole):
    assert load(whole.parent, whole.name)


@pytest.mark.parametrize("kept", [0.3, 0.7])
@pytest.mark.parametrize("suffix", [".png", ".exr", ".tif"])
def test_a_truncated_texture_is_refused_as_damaged(whole, suffix, kept):
    path = whole.with_suffix(suffix)
    if suffix != ".png":
        assert oiio.ImageBuf(str(whole)).write(str(path))
    data = path.read_bytes()
    cut = path.with_name(f"cut{suffix}")
    cut.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(TextureError, match=rf"tray\.mtlx: picture/file: .*cut\{suffix}"):
        load(path.parent, cut.name)


def test_an_empty_texture_is_refused_as_empty(whole):
    (whole.parent / "empty.png").write_bytes(b"")
    with pytest.raises(TextureError, match=r"empty\.png is empty \(0 bytes\)"):
        load(whole.parent, "empty.png")


def test_what_is_no_image_is_refused(whole):
    (whole.parent / "notes.png").write_text("not an image")
    with pytest.raises(TextureError, match=r"notes\.png is not an image that can be read"):
        load(whole.parent, "notes.png")


def test_a_texture_that_does_not_fit_is_refused_by_its_header(tmp_path):
    path = tmp_path / "long.png"
    assert oiio.ImageBuf(oiio.ImageSpec(20_000, 2, 3, "uint8")).write(str(path))
    with pytest.raises(
        TextureError, match=r"long\.png is 20000 x 2 texels .* at most 16384 a side"
    ):
        load(tmp_path, "long.png")


@pytest.mark.parametrize("name", ["../whole.png", "{folder}/whole.png"])
def test_a_texture_outside_the_folders_is_refused_unless_allowed(whole, name):
    inner = whole.parent / "inner"
    inner.mkdir()
    name = name.format(folder=whole.parent)
    with pytest.raises(TextureError, match=r"outside the folders .*--allow-outside"):
        load(inner, name)
    assert load(inner, name, allow_outside=True)


def test_a_link_that_leads_outside_is_refused(whole):
    inner = whole.parent / "inner"
    inner.mkdir()
    (inner / "link.png").symlink_to(whole)
    with pytest.raises(TextureError, match="outside the folders"):
        load(inner, "link.png")


@pytest.mark.parametrize("name", ["a\x01b.png", "x" * 5000, "con:\\|?*.png", "."])
def test_a_name_that_no_file_can_have_is_refused(tmp_path, name):
    import html

    try:
        load(tmp_path, html.escape(name))
    except VerdigrisError as failure:
        assert len(str(failure)) < 1500
    else:
        raise AssertionError("it was loaded")


def test_a_document_of_five_thousand_nodes_is_generated():
    document = parse_document(chain(5000))
    generated = generate(document, document.require_material())
    assert generated.source.count("n4999") > 0
