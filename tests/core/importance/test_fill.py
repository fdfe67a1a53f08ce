"""Masked texels take over what the nearest trained texel holds, on every level."""

import numpy as np
import pytest

from verdigris.core.importance.fill import fill_masked, find_masked, live_texels, nearest_live
from verdigris.core.network.latents.texels import corners
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, require_preset

SPEC = require_preset("2x16")


def gap_of(size, places, target):
    gap = np.abs(places - target) % size
    return np.minimum(gap, size - gap)


@pytest.mark.parametrize(
    ("size", "level"), [((8, 8), 0), ((8, 8), 2), ((12, 20), 0), ((64, 40), 1)]
)
def test_live_texels_are_those_that_a_sample_of_a_live_cell_reaches(size, level):
    random = np.random.default_rng(2)
    cells = random.random(size) < 0.15
    layout = LatentLayout(16, 16, levels=5)
    row, column = np.nonzero(cells)
    part = np.concatenate([[1e-6, 1 - 1e-6], np.linspace(0, 1, 22)[1:-1]])
    reached = np.zeros(layout.texel_count, bool)
    for y in part:
        for x in part:
            uv = np.stack([(column + x) / size[1], (row + y) / size[0]])
            indices, weights = corners(layout, uv, level)
            reached[indices[weights > 1e-9]] = True
    side = 16 >> level
    start = layout.level_offsets[level]
    expected = reached[start : start + side * side].reshape(side, side)
    np.testing.assert_array_equal(live_texels(cells, side, side), expected)


@pytest.mark.parametrize("shape", [(16, 16), (24, 17), (1, 9)])
def test_the_nearest_live_texel_is_the_nearest_over_the_edges_too(shape):
    random = np.random.default_rng(4)
    live = random.random(shape) < 0.08
    live[0, 3] = True
    found = nearest_live(live)
    sources = np.argwhere(live)
    excess = []
    for place in np.ndindex(*shape):
        gap = np.stack([gap_of(shape[a], sources[:, a], place[a]) for a in (0, 1)], 1)
        least = np.sqrt((gap**2).sum(1).min())
        source = np.unravel_index(found[place], shape)
        assert live[source]
        own = np.hypot(*(gap_of(shape[a], source[a], place[a]) for a in (0, 1)))
        excess.append(own - least)
        assert own <= 1.7 * least + 1e-9
    assert np.mean(np.array(excess) > 1e-9) < 0.07


def test_a_masked_disc_is_filled_from_its_rim_on_every_level_and_nothing_else_changes():
    layout = LatentLayout(32, 32, levels=6, materials=2)
    parameters = initialise(SPEC, layout, 0)
    before = parameters.copy()
    v, u = np.mgrid[:64, :64] / 64 + 1 / 128
    masked = np.hypot(u - 0.5, v - 0.5) < 0.3
    fill_masked(parameters, masked)
    for level in range(layout.levels):
        side = 32 >> level
        live = live_texels(~masked, side, side)
        now, then = parameters.level(level), before.level(level)
        np.testing.assert_array_equal(now[:, live], then[:, live])
        if live.all():
            continue
        assert level < 4
        assert (now[:, ~live] != then[:, ~live]).any(-1).all()
        for material in range(2):
            known = {tuple(texel) for texel in then[material][live]}
            assert all(tuple(texel) in known for texel in now[material][~live])
    np.testing.assert_array_equal(parameters.decoder, before.decoder)


def test_without_a_mask_nothing_changes():
    parameters = initialise(SPEC, LatentLayout(8, 8, levels=2), 0)
    before = parameters.latents.copy()
    for masked in (None, np.zeros((4, 4), bool), np.ones((4, 4), bool)):
        fill_masked(parameters, masked)
        np.testing.assert_array_equal(parameters.latents, before)
    assert find_masked(None) is None
    assert find_masked(np.ones((2, 2))) is None
    assert find_masked(np.array([[0.0, 2.0]])).tolist() == [[True, False]]
