"""A rasteriser in numpy: finds the nearest triangle at each pixel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

_CANDIDATES_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Coverage:
    """The nearest triangle (-1: none) and its barycentric weights at each pixel."""

    triangle: Ints
    weights: Floats


def rasterize(corners: Floats, depth: Floats, width: int, height: int) -> Coverage:
    """Finds the nearest triangle at each pixel centre, of either winding.

    `corners` (T, 3, 2) are in pixels, row 0 at y = 0; the smallest `depth` (T, 3) is nearest.
    """
    best = np.full(width * height, np.inf, np.float32)
    triangle = np.full(width * height, -1, np.int64)
    weights = np.zeros((width * height, 3), np.float32)
    # by corner, because numpy reduces short axes slowly
    a, b, c = (corners[:, corner] for corner in range(3))
    least, most = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    low = np.clip(np.ceil(least - 0.5), 0, (width, height)).astype(np.int64)
    high = np.clip(np.floor(most - 0.5) + 1, 0, (width, height)).astype(np.int64)
    extent = np.maximum(high - low, 0)
    work = extent[:, 0] * extent[:, 1]
    for part in _chunks(work):
        owner = np.repeat(part, work[part])
        place = np.arange(len(owner)) - np.repeat(np.cumsum(work[part]) - work[part], work[part])
        x = low[owner, 0] + place % extent[owner, 0]
        y = low[owner, 1] + place // extent[owner, 0]
        bary = _barycentric(corners[owner], np.stack([x, y], 1) + 0.5)
        inside = (bary[:, 0] >= 0) & (bary[:, 1] >= 0) & (bary[:, 2] >= 0)
        owner, bary, pixel = owner[inside], bary[inside], (y * width + x)[inside]
        z = np.einsum("ni,ni->n", bary, depth[owner]).astype(np.float32)
        # sorted by pixel and depth, so the first entry of a pixel is the nearest
        order = np.lexsort((z, pixel))
        pixel, first = np.unique(pixel[order], return_index=True)
        order = order[first]
        nearer = z[order] < best[pixel]
        pixel, order = pixel[nearer], order[nearer]
        best[pixel] = z[order]
        triangle[pixel] = owner[order]
        weights[pixel] = bary[order]
    return Coverage(triangle.reshape(height, width), weights.reshape(height, width, 3))


def _chunks(work: Ints) -> list[Ints]:
    """Groups of triangles with bounded work, which bounds the memory."""
    busy = np.flatnonzero(work)
    if not len(busy):
        return []
    group = np.cumsum(work[busy]) // _CANDIDATES_AT_ONCE
    return [np.asarray(part) for part in np.split(busy, np.flatnonzero(np.diff(group)) + 1)]


def _barycentric(corners: Floats, points: NDArray[np.float64]) -> Floats:
    a, b, c = (corners[:, corner].astype(np.float64) for corner in range(3))

    def twice_area(
        p: NDArray[np.float64], q: NDArray[np.float64], r: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return np.asarray(
            (q[:, 0] - p[:, 0]) * (r[:, 1] - p[:, 1]) - (q[:, 1] - p[:, 1]) * (r[:, 0] - p[:, 0])
        )

    total = twice_area(a, b, c)
    solid = total != 0
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=solid)
    w0 = twice_area(b, c, points) * scale
    w1 = twice_area(c, a, points) * scale
    result = np.stack([w0, w1, 1.0 - w0 - w1], axis=1)
    result[~solid] = -1.0
    return result.astype(np.float32)
