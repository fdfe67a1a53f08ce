"""A response is a sum of lobes, and its logarithm has a gradient by each."""

import numpy as np
import pytest

from verdigris.core.network.activations import exponent_backward, exponent_of, response_of
from verdigris.core.network.spec import CHANNELS, NetworkSpec

STEP = 1e-6


def raw_outputs(lobes, count=40):
    return np.random.default_rng(lobes).normal(1, 4, (CHANNELS * lobes, count))


@pytest.mark.parametrize("lobes", [1, 2, 4])
def test_a_response_is_the_sum_of_its_lobes_exponentials(lobes):
    spec, raw = NetworkSpec(lobes=lobes, output_limit=9.0), raw_outputs(lobes)
    raw[-1, :5] = 50.0
    wanted = np.zeros((CHANNELS, raw.shape[1]))
    for row, outputs in enumerate(raw):
        wanted[row % CHANNELS] += np.exp(np.minimum(outputs - 3.0, 9.0))
    np.testing.assert_allclose(response_of(spec, raw), wanted, rtol=1e-12)
    exponent, shares = exponent_of(spec, raw)
    np.testing.assert_allclose(np.exp(exponent), wanted, rtol=1e-12)
    np.testing.assert_allclose(shares.sum(0), 1, rtol=1e-12)


def test_lobes_that_are_hundreds_of_powers_apart_do_not_overflow():
    spec, raw = NetworkSpec(), np.zeros((6, 1))
    raw[:3], raw[3:] = -2000.0, -1000.0
    exponent, shares = exponent_of(spec, raw)
    np.testing.assert_allclose(exponent, -1003.0)
    np.testing.assert_array_equal(shares[:, :, 0], [[0] * 3, [1] * 3])


@pytest.mark.parametrize("lobes", [1, 2, 3])
def test_the_gradient_of_the_exponent_is_its_slope(lobes):
    spec, raw = NetworkSpec(lobes=lobes, output_limit=9.0), raw_outputs(lobes)
    upstream = np.random.default_rng(9).standard_normal((CHANNELS, raw.shape[1]))
    gradient = exponent_backward(exponent_of(spec, raw)[1], upstream)
    below = raw < spec.output_shift + spec.output_limit
    for row in range(len(raw)):
        shift = np.zeros_like(raw)
        shift[row] = STEP
        ends = [exponent_of(spec, raw + sign * shift)[0] for sign in (1, -1)]
        slope = ((ends[0] - ends[1]) * upstream).sum(0) / (2 * STEP)
        np.testing.assert_allclose(
            gradient[row][below[row]], slope[below[row]], rtol=1e-6, atol=1e-9
        )
