"""Weights become densities: relative, kept alive by a floor, uniform when they are all alike."""

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.sampling.distribution import LEAST_SHARE, UNIFORM, distribution_of


def test_sums_hold_the_shares_of_rows_and_of_the_columns_of_each_row():
    found = distribution_of(np.array([[1, 1], [2, 4]]))
    expected = [0.25, 1, 0.5, 1, 1 / 3, 1]
    assert found.sums == pytest.approx(expected, abs=1e-7)
    assert found.densities == pytest.approx(np.array([[0.5, 0.5], [1, 2]]), abs=1e-6)
    assert found.peak == pytest.approx(2)


@pytest.mark.parametrize("weight", [1.0, 8.0, 1e-30, 3e38])
def test_the_same_weight_everywhere_is_uniform(weight):
    assert distribution_of(np.full((7, 5), weight, np.float32)) is UNIFORM
    assert distribution_of(None) is UNIFORM


def test_a_weight_that_is_almost_0_is_lifted_to_the_floor_and_0_is_not():
    weights = np.full((32, 32), 1.0)
    weights[0, 0], weights[0, 1] = 1e-12, 0
    densities = distribution_of(weights).densities
    assert densities[0, 0] == pytest.approx(LEAST_SHARE, rel=1e-2)
    assert densities[0, 1] == 0
    assert densities.mean() == pytest.approx(1, abs=1e-5)


def test_weights_near_the_end_of_single_precision_do_not_overflow():
    weights = np.full((64, 64), 3e38, np.float32)
    weights[3, 4] = 1e38
    found = distribution_of(weights)
    assert np.isfinite(found.sums).all()
    assert found.densities[3, 4] == pytest.approx(1 / 3, rel=1e-3)


def test_the_mean_power_is_that_over_places_which_are_drawn():
    weights = np.ones((10, 10))
    weights[0] = 8
    found = distribution_of(weights)
    drawn = found.densities / found.densities.sum()
    assert found.mean_power(1.0) == pytest.approx((drawn * found.densities).sum(), rel=1e-5)
    assert found.mean_power(0.0) == UNIFORM.mean_power(2.0) == 1


@pytest.mark.parametrize(
    "weights",
    [
        np.zeros((2, 2)),
        np.array([[1, np.nan]]),
        np.array([[1, np.inf]]),
        np.array([[1, -1]]),
        np.ones(3),
        np.ones((0, 4)),
    ],
)
def test_what_is_no_distribution_is_refused(weights):
    with pytest.raises(SettingsError, match="importance map"):
        distribution_of(weights)
