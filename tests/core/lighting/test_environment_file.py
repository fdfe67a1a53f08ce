"""HDRIs from files: values, and each way in which a file is none."""

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base.errors import LightingError
from verdigris.core.lighting import environment_file
from verdigris.core.lighting.environment_file import read_environment

MAP = np.random.default_rng(5).random((8, 16, 3)).astype(np.float32)


def write(path, texels, names=None):
    height, width, channels = texels.shape
    spec = oiio.ImageSpec(width, height, channels, "float")
    if names:
        spec.channelnames = names
    output = oiio.ImageOutput.create(str(path))
    assert output.open(str(path), spec) and output.write_image(texels) and output.close()
    return path


def changed(value, row=3, column=5):
    texels = MAP.copy()
    texels[row, column, 1] = value
    return texels


def test_an_exr_and_an_hdr_hold_the_same_light(tmp_path):
    bright = MAP * np.float32(900)
    exact = read_environment(write(tmp_path / "a.exr", bright))
    np.testing.assert_array_equal(exact.texels, bright)
    assert exact.sun is None
    # eight bits of mantissa, shared by the channels
    shared = read_environment(write(tmp_path / "a.hdr", bright)).texels
    np.testing.assert_allclose(shared, bright, atol=900 / 128)


def test_grey_files_and_files_with_alpha_are_read(tmp_path):
    grey = read_environment(write(tmp_path / "g.exr", MAP[..., :1], ("Y",)))
    np.testing.assert_array_equal(grey.texels, np.repeat(MAP[..., :1], 3, -1))
    alpha = np.concatenate([MAP, np.full((8, 16, 1), 0.5, np.float32)], -1)
    np.testing.assert_array_equal(read_environment(write(tmp_path / "a.exr", alpha)).texels, MAP)


@pytest.mark.parametrize(("width", "most", "used"), [(16, 8, 8), (24, 10, 8), (22, 10, 10)])
def test_wide_maps_are_averaged_without_losing_light(tmp_path, monkeypatch, width, most, used):
    monkeypatch.setattr(environment_file, "WIDTH_USED", most)
    wide = np.random.default_rng(6).random((width // 2, width, 3)).astype(np.float32)
    found = read_environment(write(tmp_path / "a.exr", wide)).texels
    assert found.shape == (used // 2, used, 3)
    np.testing.assert_allclose(found.mean((0, 1)), wide.mean((0, 1)), rtol=1e-5)


@pytest.mark.parametrize(
    ("texels", "told"),
    [
        (changed(np.nan), r"1 pixels are not a number \(NaN\), first in column 5, row 3: paint"),
        (changed(np.inf), "1 pixels are infinite, first in column 5, row 3: clip them"),
        (changed(-0.25), "1 pixels are negative, down to -0.25, first in column 5, row 3: clip"),
        (changed(1e20), r"1 pixels are above 1e\+09.*: scale the map down"),
        (np.zeros((8, 16, 3), np.float32), "is black and lights nothing"),
        (MAP[:6], "is 16 x 6 pixels, but a latitude-longitude map is twice as wide as high"),
    ],
)
def test_a_map_that_can_light_nothing_right_is_refused_with_its_fault(tmp_path, texels, told):
    with pytest.raises(LightingError, match=told) as failure:
        read_environment(write(tmp_path / "bad.exr", texels))
    assert "bad.exr: " in str(failure.value)


def test_a_map_of_30000_pixels_is_refused_before_its_texels_are_read(tmp_path):
    path = tmp_path / "wide.exr"
    spec = oiio.ImageSpec(4, 2, 3, "float")
    # a display window of which only a part is stored, so that the file is small
    spec.full_width, spec.full_height = 30_000, 15_000
    output = oiio.ImageOutput.create(str(path))
    assert output.open(str(path), spec) and output.write_image(MAP[:2, :4]) and output.close()
    with pytest.raises(LightingError, match="is 30000 pixels wide, and at most 16384 are read"):
        read_environment(path)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.exr", b"no image at all", r"is not a readable image \(.+\): save it again as .hdr or"),
        ("a.hdr", b"no image at all", "is not a readable image"),
        ("a.exr", b"", r"is empty \(0 bytes\)"),
        ("a.jpg", b"x", "'.jpg' is not a format of environments: use .hdr or .exr, or a name"),
        ("sky.hdr", None, "there is no such file: name an HDRI, or 'sky'"),
    ],
)
def test_a_file_that_is_no_map_is_named_with_the_reason(tmp_path, name, content, told):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LightingError, match=told) as failure:
        read_environment(path)
    assert str(failure.value).startswith(str(path))


def test_a_map_that_ends_early_is_damaged(tmp_path):
    path = write(tmp_path / "a.exr", np.random.default_rng(1).random((64, 128, 3)).astype("f4"))
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(LightingError, match=r"is damaged \(|is not a readable image \("):
        read_environment(path)
