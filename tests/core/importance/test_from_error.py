"""Weights from the error by place."""

import numpy as np
import pytest

from verdigris.core.importance.maps import weights_from_error


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
