"""Gives latent texels that no sample has trained the values of their nearest trained neighbours.

Copies rather than means: a decoder of averaged latents does not give the average of what it
decodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.network.parameters import Parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Ints = NDArray[np.int64]

_NONE = -1


def masked_of(importance: NDArray[Any] | None) -> Bools | None:
    """Where a map of weights leaves the surface out, or None if it does so nowhere."""
    if importance is None:
        return None
    masked = np.asarray(importance) == 0
    return masked if masked.any() else None


def fill_masked(parameters: Parameters, masked: Bools | None, first_level: int = 0) -> None:
    """Fills, on every level from this one on, the texels that only masked places reach; `masked` is
    a map of uv of any size, row 0 at v = 0. Nothing masked, or nothing else, leaves all as it
    is."""
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
    """The texels of a level that samples from the map's live cells reach by bilinear filtering.

    A place reaches the texels whose centres are less than a texel away, over the edges too.
    """
    return _spread(_spread(live_cells, height).T, width).T


def _spread(cells: Bools, count: int) -> Bools:
    """Along the first axis: texel t is live if a live cell meets (t - 1/2, t + 3/2) texels."""
    size = len(cells)
    texel = np.arange(count)
    # whole numbers in units of 1 / (2 size count)
    low = ((2 * texel - 1) * size) // (2 * count)
    high = -((-(2 * texel + 3) * size) // (2 * count))
    high = np.minimum(high, low + size)
    sums = np.concatenate([np.zeros((1, *cells.shape[1:]), np.int32), cells.cumsum(0, np.int32)])

    def before(end: Ints) -> NDArray[Any]:
        """Live cells before this one, of the map that repeats."""
        turns = (end // size).reshape(-1, *[1] * (cells.ndim - 1))
        return np.asarray(turns * sums[-1] + sums[end % size])

    return np.asarray(before(high) > before(low))


def nearest_live(live: Bools) -> Ints:
    """The flat number of a live texel next to each, by distance with wrap addressing.

    From coarse to fine: each texel takes the best of what its parent and the parent's neighbours
    found, then of what its own neighbours did. The nearest for most, and hardly farther for others.
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
    """The nearest of the live texels that some places were offered."""

    def __init__(self, shape: tuple[int, ...], y: Ints, x: Ints) -> None:
        """The places are in halves of texels of the finest level."""
        self.shape, self.y, self.x = shape, y, x
        self.source: Ints = np.full(len(y), _NONE)
        self._least = np.full(len(y), np.iinfo(np.int64).max)

    def offer(self, found: Ints, row: Ints, column: Ints) -> None:
        """What was found at these places of a level and around them."""
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
    """A number out of each block of 2 x 2 that has one; the last row or column may be alone."""
    even = np.pad(
        numbers,
        ((0, numbers.shape[0] % 2), (0, numbers.shape[1] % 2)),
        constant_values=_NONE,
    )
    return np.maximum(
        np.maximum(even[::2, ::2], even[::2, 1::2]), np.maximum(even[1::2, ::2], even[1::2, 1::2])
    )


def _wrapped(gap: Ints, period: int) -> Ints:
    gap = np.abs(gap) % period
    return np.minimum(gap, period - gap)
