"""Extends the covered texels of a map at their edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Bools = NDArray[np.bool_]
    Ints = NDArray[np.integer[Any]]

_FAR = np.int32(1 << 20)


def dilate(
    weights: Floats, covered: Bools, reach: int, wraps: bool = False
) -> tuple[Floats, Bools]:
    """Gives texels within `reach` texels of a covered one the weight of the nearest covered texel.
    Returns weights and coverage. With `wraps`, the map repeats."""
    if reach < 1 or covered.all() or not covered.any():
        return weights, covered
    if wraps:
        reach = min(reach, *weights.shape)
        padded: Floats = np.pad(weights, reach, mode="wrap")
        padded_cover: Bools = np.pad(covered, reach, mode="wrap")
        grown = _dilate(padded, padded_cover, reach)
        inner = slice(reach, -reach)
        return grown[0][inner, inner], grown[1][inner, inner]
    return _dilate(weights, covered, reach)


def _dilate(weights: Floats, covered: Bools, reach: int) -> tuple[Floats, Bools]:
    """Finds the nearest covered texel in each row, then the best of the rows above and below."""
    column = _nearest_in_row(covered)
    away = column - np.arange(covered.shape[1], dtype=np.int32)
    along = np.minimum(np.abs(away), _FAR // 512) ** 2
    best = along.copy()
    row_step = np.zeros(covered.shape, np.int32)
    for size in range(1, reach + 1):
        # rows further away cannot have a nearer texel
        if size * size >= best.max():
            break
        for step in (size, -size):
            there = slice(max(0, step), min(len(best), len(best) + step))
            here = slice(max(0, -step), min(len(best), len(best) - step))
            distance = along[there] + step * step
            nearer = distance < best[here]
            np.copyto(best[here], distance, where=nearer)
            np.copyto(row_step[here], step, where=nearer)
    found = np.flatnonzero((best <= reach * reach) & ~covered)
    row = found // covered.shape[1] + row_step.ravel()[found]
    source = row * covered.shape[1] + column[row, found % covered.shape[1]]
    grown, grown_cover = weights.copy(), covered.copy()
    grown.ravel()[found] = weights.ravel()[source]
    grown_cover.ravel()[found] = True
    return grown, grown_cover


def _nearest_in_row(covered: Bools) -> Ints:
    """The column of the nearest covered texel in the row; far outside if there is none."""
    columns = np.arange(covered.shape[1], dtype=np.int32)
    before = np.maximum.accumulate(np.where(covered, columns, -_FAR), 1)
    after = np.minimum.accumulate(np.where(covered, columns, _FAR)[:, ::-1], 1)[:, ::-1]
    return np.where(columns - before <= after - columns, before, after)
