"""The effect of paint: errors inside and outside, against another bake."""

import numpy as np
import pytest

from verdigris.ui.paint.effect import Effects, Measured, effect_of, painted_share

PLAIN = np.ones((128, 128), np.float32)
PAINTED = PLAIN.copy()
PAINTED[:, :32] = 4.0


def bake(inside, outside, weights=PLAIN, key="same", steps=1000):
    """A bake with these errors in the left quarter and beside it."""
    errors = np.full((64, 64), outside, np.float32)
    errors[:, :16] = inside
    return Measured(key, errors, weights, steps)


def test_the_effect_is_the_change_of_the_mean_error_inside_and_outside():
    found = effect_of(bake(0.05, 0.02), bake(0.033, 0.0212, PAINTED))
    assert (found.inside, found.outside) == pytest.approx((-0.34, 0.06))
    assert found.text == "Inside -34%, outside +6%, against a bake without paint"


def test_bakes_that_differ_in_more_than_their_paint_are_not_compared():
    after = bake(0.03, 0.02, PAINTED)
    assert effect_of(None, after) is None
    assert effect_of(bake(0.05, 0.02, key="other"), after) is None
    assert effect_of(bake(0.05, 0.02, steps=1200), after) is None
    assert effect_of(bake(0.05, 0.02, steps=1050), after) is not None
    # nothing, or everything, is painted
    assert effect_of(bake(0.05, 0.02), bake(0.03, 0.02)) is None
    assert effect_of(bake(0.05, 0.02), bake(0.03, 0.02, 2 * PLAIN)) is None


def test_a_bake_without_paint_is_compared_before_the_last_one():
    effects = Effects()
    effects.note(bake(0.05, 0.02, PAINTED))
    assert effects.found is None and effects.can_compare("same")
    effects.note(bake(0.04, 0.02, PAINTED))
    assert effects.found.text == "Inside -20%, outside +0%, against the bake before"
    effects.note(bake(0.05, 0.02))
    assert effects.found is None
    effects.note(bake(0.05, 0.02, PAINTED))
    effects.note(bake(0.025, 0.03, PAINTED))
    assert effects.found.text == "Inside -50%, outside +50%, against a bake without paint"


@pytest.mark.parametrize("size", [(16, 16), (96, 80), (64, 64), (256, 200)])
def test_the_painted_share_of_texels_is_that_of_maps_of_any_size(size):
    weights = np.ones(size, np.float32)
    weights[: size[0] // 4] = 4.0
    share = painted_share(weights, (64, 64))
    assert share[:15].min() > 0.99 and share[17:].max() == 0.0
    assert share.mean() == pytest.approx(0.25, abs=0.02)
