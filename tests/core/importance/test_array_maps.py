"""Maps that come as arrays of numpy, from hosts that have no library for images."""

import numpy as np
import pytest

from verdigris.core.errors import SettingsError
from verdigris.core.importance.maps import read_importance, write_importance


def test_rows_of_an_array_are_those_of_the_map_that_an_image_holds_upside_down(tmp_path):
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "map.npy", weights)
    write_importance(tmp_path / "map.exr", weights)
    for name in ("map.npy", "map.exr"):
        np.testing.assert_array_equal(read_importance(tmp_path / name), weights)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones(4), r"holds float64 of shape \(4,\): use rows and columns"),
        (np.array([["a"]]), "holds <U1 of shape"),
        (np.ones((1, 8193)), "at most 8192 a side"),
        (np.array([[1.0, -1.0]]), "1 texels are negative"),
        (np.array([[{}]], object), "is no array of numpy"),
    ],
)
def test_an_array_that_is_no_map_is_refused_by_name(tmp_path, values, message):
    path = tmp_path / "map.npy"
    np.save(path, values, allow_pickle=True)
    with pytest.raises(SettingsError, match=message):
        read_importance(path)


def test_a_file_that_only_has_the_name_is_refused(tmp_path):
    path = tmp_path / "map.npy"
    path.write_bytes(b"\x93NUMPY")
    with pytest.raises(SettingsError, match="is no array of numpy"):
        read_importance(path)
