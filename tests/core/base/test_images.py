"""Damaged images: one line that names the file, the fault and the remedy, from every reader."""

import random
import re
import struct
import zlib

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base import images
from verdigris.core.base.errors import LightingError, SettingsError, TextureError, VerdigrisError
from verdigris.core.base.images import ImageError, open_image, reduced_jpeg, resized, write_texels
from verdigris.core.importance.maps import read_importance
from verdigris.core.lighting.environment_file import read_environment
from verdigris.core.material.files.image_headers import read_info
from verdigris.core.material.files.image_texels import read_image
from verdigris.core.material.files.paths import SearchPath

MAP = np.random.default_rng(5).random((8, 16, 3)).astype(np.float32)


def read_texture(path):
    return read_image(read_info(path.name, "node", SearchPath.of(path.parent)), "node")


READERS = [
    (read_environment, LightingError),
    (read_importance, SettingsError),
    (read_texture, TextureError),
]


@pytest.fixture(scope="module")
def exr(tmp_path_factory):
    path = tmp_path_factory.mktemp("images") / "a.exr"
    write_texels(path, MAP, "float")
    return path.read_bytes()


@pytest.mark.parametrize(("read", "error"), READERS)
def test_a_name_in_a_header_that_is_not_utf_8_gives_one_line(exr, tmp_path, read, error):
    """OpenImageIO quotes the name of the unknown type in its message."""
    path = tmp_path / "a.exr"
    path.write_bytes(exr.replace(b"chlist\0", b"chl\xca\xfft\0", 1))
    with pytest.raises(error) as failure:
        read(path)
    assert re.search(r"a\.exr:? is not a readable image.*: save it", str(failure.value))


@pytest.mark.parametrize(("read", "error"), READERS)
def test_damaged_headers_end_with_an_error_of_ours(exr, tmp_path, read, error):
    path, count = tmp_path / "a.exr", 0
    for seed in range(150):
        numbers = random.Random(seed)
        data = bytearray(exr)
        for _ in range(numbers.randint(1, 6)):
            data[numbers.randrange(360)] = numbers.randrange(256)
        path.write_bytes(data)
        try:
            read(path)
        except VerdigrisError as failure:
            count += 1
            assert isinstance(failure, error) and "a.exr" in str(failure)
    assert count > 100


def chunk(name, content):
    checked = name + content
    return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))


def png(width, height):
    header = struct.pack(">2I5B", width, height, 16, 6, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(bytes(64))), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize(("read", "error"), READERS[1:])
def test_a_small_file_that_claims_many_texels_is_refused_before_they_are_reserved(
    tmp_path, read, error
):
    path = tmp_path / "a.png"
    path.write_bytes(png(8192, 8192))
    said = rf"is damaged \(its header claims 8192 x 8192, but the file has {path.stat().st_size} "
    with pytest.raises(error, match=said):
        read(path)


def test_a_header_that_claims_more_than_any_device_holds_is_refused(tmp_path):
    path = tmp_path / "a.exr"
    spec = oiio.ImageSpec(4, 2, 3, "float")
    spec.full_width, spec.full_height = 1 << 20, 1 << 20
    output = oiio.ImageOutput.create(str(path))
    assert output.open(str(path), spec) and output.write_image(MAP[:2, :4]) and output.close()
    with open_image(path) as image, pytest.raises(ImageError, match="its header claims 1048576 x"):
        image.texels(3, "float")


@pytest.mark.parametrize("suffix", [".png", ".exr", ".tif", ".hdr"])
def test_even_texels_are_read_however_small_their_file_is(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(images, "_MOST_RESERVED", 0)
    path = tmp_path / f"a{suffix}"
    even = np.full((512, 1024, 3), 0.5, np.float32)
    write_texels(path, even, "float" if suffix in (".exr", ".hdr") else "uint8")
    with open_image(path) as image:
        assert image.size == (1024, 512)
        np.testing.assert_allclose(image.texels(3, "float"), even, atol=3e-3)


def test_the_picture_of_a_damaged_file_is_left_out(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(png(60_000, 60_000))
    assert reduced_jpeg(path, 64, 88) is None
    path.write_bytes(b"\x89PNG")
    assert reduced_jpeg(path, 64, 88) is None


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float16, np.float32])
def test_resized_texels_keep_their_type(kind):
    found = resized(np.ones((4, 4, 4), kind), 8, 2)
    assert found.dtype == kind and found.shape == (2, 8, 4)
    np.testing.assert_allclose(found, 1, rtol=1e-6)
