"""Latent texels: bilinear gather with wrap addressing, its transpose, and mip levels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network.spec import COARSE_WIDTH, LatentLayout

IndexArray = NDArray[np.integer[Any]]


def texel_centres(texels: IndexArray, size: int) -> NDArray[np.float32]:
    """The uv [N, 2] of texel centres of a square level, by row-major index."""
    return ((np.stack([texels % size, texels // size], 1) + 0.5) / size).astype(np.float32)


def footprint_width(size: int, level: int) -> float:
    """The width in uv of the footprint that a texel represents on a level that is `size` wide."""
    return min(1.0, (COARSE_WIDTH if level else 1) / size)


def level_for_lod(layout: LatentLayout, lod: FloatArray) -> FloatArray:
    """The fractional level whose texels represent a footprint of 2^lod finest texels."""
    return np.asarray(np.clip(np.maximum(lod / 2, lod - 1), 0, layout.levels - 1))


def corners(
    layout: LatentLayout, uv: FloatArray, level: IndexArray | int, material: IndexArray | int = 0
) -> tuple[IndexArray, FloatArray]:
    """Flat indices and weights, both [4, N], of the four texels around each uv [2, N]."""
    sizes = np.array([layout.level_size(index) for index in range(layout.levels)])
    height, width = sizes[level, 0], sizes[level, 1]
    start = np.array(layout.level_offsets)[level] + np.asarray(material) * height * width

    # wrapping before scaling keeps the precision of distant tiles
    x = (uv[0] - np.floor(uv[0])) * width.astype(uv.dtype) - uv.dtype.type(0.5)
    y = (uv[1] - np.floor(uv[1])) * height.astype(uv.dtype) - uv.dtype.type(0.5)
    column, row = np.floor(x), np.floor(y)
    fx, fy = x - column, y - row
    # from -1 to size - 1: comparisons are faster than a remainder
    left, top = column.astype(np.int64), row.astype(np.int64)
    right, bottom = left + 1, top + 1
    left += width * (left < 0)
    top += height * (top < 0)
    right -= width * (right == width)
    bottom -= height * (bottom == height)

    upper, lower = start + top * width, start + bottom * width
    indices = np.stack([upper + left, upper + right, lower + left, lower + right])
    weights = np.stack([(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy])
    return indices, weights


def gather(latents: FloatArray, indices: IndexArray, weights: FloatArray) -> FloatArray:
    """Interpolated latents, [channels, N]."""
    return np.asarray(np.einsum("knc,kn->cn", latents[indices], weights))


def scatter(
    gradient: FloatArray, indices: IndexArray, weights: FloatArray, texel_count: int
) -> FloatArray:
    """Gradient by the latents [texels, channels], given the gradient by the gathered values."""
    result = np.zeros((texel_count, len(gradient)), gradient.dtype)
    np.add.at(result, indices, np.einsum("cn,kn->knc", gradient, weights))
    return result


def downsample(texels: FloatArray) -> FloatArray:
    """Means of 2 x 2 texels of [height, width, channels]; a side of one texel stays."""
    height, width, channels = texels.shape
    rows, columns = min(height, 2), min(width, 2)
    blocks = texels.reshape(height // rows, rows, width // columns, columns, channels)
    return np.asarray(blocks.mean((1, 3)))
