"""Training draws the values of a live input more often where places differ more."""

import numpy as np
import pytest

from verdigris.core.material.evaluator import LIVE_KNOTS, even_knots
from verdigris.core.material.teacher.probe import live_knots


class Patterned:
    """Cube roots of its response are a pattern of the place, times a function of one live value."""

    def __init__(self, contrast, live=(0.5,), number=0):
        self.contrast, self.live, self.number = contrast, live, number

    def response(self, uv, wi, wo, live):
        root = 2 + self.contrast(live[:, self.number]) * np.sin(20 * uv[:, 0])
        return np.repeat(root[:, None] ** 3, 3, axis=1).astype(np.float32)


def test_the_density_follows_the_root_of_the_contrast():
    knots = live_knots(Patterned(lambda value: value))
    assert knots.shape == (LIVE_KNOTS, 1) and knots[0] == 0 and knots[-1] == 1
    # 0.3 of the mean at least, and the rest as the root of the value, whose mean is 2/3
    shares = np.interp(np.linspace(0, 1, 101), knots[:, 0], np.linspace(0, 1, LIVE_KNOTS))
    value = np.linspace(0, 1, 101)
    assert np.allclose(shares, 0.3 * value + 0.7 * value**1.5, atol=0.02)


def test_where_places_differ_equally_the_density_is_even():
    assert np.allclose(live_knots(Patterned(np.ones_like)), even_knots(1), atol=1e-3)


@pytest.mark.parametrize("contrast", [np.zeros_like, lambda value: value * np.nan])
def test_without_differences_or_numbers_the_density_is_even(contrast):
    assert np.array_equal(live_knots(Patterned(contrast)), even_knots(1))


def test_without_live_inputs_there_are_no_densities():
    assert live_knots(Patterned(np.ones_like, ())).shape == (LIVE_KNOTS, 0)


def test_each_input_has_a_density_of_its_own():
    knots = live_knots(Patterned(lambda value: value, (0.5, 0.5), number=1))
    assert np.allclose(knots[:, 0], even_knots(1)[:, 0], atol=1e-3)
    assert (knots[1:-1, 1] > 0.02 + even_knots(1)[1:-1, 0]).all()
