"""The rasteriser, against closed forms."""

import numpy as np

from verdigris.core.geometry.raster import rasterize


def test_the_nearest_triangle_is_seen_and_its_weights_interpolate():
    far = [[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]]
    corners = np.float32([far, far[::-1]])
    depth = np.float32([[2, 2, 2], [1, 1, 1]])
    cover = rasterize(corners, depth, 8, 8)
    inside = np.add.outer(np.arange(8) + 0.5, np.arange(8) + 0.5) <= 8
    np.testing.assert_array_equal(cover.triangle, np.where(inside, 1, -1))
    y, x = np.nonzero(inside)
    place = (cover.weights[y, x][:, :, None] * corners[1]).sum(1)
    np.testing.assert_allclose(place, np.stack([x, y], 1) + 0.5, atol=1e-4)
