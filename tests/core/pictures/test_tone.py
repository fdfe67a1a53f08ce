"""Tone mappings against their published formulas, worked out by hand."""

import numpy as np
import pytest

from verdigris.core.pictures.tone import ACES, CLIP, FILM, MAPPINGS, NEUTRAL, TONES


def mapped(name, *colour):
    return MAPPINGS[name](np.array([colour], np.float32))[0]


def test_aces_is_the_fit_of_narkowicz():
    """x (2.51 x + .03) / (x (2.43 x + .59) + .14); its text says that 1 becomes about .8."""
    np.testing.assert_allclose(mapped(ACES, 1, 1, 1), 2.54 / 3.16, rtol=1e-6)
    middle = 0.18 * (2.51 * 0.18 + 0.03) / (0.18 * (2.43 * 0.18 + 0.59) + 0.14)
    np.testing.assert_allclose(mapped(ACES, 0.18, 0, 1e9), (middle, 0, 1), rtol=1e-6)


def test_neutral_is_the_specification_of_khronos():
    """KhronosGroup/ToneMapping, PBR_Neutral/README.md: F90 = .04, Ks = .76, Kd = .15."""
    # x <= 2 F90: f = x - x^2 / (4 F90) = .03; p <= Ks: only f is subtracted
    np.testing.assert_allclose(mapped(NEUTRAL, 0.04, 0.3, 0.5), (0.01, 0.27, 0.47), atol=1e-6)
    # x > 2 F90: f = F90
    np.testing.assert_allclose(mapped(NEUTRAL, 0.2, 0.3, 0.5), (0.16, 0.26, 0.46), atol=1e-6)
    # p = 1: p_n = 1 - .24^2 / (1 + 1 - 1.52) = .88, g = 1 / (.15 * .12 + 1)
    grey = 0.88 * (1 - 1 / 1.018)
    np.testing.assert_allclose(mapped(NEUTRAL, 1, 0, 0), (0.88, grey, grey), atol=1e-6)


def test_film_leaves_what_is_below_its_shoulder():
    np.testing.assert_allclose(mapped(FILM, 0.1, 0.7, 1.0), (0.1, 0.7, 0.85), atol=1e-6)
    np.testing.assert_allclose(mapped(CLIP, 0.1, 1.7, 0.7), (0.1, 1, 0.7), atol=1e-6)


@pytest.mark.parametrize("name", TONES)
def test_more_light_is_never_darker_and_stays_on_the_screen(name):
    light = np.geomspace(1e-4, 1e4, 500, dtype=np.float32)
    for colour in ((1, 1, 1), (1, 0.5, 0.1)):
        shown = MAPPINGS[name](light[:, None] * np.array(colour, np.float32))
        assert shown.min() >= 0 and shown.max() <= 1
        assert np.diff(shown, axis=0).min() > -1e-6
