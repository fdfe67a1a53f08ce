"""Relief in numpy: what shaders/bundle/runtime/neural_relief.slang computes, to test it.

A point of the base surface shows the place where the ray to the viewer leaves the relief. The march
skips cells whose largest height is below the ray, as in "Maximum mipmaps for fast, accurate, and
scalable dynamic height field rendering" (Tevs, Ihrke, Seidel 2008).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Doubles, FloatArray
    from verdigris.core.geometry.height_map import HeightMap

STEPS, COSINE, BIAS = 160, 0.02, 0.002
_NUDGE, _STRAIGHT, _NEVER = 1e-3, 1e-6, 2.0


class Relief(NamedTuple):
    """The places that rays see."""

    uv: Doubles
    height: Doubles
    """Above the base surface, in world units."""


def relief(
    heights: HeightMap, uv: FloatArray, wo: FloatArray, extent: FloatArray, level: int = 0
) -> Relief:
    """The places (N) that rays towards `wo` see through points of the base surface. `extent` (N, 2)
    is the length of dP/du and dP/dv, `level` that of the map."""
    uv, wo = np.asarray(uv, np.float64), np.asarray(wo, np.float64)
    lean = wo[:, :2] / np.maximum(wo[:, 2:], COSINE) * heights.scale / extent
    start = uv % 1 + lean * (1 - heights.midlevel)
    count = len(uv)
    t = _meet(heights, start, np.ones(count), -lean, np.full(count, -1.0), level)
    above = 1 - np.minimum(t, 1) - heights.midlevel
    return Relief(uv + lean * above[:, None], heights.scale * above)


def lit(
    heights: HeightMap, place: Relief, wi: FloatArray, extent: FloatArray, level: int = 0
) -> NDArray[np.bool_]:
    """Whether light from `wi` reaches places of the relief."""
    wi = np.asarray(wi, np.float64)
    stored = place.height / heights.scale + heights.midlevel + BIAS
    rise = 1 - stored
    along = wi[:, :2] / np.maximum(wi[:, 2:], COSINE) * heights.scale / extent * rise[:, None]
    free = (wi[:, 2] > 0) & (rise <= 0)
    t = _meet(heights, place.uv % 1, stored, along, np.maximum(rise, 0), level)
    return free | ((wi[:, 2] > 0) & (t > 1))


def normal(heights: HeightMap, uv: FloatArray, extent: FloatArray, level: int = 0) -> Doubles:
    """The normals of the relief, in the frame of the base surface."""
    half = 0.5 / np.array(_size(heights, level))
    slope = np.stack(
        [
            _bilinear(heights, uv + step, level) - _bilinear(heights, uv - step, level)
            for step in np.diag(half)
        ],
        1,
    )
    slope *= heights.scale / (2 * half * extent)
    found = np.concatenate([-slope, np.ones((len(slope), 1))], 1)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def height_at(heights: HeightMap, uv: FloatArray) -> Doubles:
    """Heights at places, in world units."""
    return heights.scale * (_bilinear(heights, uv, 0) - heights.midlevel)


def _size(heights: HeightMap, level: int) -> tuple[int, int]:
    rows, columns = heights.levels[level].shape[:2]
    return columns, rows


def _bilinear(heights: HeightMap, uv: FloatArray, level: int) -> Doubles:
    size = np.array(_size(heights, level))
    place = (np.asarray(uv, np.float64) % 1) * size - 0.5
    first = np.floor(place)
    stored, (i, j), (x, y) = heights.stored(level), first.astype(int).T, (place - first).T

    def texel(right: int, up: int) -> Doubles:
        return np.asarray(stored[(j + up) % size[1], (i + right) % size[0]])

    lower = texel(0, 0) * (1 - x) + texel(1, 0) * x
    upper = texel(0, 1) * (1 - x) + texel(1, 1) * x
    return np.asarray(lower * (1 - y) + upper * y)


def _meet(
    heights: HeightMap,
    start: Doubles,
    height: Doubles,
    along_uv: Doubles,
    rise: Doubles,
    finest: int,
) -> Doubles:
    """For each ray the first t from 0 to 1 at which it is on or below the relief; 2 without one. At
    t it is at uv `start` + t `along_uv` and at the stored height `height` + t `rise`."""
    top = len(heights.levels) - 1
    size = np.array(heights.size, np.float64)
    place, along = start * size - 0.5, along_uv * size
    longest = np.maximum(np.abs(along).max(1), 1e-6)
    level = np.clip(np.maximum(np.ceil(np.log2(longest)), 0), finest, top).astype(int)
    t, found = np.zeros(len(start)), np.full(len(start), np.nan)
    stored = [heights.stored(each) for each in range(top + 1)]
    extrema = [heights.bounds(each) for each in range(top + 1)]
    alive = np.arange(len(start))
    for _ in range(STEPS):
        if not len(alive):
            break
        q, d, at, lod = place[alive], along[alive], t[alive], level[alive]
        side = np.exp2(lod)[:, None]
        cell = np.floor((q + at[:, None] * d) / side)
        border = (cell + (d > 0)) * side
        straight = np.abs(d) <= _STRAIGHT
        ends = np.where(straight, _NEVER, (border - q) / np.where(straight, 1.0, d))
        end = np.clip(ends.min(1), at, 1)
        low, high = np.empty(len(alive)), np.empty(len(alive))
        for number in np.unique(lod):
            chosen = lod == number
            columns, rows = _size(heights, number)
            i, j = cell[chosen].astype(int).T
            low[chosen] = extrema[number][0][j % rows, i % columns]
            high[chosen] = extrema[number][1][j % rows, i % columns]
        first_height, slope = height[alive], rise[alive]
        from_, to = first_height + at * slope, first_height + end * slope
        is_under = from_ <= low
        is_near = ~is_under & (np.minimum(from_, to) <= high)
        with np.errstate(divide="ignore", invalid="ignore"):
            reaching = np.maximum((high - first_height) / slope, at)
        first = np.where((from_ > high) & (slope < 0), reaching, at)
        descends = is_near & (lod > finest)
        part = np.full(len(alive), _NEVER)
        met = is_near & ~descends
        if met.any():
            span = (end - first)[met]
            part[met] = _meet_cell(
                stored[finest],
                cell[met].astype(int),
                (q + first[:, None] * d)[met],
                span[:, None] * d[met],
                (first_height + first * slope)[met],
                span * slope[met],
                finest,
            )
        hit = met & (part <= 1)
        found[alive[is_under]] = at[is_under]
        found[alive[hit]] = (first + part * (end - first))[hit]
        passes = ~is_under & ~hit & ~descends
        missed = passes & (end >= 1)
        found[alive[missed]] = _NEVER
        on = passes & ~missed
        nudged = end + _NUDGE / longest[alive]
        t[alive] = np.where(descends, np.minimum(first, end), np.where(on, nudged, at))
        level[alive] = np.where(descends, lod - 1, np.where(on, np.minimum(lod + 1, top), lod))
        alive = alive[descends | on]
    found[alive] = t[alive]
    return found


def _meet_cell(
    stored: Doubles,
    cell: NDArray[np.int64],
    place: Doubles,
    along: Doubles,
    start: Doubles,
    rise: Doubles,
    level: int,
) -> Doubles:
    """The first part from 0 to 1 of segments at which they are on or below the surface of their
    cell, which is bilinear on the finest level and flat on others; 2 without one."""
    (i, j), (rows, columns) = cell.T, stored.shape

    def texel(right: int, up: int) -> Doubles:
        return np.asarray(stored[(j + up) % rows, (i + right) % columns])

    corner = texel(0, 0)
    right = up = twist = np.zeros_like(corner)
    if level == 0:
        right, up = texel(1, 0) - corner, texel(0, 1) - corner
        twist = texel(1, 1) - corner - right - up
    (x, y), (dx, dy) = (place - cell).T, along.T
    # height of the surface above the segment: a + b t + c t^2
    a = corner + right * x + up * y + twist * x * y - start
    b = right * dx + up * dy + twist * (x * dy + y * dx) - rise
    c = twist * dx * dy
    root = b * b - 4 * a * c
    under = b + np.sqrt(np.maximum(root, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where((root >= 0) & (under > 0), -2 * a / under, _NEVER)
    return np.where(a >= 0, 0.0, np.minimum(part, _NEVER))
