"""Rasterisers in numpy: the nearest triangle at each pixel, and all texels that triangles touch.

For texels, corners are rounded to 1/256 of a texel. All later values are integers, exact in
float64, so shared edges match to the last bit. A texel is *touched* if its square and the triangle
overlap in an area; no triangle is too small to touch one. A texel is *inside* if its centre is, by
the top-left rule of GPUs: a centre on a shared edge is inside exactly one of the two triangles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Bools, FloatArray, Floats, Ints


# Pairs of a triangle and a pixel, or a texel, in memory at the same time.
_PIXELS_AT_ONCE = 1 << 22
TEXELS_AT_ONCE = 1 << 17
# Of a texel.
UNITS = 256
# Boxes up to this size are grouped by their exact size, larger ones by a rounded size.
_EXACT_SIZE = 8


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
    group = np.cumsum(work[busy]) // _PIXELS_AT_ONCE
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


@dataclass(frozen=True)
class Touches:
    """Pairs of a triangle and a texel that it touches."""

    triangle: Ints
    x: Ints
    y: Ints
    shares: FloatArray
    """Barycentric coordinates (3, N) of the texel's centre, negative if it is outside. All 1/3 for
    triangles that the rounding makes degenerate."""
    is_inside: Bools


@dataclass(frozen=True)
class _Edges:
    """The edge functions a x + b y + c of each triangle, (3, T), positive inside."""

    a: FloatArray
    b: FloatArray
    c: FloatArray
    area: FloatArray
    reach: FloatArray
    """A texel's square overlaps the half-plane if the function at its centre is above -reach."""
    bias: FloatArray
    """1 if a centre on the edge belongs to the other triangle."""
    order: Ints
    """The corner at which each function is 1, (3, T)."""


def touches(corners: FloatArray, width: int, height: int) -> Iterator[Touches]:
    """Yields all pairs in groups; `corners` (T, 3, 2) are in texels, row 0 at y = 0."""
    units = np.rint(np.asarray(corners, np.float64) * UNITS)
    size = np.array([width, height])
    least, most = bounds_of(units)
    low = np.floor(least / UNITS).astype(np.int64)
    # a box contains at least the texel of its lower corner
    high = np.maximum(np.ceil(most / UNITS).astype(np.int64), low + 1)
    low, high = np.clip(low, 0, size), np.clip(high, 0, size)
    extent = high - low
    busy = np.flatnonzero((extent[:, 0] > 0) & (extent[:, 1] > 0))
    if not len(busy):
        return
    rounded = _round_up(extent[busy])
    key = rounded[:, 1] << 32 | rounded[:, 0]
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        members = busy[order[start:end]]
        box = rounded[order[start]]
        step = max(1, int(TEXELS_AT_ONCE // (box[0] * box[1])))
        for first in range(0, len(members), step):
            part = members[first : first + step]
            yield _touches_of(part, units[part], low[part], extent[part], box)


@dataclass(frozen=True)
class PaintedTile:
    """The values of a tile's texels."""

    values: NDArray[np.float32]
    """(size, size), row 0 at y = 0; -1 for texels without a triangle."""
    overlapping: int
    """Number of texels whose centre is inside more than one triangle."""


def paint_tile(
    corners: FloatArray, size: int, values_of: Callable[[Touches], NDArray[Any]]
) -> PaintedTile:
    """Gives each texel the largest value, from 0 up, of the triangles that touch it."""
    values = np.full(size * size, -1, np.float32)
    times = np.zeros(size * size, np.int32)
    for found in touches(corners, size, size):
        place = found.y * size + found.x
        np.maximum.at(values, place, values_of(found).astype(np.float32))
        np.add.at(times, place[found.is_inside], np.int32(1))
    return PaintedTile(values.reshape(size, size), int((times > 1).sum()))


def bounds_of(corners: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Minimum and maximum over each triangle's corners; faster than a reduction of a short axis."""
    first, second, third = corners[:, 0], corners[:, 1], corners[:, 2]
    least = np.minimum(np.minimum(first, second), third)
    return least, np.maximum(np.maximum(first, second), third)


def _round_up(extent: Ints) -> Ints:
    """Rounds sizes of boxes up to fewer distinct values, so that there are fewer groups."""
    power = 2.0 ** np.ceil(np.log2(np.maximum(extent, 1)))
    step = np.maximum(_EXACT_SIZE, power / 4)
    larger = (np.ceil(extent / step) * step).astype(np.int64)
    return np.where(extent <= _EXACT_SIZE, extent, larger)


def _edges(units: FloatArray) -> _Edges:
    p, q, r = units[:, 0], units[:, 1], units[:, 2]
    area = (q[:, 0] - p[:, 0]) * (r[:, 1] - p[:, 1]) - (q[:, 1] - p[:, 1]) * (r[:, 0] - p[:, 0])
    is_mirrored = area < 0
    swap = is_mirrored[:, None]
    q, r = np.where(swap, r, q), np.where(swap, q, r)
    second = np.where(is_mirrored, 2, 1)
    x = np.stack([p[:, 0], q[:, 0], r[:, 0]])
    y = np.stack([p[:, 1], q[:, 1], r[:, 1]])
    # the function of an edge is 1 at the corner opposite of it
    next_x, next_y = np.roll(x, -1, 0), np.roll(y, -1, 0)
    a, b = y - next_y, next_x - x
    c = -(a * x + b * y)
    area = np.abs(area)
    is_first = (a > 0) | ((a == 0) & (b > 0))
    order = np.stack([3 - second, np.zeros_like(second), second])
    # a degenerate triangle touches the texels of its line
    reach = (np.abs(a) + np.abs(b)) * (UNITS / 2) + np.where(area == 0, 0.5, -0.5)
    return _Edges(a, b, c, area, reach, np.where(is_first, 0.0, 1.0), order)


def _touches_of(part: Ints, units: FloatArray, low: Ints, extent: Ints, box: Ints) -> Touches:
    edges = _edges(units)
    centre_x = (low[:, 0, None] + np.arange(box[0])) * UNITS + UNITS // 2
    centre_y = (low[:, 1, None] + np.arange(box[1])) * UNITS + UNITS // 2
    touched = np.ones((len(part), box[1], box[0]), bool)
    functions = []
    for number in range(3):
        along_x = edges.a[number][:, None] * centre_x
        along_y = edges.b[number][:, None] * centre_y + edges.c[number][:, None]
        function = along_y[:, :, None] + along_x[:, None, :]
        touched &= function > -edges.reach[number][:, None, None]
        functions.append(function)
    if (extent != box).any():
        touched &= (np.arange(box[0]) < extent[:, :1])[:, None, :]
        touched &= (np.arange(box[1]) < extent[:, 1:])[:, :, None]
    place = np.flatnonzero(touched)
    owner, rest = np.divmod(place, int(box[0] * box[1]))
    row, column = np.divmod(rest, int(box[0]))
    found = np.stack([function.ravel()[place] for function in functions])
    inside = edges.area[owner] > 0
    for function, bias in zip(found, edges.bias, strict=True):
        inside &= function >= bias[owner]
    scale = np.divide(1.0, edges.area, out=np.zeros_like(edges.area), where=edges.area > 0)
    shares = np.empty_like(found)
    np.put_along_axis(shares, edges.order[:, owner], found * scale[owner], 0)
    shares[:, edges.area[owner] == 0] = 1 / 3
    return Touches(part[owner], low[owner, 0] + column, low[owner, 1] + row, shares, inside)
