"""Maps of emission and opacity, which do not depend on light and need no network.

Coarser levels are means, because both average linearly. Maps have the grid of the latents: row 0 is
at v = 0.5 / height.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from verdigris.core.base.array_types import Doubles, Floats
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.process.profile import profiled

if TYPE_CHECKING:
    from verdigris.core.material.evaluator import DeviceMaterial


# Places that are averaged along a side of the map, and along a side of a texel. A small map of a
# large texture needs more places per texel.
_POINTS_A_SIDE = 2048
_LEAST_PLACES, _MOST_PLACES = 4, 16
_POINTS_AT_ONCE = 1 << 20
_GOLDEN = (1 + 5**0.5) / 2
# The least coverage that rounds to an opaque byte.
_OPAQUE = 1 - 0.5 / 255
# Number of view directions that are compared with the normal.
_VIEWS = 1 << 14
_LEAST_COSINE = 0.1
_SEED = 31


class UnlitMaps(NamedTuple):
    """Emission and coverage of a material, seen along the normal."""

    emission: Floats | None
    """[height, width, 3] in linear Rec.709, multiplied by the coverage; None without emission."""

    coverage: Floats | None
    """[height, width]: 1 is opaque, 0 a hole; None if all of it is opaque."""


@profiled("emission and opacity")
def unlit_maps(teacher: DeviceMaterial, width: int, height: int | None = None) -> UnlitMaps:
    """Means over each texel of a width x height grid, or of a square one."""
    height = width if height is None else height
    if min(width, height) < 1:
        raise SettingsError(f"a map has {min(width, height)} texels on a side: use at least 1")
    if teacher.is_dark_and_opaque:
        return UnlitMaps(None, None)
    means = average(teacher, width, height)
    emission, coverage = means[..., :3].copy(), means[..., 3].copy()
    return UnlitMaps(
        emission if emission.any() else None, coverage if coverage.min() < _OPAQUE else None
    )


def levels(finest: Floats) -> list[Floats]:
    """The map and its coarser levels down to one texel. Each level averages the one before."""
    height, width = finest.shape[:2]
    for side in (height, width):
        if side < 1 or side & (side - 1):
            raise SettingsError(f"a map has {width} x {height} texels: use powers of two")
    found = [finest]
    while max(found[-1].shape[:2]) > 1:
        last = found[-1].astype(np.float64)
        rows, columns = (2 if side > 1 else 1 for side in last.shape[:2])
        shape = (last.shape[0] // rows, rows, last.shape[1] // columns, columns, *last.shape[2:])
        found.append(last.reshape(shape).mean((1, 3)).astype(np.float32))
    return found


def view_dependence(teacher: DeviceMaterial) -> float:
    """How much emission and coverage depend on the view direction, which maps ignore: the larger of
    the mean relative change of the emission and the mean change of the coverage."""
    random = np.random.default_rng(_SEED)
    uv = random.random((_VIEWS, 2), np.float32)
    cosine = _LEAST_COSINE + (1 - _LEAST_COSINE) * random.random(_VIEWS)
    turn = 2 * math.pi * random.random(_VIEWS)
    sine = np.sqrt(1 - cosine**2)
    aside = np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine], 1).astype(np.float32)
    above = _straight_up(_VIEWS)
    ahead, other = teacher.unlit(uv, above), teacher.unlit(uv, aside)
    return _change(ahead, other)


def live_dependence(teacher: DeviceMaterial) -> tuple[float, ...]:
    """For each live input, how much emission and coverage change from its default to an end of its
    range while the others have their defaults. Maps store the values for the defaults."""
    if teacher.is_dark_and_opaque or not teacher.live:
        return (0.0,) * len(teacher.live)
    uv, above = np.random.default_rng(_SEED).random((_VIEWS, 2), np.float32), _straight_up(_VIEWS)

    def seen(values: tuple[float, ...]) -> Floats:
        live = np.tile(np.array(values, np.float32), (_VIEWS, 1))
        return teacher.unlit(uv, above, live=live)

    found: list[float] = []
    stored = seen(teacher.live)
    for index in range(len(teacher.live)):
        before, after = teacher.live[:index], teacher.live[index + 1 :]
        changes = [_change(stored, seen((*before, end, *after))) for end in (0.0, 1.0)]
        found.append(max(changes))
    return tuple(found)


def _change(before: Floats, after: Floats) -> float:
    """The larger of the relative change of the emission and the mean change of the coverage."""
    most = max(float(before[:, :3].sum()), float(after[:, :3].sum()), 1e-6)
    change = np.abs(after - before)
    return max(float(change[:, :3].sum()) / most, float(change[:, 3].mean()))


def average(teacher: DeviceMaterial, width: int, height: int, places: int = 0) -> Floats:
    """The mean emission and coverage of each texel, [height, width, 4], over this many places along
    its side, by default as many as a small map needs."""
    least = min(_MOST_PLACES, max(_LEAST_PLACES, -(-_POINTS_A_SIDE // min(width, height))))
    places = places or least
    result = np.empty((height, width, 4), np.float32)
    aside = _spread(places**2)
    for rows in _bands(width, height):
        row, column = np.mgrid[rows, 0:width]
        corner = np.stack([column.ravel(), row.ravel()], 1)
        sums = np.zeros((row.size, 4), np.float64)
        at_once = max(1, _POINTS_AT_ONCE // row.size)
        for first in range(0, len(aside), at_once):
            middle = (corner + aside[first : first + at_once, None]) / (width, height)
            uv = middle.astype(np.float32).reshape(-1, 2)
            values = teacher.unlit(uv, _straight_up(len(uv)))
            sums += values.reshape(-1, row.size, 4).sum(0, np.float64)
        result[rows] = (sums / len(aside)).reshape(-1, width, 4)
    return result


def _spread(count: int) -> Doubles:
    """A lattice in the unit square, (count, 2), symmetric about its centre; `count` is even. No two
    places share a row or column: such places might all miss the texels of an image."""
    step = int(count / _GOLDEN) | 1
    return (np.arange(count)[:, None] + 0.5) / count * (1, step) % 1


def _bands(width: int, height: int) -> Iterator[slice]:
    rows = max(1, _POINTS_AT_ONCE // width)
    for first in range(0, height, rows):
        yield slice(first, min(height, first + rows))


def _straight_up(count: int) -> Floats:
    return np.tile(np.array([0, 0, 1], np.float32), (count, 1))
