"""Other sizes of textures that tile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def resized(texels: Floats, rows: int, columns: int) -> Floats:
    """Linear interpolation; means of areas where it becomes smaller. Edges repeat the other side,
    as textures that tile."""
    for axis, size in ((0, rows), (1, columns)):
        if texels.shape[axis] != size:
            texels = np.moveaxis(_resized_rows(np.moveaxis(texels, axis, 0), size), 0, axis)
    return np.ascontiguousarray(texels, np.float32)


def _resized_rows(texels: Floats, size: int) -> Floats:
    before = len(texels)
    if size >= before:
        at = (np.arange(size) + 0.5) * before / size - 0.5
        low = np.floor(at).astype(int)
        share = (at - low).reshape(-1, *[1] * (texels.ndim - 1))
        return np.asarray(texels[low % before] * (1 - share) + texels[(low + 1) % before] * share)
    ends = np.arange(size + 1) * before / size
    sums = np.concatenate([np.zeros_like(texels[:1], float), np.cumsum(texels, 0, float)])
    low = np.minimum(ends.astype(int), before - 1)
    share = (ends - low).reshape(-1, *[1] * (texels.ndim - 1))
    at_ends = sums[low] + share * texels[low]
    return np.asarray(np.diff(at_ends, axis=0) * size / before)


def level_sizes(rows: int, columns: int) -> list[tuple[int, int]]:
    """Rows and columns of all mip levels, down to one texel."""
    count = max(rows, columns).bit_length()
    return [(max(rows >> level, 1), max(columns >> level, 1)) for level in range(count)]
