"""Bilinear addressing: texel centres, wrap, levels and materials; scatter is gather's transpose."""

import numpy as np
import pytest

from verdigris.core.network.latents.texels import (
    corners,
    footprint_width,
    gather,
    level_for_lod,
    scatter,
)
from verdigris.core.network.spec import LatentLayout

LAYOUT = LatentLayout(width=8, height=4, levels=3, materials=2)


def numbered():
    return np.arange(LAYOUT.texel_count, dtype=np.float64)[:, None]


def sample(u, v, level=0, material=0):
    indices, weights = corners(LAYOUT, np.array([[u], [v]]), level, material)
    return gather(numbered(), indices, weights)[0, 0]


def test_a_texel_centre_gives_its_texel():
    assert sample(2.5 / 8, 1.5 / 4) == 1 * 8 + 2


def test_between_two_centres_is_their_mean():
    assert sample(3 / 8, 1.5 / 4) == 8 + 2.5
    assert sample(2.5 / 8, 2 / 4) == 12 + 2


def test_the_edge_of_the_unit_square_mixes_both_sides():
    assert sample(0.0, 0.5 / 4) == pytest.approx((0 + 7) / 2)
    assert sample(0.5 / 8, 0.0) == pytest.approx((0 + 24) / 2)


@pytest.mark.parametrize("shift", [-3, -1, 1, 7])
def test_uv_wraps(shift):
    assert sample(0.3 + shift, 0.7 - shift) == pytest.approx(sample(0.3, 0.7))


def test_levels_and_materials_lie_one_after_the_other():
    """Level 0 has 2 x 32 texels, level 1 has 2 x 8, level 2 has 2 x 2."""
    assert sample(0.5 / 8, 0.5 / 4, material=1) == 32
    assert sample(0.5 / 4, 0.5 / 2, level=1) == 64
    assert sample(1.5 / 4, 1.5 / 2, level=1, material=1) == 64 + 8 + 5
    assert sample(1.5 / 2, 0.5, level=2, material=1) == 64 + 16 + 2 + 1


def test_weights_sum_to_one():
    uv = np.random.default_rng(0).uniform(-2, 2, (2, 100))
    _, weights = corners(LAYOUT, uv, 0)
    np.testing.assert_allclose(weights.sum(0), 1, rtol=1e-12)
    assert (weights >= 0).all()


def test_scatter_is_the_transpose_of_gather():
    random = np.random.default_rng(1)
    uv = random.uniform(-2, 2, (2, 50))
    indices, weights = corners(LAYOUT, uv, random.integers(0, 3, 50), random.integers(0, 2, 50))
    latents = random.standard_normal((LAYOUT.texel_count, 3))
    gradient = random.standard_normal((3, 50))
    gathered = gather(latents, indices, weights)
    scattered = scatter(gradient, indices, weights, LAYOUT.texel_count)
    assert (gathered * gradient).sum() == pytest.approx((latents * scattered).sum(), rel=1e-12)


@pytest.mark.parametrize("level", range(1, 9))
def test_the_level_of_a_patch_is_the_one_whose_texels_stand_for_it(level):
    layout = LatentLayout(1024, 1024, 11)
    texels = 1024 * footprint_width(1024 >> level, level)
    assert texels == 2 * 2**level
    assert level_for_lod(layout, np.log2(texels)) == level


def test_between_two_levels_patches_grow_evenly_and_the_ends_are_held():
    layout = LatentLayout(16, 16, 5)
    lods = np.array([-2, 0, 0.5, 1, 1.5, 2, 2.5, 3, 5, 9])
    wanted = [0, 0, 0.25, 0.5, 0.75, 1, 1.5, 2, 4, 4]
    np.testing.assert_array_equal(level_for_lod(layout, lods), wanted)
    assert footprint_width(16, 0) == 1 / 16
    # no more than the whole square
    assert [footprint_width(size, 3) for size in (2, 1)] == [1, 1]
