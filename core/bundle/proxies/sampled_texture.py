"""Trilinear values of a texture with mip levels that wraps, as a texture unit returns them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


def trilinear(levels: Sequence[Doubles], uv: NDArray[Any], level: NDArray[Any]) -> Doubles:
    """[N, ...] of levels [height, width, ...], finest first; fractional levels are clamped."""
    last = len(levels) - 1
    level = np.clip(np.asarray(level, np.float64), 0, last)
    finer = np.floor(level).astype(int)
    part = level - finer
    result = np.zeros((len(level), *levels[0].shape[2:]))
    for number, texels in enumerate(levels):
        # a place counts on one level, or on two with shares that sum to 1
        share = np.where(finer == number, 1 - part, np.where(finer + 1 == number, part, 0))
        (where,) = np.nonzero(share)
        found = _bilinear(texels, np.asarray(uv, np.float64)[where])
        result[where] += share[where].reshape(-1, *[1] * (found.ndim - 1)) * found
    return result


def _bilinear(texels: Doubles, uv: Doubles) -> Doubles:
    height, width = texels.shape[:2]
    x, y = ((uv - np.floor(uv)) * (width, height) - 0.5).T
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    shape = (-1, *[1] * (texels.ndim - 2))
    fx, fy = (x - i).reshape(shape), (y - j).reshape(shape)

    def at(column: NDArray[Any], row: NDArray[Any]) -> Doubles:
        found: Doubles = texels[row % height, column % width]
        return found

    lower = (1 - fx) * at(i, j) + fx * at(i + 1, j)
    upper = (1 - fx) * at(i, j + 1) + fx * at(i + 1, j + 1)
    return np.asarray((1 - fy) * lower + fy * upper, np.float64)
