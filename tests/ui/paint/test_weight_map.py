"""The map of weights: dabs, strokes and undo."""

import time

import numpy as np
import pytest

from verdigris.ui.paint import weight_map
from verdigris.ui.paint.weight_map import Brush, WeightMap


def test_a_dab_is_round_and_soft_and_wraps_around_the_edge():
    weights = WeightMap(64)
    weights.dab(0.0, 0.5, Brush(radius=0.25, weight=3.0, strength=1.0))
    values = weights.values
    # half a texel from the centre on both sides of the seam
    assert values[32, 0] == pytest.approx(values[32, 63])
    assert values[32, 0] == pytest.approx(3.0, abs=0.02)
    assert values[32, 8] == pytest.approx(2.0, abs=0.15)
    assert values[32, 20] == 1.0


def test_a_dab_equals_its_formula_on_every_texel_and_never_misses_a_coarse_map():
    random = np.random.default_rng(4)
    for size, radius, place in ((40, 0.2, (0.97, 0.03)), (128, 0.5, (0.4, 0.6)), (9, 0.3, (0, 0))):
        weights = WeightMap()
        start = random.uniform(0, 8, (size, 2 * size)).astype(np.float32)
        weights.replace(start)
        weights.dab(*place, Brush(radius=radius, weight=6.0, strength=0.7))
        for row, column in np.ndindex(start.shape):
            gaps = np.abs([(column + 0.5) / (2 * size) - place[0], (row + 0.5) / size - place[1]])
            near = max(0.0, 1 - np.linalg.norm(np.minimum(gaps, 1 - gaps)) / radius)
            share = 0.7 * (3 * near**2 - 2 * near**3)
            expected = start[row, column] + share * (6 - start[row, column])
            assert weights.values[row, column] == pytest.approx(expected, abs=1e-5)
    coarse = WeightMap()
    coarse.replace(np.ones((8, 8)))
    coarse.dab(0.51, 0.26, Brush(radius=0.01))
    assert np.unravel_index(coarse.values.argmax(), (8, 8)) == (2, 4)


def test_painting_a_large_map_is_fast_and_its_undo_is_limited(monkeypatch):
    weights = WeightMap()
    weights.replace(np.ones((2048, 2048), np.float32))
    start = time.process_time()
    for number in range(20):
        weights.dab(0.02 * number, 0.5, Brush())
    assert time.process_time() - start < 2
    monkeypatch.setattr(weight_map, "MOST_UNDO_BYTES", 1 << 26)
    for _ in range(6):
        weights.begin_stroke()
        weights.dab(0.5, 0.5, Brush())
        weights.end_stroke()
    assert sum(each.nbytes for each in weights._undo) <= 1 << 26


def test_a_stroke_beside_the_texture_has_no_undo_step():
    weights = WeightMap()
    weights.fill(2.0)
    weights.undo()
    weights.begin_stroke()
    weights.end_stroke()
    assert weights.can_redo and not weights.can_undo


@pytest.mark.parametrize("change", ["undo", "fill"])
def test_painting_after_an_undo_in_the_same_stroke_is_a_new_undo_step(change):
    weights = WeightMap(16)
    weights.begin_stroke()
    weights.dab(0.2, 0.5, Brush())
    weights.undo() if change == "undo" else weights.fill(2.0)
    before = weights.values.copy()
    weights.dab(0.6, 0.5, Brush())
    weights.dab(0.8, 0.5, Brush())
    weights.end_stroke()
    painted = weights.values.copy()
    weights.undo()
    np.testing.assert_array_equal(weights.values, before)
    weights.redo()
    np.testing.assert_array_equal(weights.values, painted)


def test_a_stroke_is_one_undo_step_and_can_be_redone():
    weights = WeightMap(16)
    weights.begin_stroke()
    for u in (0.2, 0.4, 0.6):
        weights.dab(u, 0.5, Brush())
    weights.end_stroke()
    painted = weights.values.copy()
    weights.fill(2.0)
    weights.undo()
    np.testing.assert_array_equal(weights.values, painted)
    weights.undo()
    assert weights.is_constant and not weights.can_undo
    weights.redo()
    np.testing.assert_array_equal(weights.values, painted)
    weights.invert()
    np.testing.assert_allclose(weights.values, painted.max() + painted.min() - painted)


def test_erasing_restores_the_normal_weight():
    weights = WeightMap(16)
    weights.fill(6.0)
    weights.dab(0.5, 0.5, Brush(radius=2.0, strength=1.0, erases=True))
    assert weights.values[8, 8] == pytest.approx(1.0, abs=0.01)
