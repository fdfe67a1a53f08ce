"""A material that is finer than its texels everywhere is drawn by whole texels, evenly."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.measure.fitted import with_places
from verdigris.core.baking.state.stages import stages_of
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import require_settings

SETTINGS = BakeSettings(
    resolution=64, crowded_width=1.0, draw_errors_at=(0.5,), mend_at=(0.8,), horizon_at=0.25
)


class Noise:
    """Answers from a range as wide as this, another at each place."""

    def __init__(self, width):
        self._random, self._width = np.random.default_rng(1), width

    def response(self, uv, wi, wo):
        return self._width * self._random.random((len(uv), 3))


# |log(1 + x) - log(1 + y)| of two such numbers is a third of the range, where that is small.
@pytest.mark.parametrize(
    ("widths", "is_crowded"),
    [((0.021,), True), ((0.015,), False), ((0.021, 0.015), False), ((0.021, 0.03), True)],
    ids=["crowded", "not quite", "beside one that is not", "both"],
)
def test_what_two_places_of_a_texel_differ_by_tells_it(widths, is_crowded):
    found = with_places([Noise(width) for width in widths], SETTINGS)
    assert found.is_crowded == is_crowded
    assert found.errors_drawn_at == (() if is_crowded else (0.5,))
    assert found.mended_at == (() if is_crowded else (0.8,))
    assert found.horizon_step == (0 if is_crowded else 5_000)
    for stage in stages_of(replace(found, encode_from=64, small_resolution=16)):
        assert stage.settings.sampling.finest_width == (1.0 if is_crowded else 0.85)
    # what a scene compares with what it asked for stays as it was
    assert (found.draw.finest_width, found.draw_errors_at) == (0.85, (0.5,))


def test_presets_without_a_width_for_it_do_not_care():
    found = with_places([Noise(1.0)], replace(SETTINGS, crowded_width=0.0))
    assert found.is_crowded
    assert (found.sampling.finest_width, found.errors_drawn_at) == (0.85, (0.5,))


@pytest.mark.parametrize(
    "asked",
    [
        {"draw": {"finest_width": 0.7}},
        {"draw_errors_at": (0.3,)},
        {"mend_at": (0.3,)},
        {"horizon_at": 0.3},
    ],
)
def test_what_is_asked_for_by_number_is_for_any_material(asked):
    standard = require_settings("standard", "tensor")
    assert standard.crowded_width == 1
    assert standard.changed(asked).crowded_width == 0
