"""The relief march in numpy against many small steps, and height maps against their definition."""

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.geometry import relief
from verdigris.core.geometry.height_map import make_height_map

from .reliefs import bumpy_heights, rays

COUNT, STEPS = 400, 4000


@pytest.fixture(scope="module")
def heights():
    return make_height_map(bumpy_heights())


def surface(heights, uv):
    """Bilinear heights from 0 to 1, written another way than in the march."""
    stored = heights.stored()
    rows, columns = stored.shape
    x, y = uv[:, 0] * columns - 0.5, uv[:, 1] * rows - 0.5
    found = np.zeros(len(uv))
    for right in (0, 1):
        for up in (0, 1):
            i, j = np.floor(x).astype(int) + right, np.floor(y).astype(int) + up
            weight = np.maximum(0, 1 - np.abs(x - i)) * np.maximum(0, 1 - np.abs(y - j))
            found += weight * stored[j % rows, i % columns]
    return found


def test_texels_store_heights_means_and_extrema(heights):
    values = bumpy_heights()
    low, high = values.min(), values.max()
    np.testing.assert_allclose(heights.heights(), values, atol=0.6 * (high - low) / 65535)
    assert heights.scale == pytest.approx(high - low)
    random = np.random.default_rng(4)
    rows, columns = values.shape
    for level in (0, 2, len(heights.levels) - 1):
        shape = heights.levels[level].shape[:2]
        assert shape == (max(1, rows >> level), max(1, columns >> level))
        # places of a cell are between its extrema
        cell = random.random((300, 2)) * shape[::-1]
        uv = (cell * 2**level + 0.5) / (columns, rows)
        if level == len(heights.levels) - 1:
            uv = random.random((300, 2))
        least, most = (
            each[cell[:, 1].astype(int), cell[:, 0].astype(int)] for each in heights.bounds(level)
        )
        found = surface(heights, uv)
        assert (least <= found + 1e-9).all() and (found <= most + 1e-9).all()
        assert np.ptp(found) > 0
    assert heights.stored(len(heights.levels) - 1).mean() == pytest.approx(
        heights.stored().mean(), abs=1e-4
    )


def test_rays_see_the_first_place_on_their_way(heights):
    uv, wo, extent = rays(COUNT)
    found = relief.relief(heights, uv, wo, extent)
    lean = wo[:, :2] / wo[:, 2:] * heights.scale / extent
    seen = np.full(COUNT, np.nan)
    for stored in np.linspace(1, 0, STEPS):
        is_met = np.isnan(seen)
        is_met &= surface(heights, uv + lean * (stored - heights.midlevel)) >= stored
        seen[is_met] = stored
    height = heights.scale * (seen - heights.midlevel)
    np.testing.assert_allclose(found.height, height, atol=1.5 * heights.scale / STEPS)
    np.testing.assert_allclose(found.uv, uv + lean * found.height[:, None] / heights.scale)
    assert np.std(found.height) > 0.1 * heights.scale


def test_light_is_blocked_by_higher_places_on_its_way(heights):
    uv, wi, extent = rays(COUNT, seed=5)
    place = relief.relief(heights, uv, np.tile([0, 0, 1.0], (COUNT, 1)), extent)
    found = relief.lit(heights, place, wi, extent)
    lean = wi[:, :2] / wi[:, 2:] * heights.scale / extent
    start = place.height / heights.scale + heights.midlevel
    clearance = np.full(COUNT, np.inf)
    for stored in np.linspace(0, 1, STEPS):
        above = start + relief.BIAS + stored
        gap = above - surface(heights, place.uv + lean * stored)
        clearance = np.where(above <= 1, np.minimum(clearance, gap), clearance)
    is_certain = np.abs(clearance) > 1e-3
    np.testing.assert_array_equal(found[is_certain], clearance[is_certain] > 0)
    assert is_certain.mean() > 0.9 and 0.2 < found.mean() < 0.9
    assert not relief.lit(heights, place, -wi, extent).any()


def test_normals_are_those_of_smooth_heights(heights):
    row, column = np.mgrid[0:256, 0:256] / 256
    smooth = make_height_map((0.02 * np.sin(2 * np.pi * (column + 2 * row))).astype(np.float32))
    uv, _, extent = rays(COUNT)
    slope = 0.04 * np.pi * np.cos(2 * np.pi * (uv[:, 0] + 2 * uv[:, 1] - 1.5 / 256))
    expected = np.stack([-slope / extent[:, 0], -2 * slope / extent[:, 1], np.ones(COUNT)], 1)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = relief.normal(smooth, uv, extent)
    np.testing.assert_allclose(found, expected, atol=6e-3)


def test_constant_heights_are_no_map():
    assert make_height_map(np.full((4, 4), 0.2, np.float32)) is None
    with pytest.raises(SettingsError, match="3 x 4 texels: use powers of two"):
        make_height_map(np.zeros((4, 3), np.float32))
