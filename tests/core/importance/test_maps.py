"""Importance maps: as arrays of numpy, which need no image library, as images, and from errors."""

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.importance.maps import read_importance, weights_from_error, write_importance
from verdigris.core.settings.draw_settings import checked_table


def test_rows_of_an_array_are_those_of_the_map_that_an_image_holds_upside_down(tmp_path):
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "map.npy", weights)
    write_importance(tmp_path / "map.exr", weights)
    for name in ("map.npy", "map.exr"):
        np.testing.assert_array_equal(read_importance(tmp_path / name), weights)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones(4), r"is an array of float64 with shape \(4,\): use rows and columns"),
        (np.array([["a"]]), "is an array of <U1 with shape"),
        (np.ones((1, 8193)), "at most 8192 x 8192"),
        (np.array([[1.0, -1.0]]), "1 texels are negative"),
        (np.array([[{}]], object), "is not a numpy array"),
        (np.array([[1e300, 1.0]]), r"1 weights are above 3\.4e\+38: weights are relative"),
    ],
)
def test_an_array_that_is_no_map_is_refused_by_name(tmp_path, values, message):
    path = tmp_path / "map.npy"
    np.save(path, values, allow_pickle=True)
    with pytest.raises(SettingsError, match=message):
        read_importance(path)


@pytest.mark.parametrize("suffix", [".npy", ".exr"])
def test_a_map_whose_name_is_no_unicode_is_refused(tmp_path, suffix):
    path = tmp_path / f"map\udcff{suffix}"
    try:
        path.write_bytes(b"")
    except (OSError, ValueError):
        pytest.skip("this system's names are all Unicode")
    with pytest.raises(SettingsError, match="is not Unicode: rename it"):
        read_importance(path)


def test_nobody_is_told_to_unpickle_what_is_no_array(tmp_path):
    path = tmp_path / "map.npy"
    path.write_text("hi")
    with pytest.raises(SettingsError) as refusal:
        read_importance(path)
    assert str(refusal.value) == (
        f"{path}: is not a numpy array (it contains no plain numbers): save the weights with "
        "numpy.save"
    )


@pytest.mark.parametrize("values", [[["a"]], np.ones((2, 2), complex), np.ones((2, 2), object)])
def test_a_table_of_directions_holds_real_numbers(values):
    with pytest.raises(SettingsError, match="rows must be numbers"):
        checked_table(values)


def test_a_folder_is_refused_as_one(tmp_path):
    with pytest.raises(SettingsError, match="is a folder: name a file"):
        read_importance(tmp_path)


@pytest.mark.parametrize("suffix", [".png", ".tga", ".tif"])
@pytest.mark.parametrize("channels", [2, 4])
def test_what_is_transparent_weighs_what_its_colour_says(tmp_path, suffix, channels):
    texels = np.random.default_rng(3).integers(1, 256, (5, 7, channels)).astype(np.uint8)
    texels[..., -1] = np.arange(7) * 40
    path = tmp_path / f"map{suffix}"
    spec = oiio.ImageSpec(7, 5, channels, "uint8")
    spec["oiio:UnassociatedAlpha"] = 1
    target = oiio.ImageOutput.create(str(path))
    assert target.open(str(path), spec) and target.write_image(texels) and target.close()
    expected = texels[::-1, :, : channels - 1].mean(-1) / 255
    np.testing.assert_allclose(read_importance(path), expected, atol=1e-6)


def test_weights_too_small_for_single_floats_are_to_be_scaled_and_not_called_zero(tmp_path):
    np.save(tmp_path / "map.npy", np.full((8, 8), 1e-320))
    with pytest.raises(SettingsError, match=r"below 1\.2e-38: .* so scale all of them up"):
        read_importance(tmp_path / "map.npy")
    np.save(tmp_path / "map.npy", np.float64([[1e-320, 1.0]]))
    assert read_importance(tmp_path / "map.npy").max() == 1.0


def write_parts(path, count):
    """An image of several parts of one channel: the first of ones, the others of zeros."""
    spec = oiio.ImageSpec(3, 2, 1, "float")
    file = oiio.ImageOutput.create(str(path))
    assert file.open(str(path), (spec,) * count if path.suffix == ".exr" else spec), file.geterror()
    for number in range(count):
        if number:
            assert file.open(str(path), spec, "AppendSubimage"), file.geterror()
        assert file.write_image(np.full((2, 3, 1), float(not number), np.float32))
    file.close()


def test_of_several_parts_of_an_exr_none_is_taken_for_the_weights(tmp_path):
    write_parts(tmp_path / "parts.exr", 2)
    with pytest.raises(SettingsError, match=r"parts\.exr: has 2 parts: save the weights in a file"):
        read_importance(tmp_path / "parts.exr")
    write_parts(tmp_path / "one.exr", 1)
    assert read_importance(tmp_path / "one.exr").all()
    # pages of a document follow what is seen of it
    write_parts(tmp_path / "pages.tif", 2)
    assert read_importance(tmp_path / "pages.tif").all()


def test_the_worst_quarter_gets_weights_by_the_root_of_its_error():
    # a fifth of the texture is 4, 9 and 16 times as bad as the rest, in bands of many texels
    errors = np.ones((64, 64), np.float32)
    errors[50:62, :20], errors[50:62, 22:42], errors[50:62, 44:] = 4.0, 9.0, 16.0
    weights = weights_from_error(errors, 128, 1.0, 7.0)
    assert weights.shape == (128, 128) and weights.dtype == np.float32
    centres = weights[112, [20, 64, 108]]
    assert weights[30, 64] == 1.0
    # 1 + 6 * (root - 1) / (4 - 1)
    assert centres == pytest.approx([3.0, 5.0, 7.0], abs=0.05)


def test_a_single_bad_texel_is_spread_over_its_neighbours_and_over_the_edge():
    errors = np.ones((32, 32), np.float32)
    errors[0, 0] = 50.0
    weights = weights_from_error(errors, 32, 1.0, 4.0)
    assert weights[31, 31] > 1 and weights[16, 16] == 1.0


def test_an_even_error_and_an_empty_map_leave_all_weights_normal():
    for errors in (np.full((8, 8), 0.3, np.float32), np.zeros((8, 8), np.float32)):
        assert (weights_from_error(errors, 16, 1.0, 4.0) == 1.0).all()
