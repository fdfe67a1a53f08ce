"""Fits blocks of BC7 to latents: the kind of each block, its line, and its scalar channel.

A layer of four channels in a block of 4 x 4 texels lies on a line, or three of its channels do and
the fourth is free. The kind of least expected square error is chosen: distances from the line, and
the rounding of indices and endpoints. Errors of a channel count by the mean square of its
gradients, where that is known. latent_blocks.slang has the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network import bc7
from verdigris.core.network.parameters import FloatArray, Parameters
from verdigris.core.network.quantise import BYTE, LatentRange, dequantise

QUAD = 4
# Squarings of a covariance: its 64th power has the longest axis in every column.
_SQUARINGS = 6
# Least importance of a channel, as a part of the most important one.
_LEAST_SHARE = 1e-4
_TINY = 1e-30
# Square errors of rounded endpoints, in squared bytes: of a channel of a line, and of a scalar.
_LINE_NOISE = np.array([0.3, *[5.6] * 8, *[0.34] * 4], np.float32)
_SCALAR_NOISE = np.array([0, *[1.4] * 8, *[0.08] * 4], np.float32)
# Of the errors of its endpoints, a texel between them has this part on average.
_INNER_SHARE = 0.6
# Choices of the free channel; the last has none.
_FREE = np.arange(QUAD + 1)


class Fit(NamedTuple):
    """Blocks that are fitted to texels [..., 16, 4]."""

    texels: FloatArray
    """The texels on their lines, [..., 16, 4]."""
    first: FloatArray
    """First ends [..., 4] of lines and scalars, not rounded."""
    second: FloatArray
    """Second ends [..., 4]."""
    kinds: NDArray[np.int64]
    """Kinds [...] of bc7.py."""


def to_quads(texels: FloatArray) -> FloatArray:
    """Blocks of a level [height, width, channels] as [blocks, layers, 16, 4]."""
    blocks = bc7.to_blocks(texels)
    layers = texels.shape[-1] // QUAD
    parts = blocks.reshape(-1, bc7.TEXELS, layers, QUAD)
    return np.ascontiguousarray(parts.swapaxes(1, 2))


def from_quads(quads: FloatArray, height: int, width: int) -> FloatArray:
    """The inverse of to_quads."""
    rows, columns = bc7.blocks_of(height), bc7.blocks_of(width)
    parts = quads.swapaxes(1, 2).reshape(rows, columns, bc7.TEXELS, -1)
    return bc7.from_blocks(parts, height, width)


def fit_blocks(texels: FloatArray, byte: FloatArray, importance: FloatArray | None = None) -> Fit:
    """Fits blocks to texels [..., 16, 4]. `byte` [..., 4] is the width of a byte, or 0 to neglect
    the rounding of endpoints; `importance` [..., 4] is that of a square error."""
    mean = texels.mean(-2, keepdims=True)
    unit = np.ones_like(mean)
    if importance is not None:
        least = _LEAST_SHARE * importance.max(-1, keepdims=True) + _TINY
        unit = np.sqrt(np.maximum(importance, least))[..., None, :]
        # only ratios count: numbers near 1 neither overflow nor vanish
        unit = unit / unit.max(-1, keepdims=True)
    scaled = (texels - mean) * unit
    covariance = np.einsum("...tc,...td->...cd", scaled, scaled)
    # the free channel, [..., 5, ...]
    on_line = (_FREE[:, None] != np.arange(QUAD)).astype(texels.dtype)
    masked = covariance[..., None, :, :] * on_line[:, None, :] * on_line[:, :, None]
    axis = longest_axis(masked)
    place = np.einsum("...tc,...fc->...ft", scaled, axis)
    ends = place.min(-1), place.max(-1)
    explained = np.einsum("...fc,...fcd,...fd->...f", axis, masked, axis)
    beside = np.trace(masked, axis1=-2, axis2=-1) - explained
    error = _expected_error(beside, ends, scaled, on_line, (unit[..., 0, :] * byte) ** 2)
    kinds = error.argmin(-1)
    free = bc7.SCALAR[kinds]

    def chosen(values: FloatArray) -> FloatArray:
        """The values of the chosen free channel, of [..., 5, n]."""
        index = np.broadcast_to(free[..., None, None], (*free.shape, 1, values.shape[-1]))
        return np.take_along_axis(values, index, -2)[..., 0, :]

    along = (chosen(axis) / unit[..., 0, :])[..., None, :]
    is_free = (np.arange(QUAD) == free[..., None])[..., None, :]
    moved = np.where(is_free, texels, mean + chosen(place)[..., None] * along)
    low, high = (chosen(end[..., None])[..., None] * along + mean for end in ends)
    first = np.where(is_free, texels.min(-2, keepdims=True), low)[..., 0, :]
    second = np.where(is_free, texels.max(-2, keepdims=True), high)[..., 0, :]
    return Fit(moved, first, second, kinds)


def _expected_error(
    beside: FloatArray,
    ends: tuple[FloatArray, FloatArray],
    scaled: FloatArray,
    on_line: FloatArray,
    byte_square: FloatArray,
) -> FloatArray:
    """The expected square error of each kind, [..., kinds]."""
    reach = scaled.max(-2) - scaled.min(-2)
    reach_of_free = np.concatenate([reach, np.zeros_like(reach[..., :1])], -1)
    line_bytes = byte_square @ on_line.T
    free_bytes = np.concatenate([byte_square, np.zeros_like(reach[..., :1])], -1)
    free = bc7.SCALAR
    steps = ((ends[1] - ends[0])[..., free] / bc7.LINE_LAST) ** 2
    steps = steps + (reach_of_free[..., free] / bc7.SCALAR_LAST) ** 2
    noise = line_bytes[..., free] * _LINE_NOISE + free_bytes[..., free] * _SCALAR_NOISE
    result = beside[..., free] + np.float32(bc7.TEXELS) * (steps / 12 + _INNER_SHARE * noise)
    return np.asarray(result)


def longest_axis(covariance: FloatArray) -> FloatArray:
    """Of symmetric matrices [..., 4, 4]: their first principal axis [..., 4], of length 1 or 0."""
    power = covariance
    tiny = power.dtype.type(_TINY)
    for _ in range(_SQUARINGS):
        power = power / (np.trace(power, axis1=-2, axis2=-1)[..., None, None] + tiny)
        power = power @ power
    diagonal = np.diagonal(power, axis1=-2, axis2=-1)
    column = diagonal.argmax(-1)[..., None, None]
    axis = np.take_along_axis(power, np.broadcast_to(column, (*power.shape[:-1], 1)), -1)[..., 0]
    length = np.sqrt((axis * axis).sum(-1, keepdims=True))
    return np.asarray(axis / np.where(length > 0, length, 1))


def encode(
    texels: FloatArray, latent_range: LatentRange, squares: FloatArray | None = None
) -> bc7.Bytes:
    """The blocks [layers, rows, columns, 16] of a level [height, width, channels]; `squares` of the
    same shape are the mean squares of gradients."""
    height, width, channels = texels.shape
    quads = to_quads(texels)
    fit = fit_blocks(
        quads, bytes_of(latent_range), None if squares is None else to_quads(squares).mean(-2)
    )
    first, second = (
        bc7.quantise_endpoints(as_bytes(end[..., None, :], latent_range)[..., 0, :], fit.kinds)
        for end in (fit.first, fit.second)
    )
    indices = bc7.indices_of(as_bytes(quads, latent_range), first, second, fit.kinds)
    blocks = bc7.pack(first, second, fit.kinds, *indices)
    size = bc7.blocks_of(height), bc7.blocks_of(width)
    return np.moveaxis(blocks, 1, 0).reshape(channels // QUAD, *size, bc7.BLOCK_BYTES)


def bytes_of(latent_range: LatentRange) -> FloatArray:
    """Widths of a byte [layers, 4]."""
    return (latent_range.scale / np.float32(BYTE)).reshape(-1, QUAD)


def as_bytes(quads: FloatArray, latent_range: LatentRange) -> FloatArray:
    """Latents [blocks, layers, texels, 4] in fractional bytes."""
    offset = latent_range.offset.reshape(-1, 1, QUAD)
    return np.asarray((quads - offset) / bytes_of(latent_range)[:, None])


def compressed_copy(
    parameters: Parameters, ranges: Sequence[LatentRange], squares: FloatArray | None = None
) -> Parameters:
    """A copy with latents as blocks of BC7 hold them."""
    result = parameters.copy()
    weights = None if squares is None else replace(parameters, latents=squares)
    for level in range(parameters.layout.levels):
        for material, values in enumerate(result.level(level)):
            weight = weights.level(level)[material] if weights else None
            blocks = encode(values, ranges[material], weight)
            stored = np.concatenate(list(decode(blocks, *values.shape[:2])), -1)
            values[:] = dequantise(stored, ranges[material])
    return result


def decode(blocks: bc7.Bytes, height: int, width: int) -> bc7.Bytes:
    """The bytes [layers, height, width, 4] of blocks [layers, rows, columns, 16]."""
    return np.stack([bc7.from_blocks(bc7.decode(each), height, width) for each in blocks])
