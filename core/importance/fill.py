"""Gives untrained latent texels the values of their nearest trained neighbours.

It copies values and does not average them, because a decoder is not linear in its latents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.network.parameters import Parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Bools, Ints


_NONE = -1


def find_masked(importance: NDArray[Any] | None) -> Bools | None:
    """A mask of the cells with weight 0; None if there are none."""
    if importance is None:
        return None
    masked = np.asarray(importance) == 0
    return masked if masked.any() else None


def fill_masked(parameters: Parameters, masked: Bools | None, first_level: int = 0) -> None:
    """Fills, on each level from `first_level` on, the texels that only masked cells reach. `masked`
    covers the unit square at any size, row 0 at v = 0. Does nothing if no cell or every cell is
    masked."""
    if masked is None or not masked.any() or masked.all():
        return
    for level in range(first_level, parameters.layout.levels):
        texels = parameters.level(level)
        live = live_texels(~masked, *texels.shape[1:3])
        if live.all():
            continue
        source = nearest_live(live)
        flat = texels.reshape(len(texels), live.size, -1)
        dead = np.flatnonzero(~live)
        flat[:, dead] = flat[:, source.ravel()[dead]]


def live_texels(live_cells: Bools, height: int, width: int) -> Bools:
    """The texels of a level that samples in live cells train, by bilinear filtering.

    A sample trains texels whose centres are less than a texel away, with wrap addressing.
    """
    return _spread(_spread(live_cells, height).T, width).T


def _spread(cells: Bools, count: int) -> Bools:
    """Along the first axis: texel t is live if a live cell overlaps texels (t - 1/2, t + 3/2)."""
    size = len(cells)
    texel = np.arange(count)
    # integers in units of 1 / (2 size count)
    low = ((2 * texel - 1) * size) // (2 * count)
    high = -((-(2 * texel + 3) * size) // (2 * count))
    high = np.minimum(high, low + size)
    sums = np.concatenate([np.zeros((1, *cells.shape[1:]), np.int32), cells.cumsum(0, np.int32)])

    def before(end: Ints) -> NDArray[Any]:
        """Number of live cells before this one, in the repeated map."""
        turns = (end // size).reshape(-1, *[1] * (cells.ndim - 1))
        return np.asarray(turns * sums[-1] + sums[end % size])

    return np.asarray(before(high) > before(low))


def nearest_live(live: Bools) -> Ints:
    """The flat index of a nearby live texel for each texel, with wrap addressing.

    Works from coarse to fine: each texel takes the best candidate of its parent and the parent's
    neighbours, then of its own neighbours. It is the nearest for most texels, and slightly farther
    for some.
    """
    number = np.arange(live.size).reshape(live.shape)
    levels = [np.where(live, number, _NONE)]
    while max(levels[-1].shape) > 1:
        levels.append(_first_of_blocks(levels[-1]))
    found = levels.pop()
    scale = 1 << len(levels)
    for level in reversed(levels):
        scale >>= 1
        row, column = np.nonzero(level == _NONE)
        nearest = _Nearest(live.shape, (2 * row + 1) * scale, (2 * column + 1) * scale)
        nearest.offer(found, row // 2, column // 2)
        level[row, column] = nearest.source
        nearest.offer(level, row, column)
        level[row, column] = nearest.source
        found = level
    return found


class _Nearest:
    """The nearest candidate found so far for each of some positions."""

    def __init__(self, shape: tuple[int, ...], y: Ints, x: Ints) -> None:
        """Positions are in half texels of the finest level."""
        self.shape, self.y, self.x = shape, y, x
        self.source: Ints = np.full(len(y), _NONE)
        self._least = np.full(len(y), np.iinfo(np.int64).max)

    def offer(self, found: Ints, row: Ints, column: Ints) -> None:
        """Tries the candidates at these texels of a level and at their neighbours."""
        height, width = self.shape
        for step_row in (-1, 0, 1):
            for step_column in (-1, 0, 1):
                offered = found[
                    (row + step_row) % found.shape[0], (column + step_column) % found.shape[1]
                ]
                distance = _wrapped(self.y - 2 * (offered // width) - 1, 2 * height) ** 2
                distance += _wrapped(self.x - 2 * (offered % width) - 1, 2 * width) ** 2
                nearer = (offered != _NONE) & (distance < self._least)
                np.copyto(self._least, distance, where=nearer)
                np.copyto(self.source, offered, where=nearer)


def _first_of_blocks(numbers: Ints) -> Ints:
    """The largest index of each 2 x 2 block; _NONE where the block has none."""
    even = np.pad(
        numbers, ((0, numbers.shape[0] % 2), (0, numbers.shape[1] % 2)), constant_values=_NONE
    )
    return np.maximum(
        np.maximum(even[::2, ::2], even[::2, 1::2]), np.maximum(even[1::2, ::2], even[1::2, 1::2])
    )


def _wrapped(gap: Ints, period: int) -> Ints:
    gap = np.abs(gap) % period
    return np.minimum(gap, period - gap)
