"""BC7 blocks of mode 6, in numpy: the reference of what a texture unit decodes.

A block of 4 x 4 texels has two endpoints of four channels and an index of 4 bits for each texel. A
channel of an endpoint has 7 bits, and a last bit that the four channels share (the p-bit). Khronos
Data Format 1.3, "BPTC compressed texture image formats"; latent_blocks.slang has the same numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network.parameters import FloatArray

# Texels a side of a block, texels of a block, and its bytes.
SIDE, TEXELS, BLOCK_BYTES = 4, 16, 16
# The largest index.
LAST = 15
_CHANNELS = 4
# The mode is the place of the lowest bit that is set.
_MODE, _MODE_BITS = 1 << 6, 7
_ENDPOINT_BITS = 7
# The first texel's index has its highest bit left out.
_ANCHOR_BIT = 8
# Shares of the second endpoint in 64ths, by index.
WEIGHTS = np.array([(64 * index + 7) // LAST for index in range(LAST + 1)], np.int64)

Bytes = NDArray[np.uint8]


def blocks_of(size: int) -> int:
    """Blocks along a side of so many texels."""
    return -(-size // SIDE)


def quantise_endpoints(endpoints: FloatArray) -> FloatArray:
    """The nearest endpoints [..., 4] that a block can have, in 0 to 255. All channels are even, or
    all are odd."""
    values = np.clip(endpoints, 0, 255)
    half = values.dtype.type(0.5)
    even = np.minimum(2 * np.floor(values * half + half), 254)
    odd = np.minimum(2 * np.floor(values * half) + 1, 255)
    errors = [((values - each) ** 2).sum(-1, keepdims=True) for each in (even, odd)]
    return np.asarray(np.where(errors[0] <= errors[1], even, odd), values.dtype)


def indices_of(texels: FloatArray, first: FloatArray, second: FloatArray) -> NDArray[np.int64]:
    """Indices [..., 16] of texels [..., 16, 4] between two endpoints [..., 4]."""
    along = second - first
    square = (along * along).sum(-1)
    place = np.einsum("...tc,...c->...t", texels - first[..., None, :], along)
    share = place / np.where(square > 0, square, 1)[..., None]
    return np.floor(np.clip(share, 0, 1) * LAST + share.dtype.type(0.5)).astype(np.int64)


def decode_indices(
    first: NDArray[Any], second: NDArray[Any], indices: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The bytes [..., 16, 4] of a block's texels."""
    weight = WEIGHTS[indices][..., None]
    first, second = (each.astype(np.int64)[..., None, :] for each in (first, second))
    result: NDArray[np.int64] = ((64 - weight) * first + weight * second + 32) >> 6
    return result


def pack(first: NDArray[Any], second: NDArray[Any], indices: NDArray[np.int64]) -> Bytes:
    """The blocks [..., 16] of these endpoints and indices."""
    ends = np.stack([first, second], -1).astype(np.int64)
    # the first index must be below 8: the other order of endpoints has the other indices
    is_swapped = indices[..., :1] >= _ANCHOR_BIT
    ends = np.where(is_swapped[..., None], ends[..., ::-1], ends)
    indices = np.where(is_swapped, LAST - indices, indices)
    fields = [(np.full(indices.shape[:-1], _MODE), _MODE_BITS)]
    fields += [
        (ends[..., channel, end] >> 1, _ENDPOINT_BITS)
        for channel in range(_CHANNELS)
        for end in range(2)
    ]
    fields += [(ends[..., 0, end] & 1, 1) for end in range(2)]
    fields += [(indices[..., texel], 4 if texel else 3) for texel in range(TEXELS)]
    bits = [
        (values >> bit & 1).astype(np.uint8) for values, count in fields for bit in range(count)
    ]
    return np.packbits(np.stack(bits, -1), axis=-1, bitorder="little")


def unpack(blocks: Bytes) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Endpoints [..., 4] and indices [..., 16] of blocks of mode 6."""
    bits = np.unpackbits(blocks, axis=-1, bitorder="little").astype(np.int64)

    def number(start: int, count: int) -> NDArray[np.int64]:
        return np.asarray(bits[..., start : start + count] @ (1 << np.arange(count)))

    places = _MODE_BITS + _ENDPOINT_BITS * np.arange(2 * _CHANNELS)
    last = _MODE_BITS + 2 * _CHANNELS * _ENDPOINT_BITS
    ends = [
        np.stack([2 * number(place, _ENDPOINT_BITS) + bits[..., last + end] for place in part], -1)
        for end, part in enumerate((places[::2], places[1::2]))
    ]
    start = last + 2
    indices = [number(start, 3), *(number(start + 4 * texel - 1, 4) for texel in range(1, TEXELS))]
    return ends[0], ends[1], np.stack(indices, -1)


def is_known(blocks: Bytes) -> NDArray[np.bool_]:
    """Whether each block is of mode 6."""
    return np.asarray(blocks[..., 0] & (2 * _MODE - 1) == _MODE)


def decode(blocks: Bytes) -> Bytes:
    """The bytes [..., 16, 4] of the texels of blocks [..., 16], row by row."""
    return decode_indices(*unpack(blocks)).astype(np.uint8)


def to_blocks(texels: NDArray[Any]) -> NDArray[Any]:
    """Texels [height, width, channels] as [rows, columns, 16, channels]. Texels beyond the edge
    repeat it."""
    height, width, channels = texels.shape
    rows, columns = blocks_of(height), blocks_of(width)
    missing = SIDE * rows - height, SIDE * columns - width
    if any(missing):
        texels = np.pad(texels, ((0, missing[0]), (0, missing[1]), (0, 0)), "edge")
    parts = texels.reshape(rows, SIDE, columns, SIDE, channels).swapaxes(1, 2)
    return parts.reshape(rows, columns, TEXELS, channels)


def from_blocks(blocks: NDArray[Any], height: int, width: int) -> NDArray[Any]:
    """The inverse of to_blocks."""
    rows, columns, _, channels = blocks.shape
    parts = blocks.reshape(rows, columns, SIDE, SIDE, channels).swapaxes(1, 2)
    return parts.reshape(rows * SIDE, columns * SIDE, channels)[:height, :width]
