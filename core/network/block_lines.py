"""Lines through the latents of a block: what blocks of BC7 can hold, before rounding.

The four channels of a layer lie on a line within a block. Each block has the line of least square
error, in units in which all channels count alike: by the mean square of their gradients, where that
is known. latent_blocks.slang has the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verdigris.core.network import bc7
from verdigris.core.network.parameters import FloatArray, Parameters
from verdigris.core.network.quantise import BYTE, LatentRange, dequantise

QUAD = 4
# Squarings of a covariance: its 64th power has the longest axis in every column.
_SQUARINGS = 6
# Least importance of a channel, as a part of the most important one.
_LEAST_SHARE = 1e-4
_TINY = 1e-30


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


def fit_lines(
    texels: FloatArray, importance: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The texels [..., 16, 4] moved to their lines, and the lines' ends [..., 4]; `importance`
    [..., 4] is that of a square error, by channel."""
    mean = texels.mean(-2, keepdims=True)
    around = texels - mean
    unit = np.ones_like(mean)
    if importance is not None:
        least = _LEAST_SHARE * importance.max(-1, keepdims=True) + _TINY
        unit = np.sqrt(np.maximum(importance, least))[..., None, :]
        # only ratios count: numbers near 1 neither overflow nor vanish
        unit = unit / unit.max(-1, keepdims=True)
    scaled = around * unit
    axis = _longest_axis(np.einsum("...tc,...td->...cd", scaled, scaled))
    place = np.einsum("...tc,...c->...t", scaled, axis)[..., None]
    along = axis[..., None, :] / unit
    ends = [(mean + end(place, -2, keepdims=True) * along)[..., 0, :] for end in (np.min, np.max)]
    return mean + place * along, ends[0], ends[1]


def _longest_axis(covariance: FloatArray) -> FloatArray:
    """Of symmetric matrices [..., 4, 4]: their first principal axis [..., 4], of length 1 or 0."""
    power = covariance
    for _ in range(_SQUARINGS):
        trace = np.trace(power, axis1=-2, axis2=-1)[..., None, None]
        power = power / (trace + power.dtype.type(_TINY))
        power = power @ power
    diagonal = np.diagonal(power, axis1=-2, axis2=-1)
    column = diagonal.argmax(-1)[..., None, None]
    axis = np.take_along_axis(power, np.broadcast_to(column, (*power.shape[:-1], 1)), -1)[..., 0]
    length = np.sqrt((axis * axis).sum(-1, keepdims=True))
    return np.asarray(axis / np.where(length > 0, length, 1))


def quantised_ends(ends: FloatArray, latent_range: LatentRange, layer: slice) -> FloatArray:
    """Ends [..., 4] of lines of a layer as endpoints of blocks, in 0 to 255."""
    unit = latent_range.scale[layer] / np.float32(BYTE)
    return bc7.quantise_endpoints((ends - latent_range.offset[layer]) / unit)


def encode(texels: FloatArray, latent_range: LatentRange) -> bc7.Bytes:
    """The blocks [layers, rows, columns, 16] of a level [height, width, channels]."""
    height, width, channels = texels.shape
    unit = latent_range.scale / np.float32(BYTE)
    quads = to_quads((texels - latent_range.offset) / unit)
    _, low, high = fit_lines(quads)
    first, second = bc7.quantise_endpoints(low), bc7.quantise_endpoints(high)
    blocks = bc7.pack(first, second, bc7.indices_of(quads, first, second))
    size = bc7.blocks_of(height), bc7.blocks_of(width)
    return np.moveaxis(blocks, 1, 0).reshape(channels // QUAD, *size, bc7.BLOCK_BYTES)


def compressed_copy(parameters: Parameters, ranges: Sequence[LatentRange]) -> Parameters:
    """A copy with latents as blocks of BC7 hold them."""
    result = parameters.copy()
    for level in range(parameters.layout.levels):
        for values, latent_range in zip(result.level(level), ranges, strict=True):
            layers = decode(encode(values, latent_range), *values.shape[:2])
            stored = np.concatenate(list(layers), -1)
            values[:] = dequantise(stored, latent_range)
    return result


def decode(blocks: bc7.Bytes, height: int, width: int) -> bc7.Bytes:
    """The bytes [layers, height, width, 4] of blocks [layers, rows, columns, 16]."""
    return np.stack([bc7.from_blocks(bc7.decode(each), height, width) for each in blocks])
