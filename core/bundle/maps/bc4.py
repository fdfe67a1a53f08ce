"""Blocks of BC4 and BC5: one and two channels of 4 x 4 texels, each with two ends and eight steps.

Khronos Data Format 1.3, "RGTC compressed texture image formats". Blocks with the larger end first
have seven steps between the ends; others, with fixed values of 0 and 1, are not written.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network.latents import bc7
from verdigris.core.network.latents.block_lines import best_ends

Floats = NDArray[np.floating]
Bytes = NDArray[np.uint8]

# Bytes of a channel of a block, its ends, and the last step.
BLOCK_BYTES, _ENDS, _LAST = 8, 2, 7
_INDEX_BITS = 3


def encode(values: Floats) -> Bytes:
    """The blocks [rows, columns, 8 * channels] of values [height, width, channels] from 0 to 1."""
    rows, columns = map(bc7.blocks_of, values.shape[:2])
    texels = bc7.to_blocks(255 * np.clip(values, 0, 1).astype(np.float32))
    channels = texels.shape[-1]
    places = np.ascontiguousarray(texels.reshape(-1, bc7.TEXELS, channels).transpose(1, 0, 2))
    places = places.reshape(bc7.TEXELS, -1)
    ends = best_ends(places, np.full(places.shape[1], _LAST))
    low, high = (np.clip(np.rint(each), 0, 255).astype(np.int64) for each in ends)
    # a block of equal ends has index 0 everywhere
    share = (high - places) / np.maximum(high - low, 1)
    steps = np.clip(np.rint(_LAST * share), 0, _LAST).astype(np.int64)
    indices = np.where(steps == 0, 0, np.where(steps == _LAST, 1, steps + 1))
    indices[:, high <= low] = 0
    bits = [high >> bit & 1 for bit in range(8)] + [low >> bit & 1 for bit in range(8)]
    bits += [each >> bit & 1 for each in indices for bit in range(_INDEX_BITS)]
    packed = np.packbits(np.stack(bits, -1).astype(np.uint8), axis=-1, bitorder="little")
    return packed.reshape(rows, columns, channels * BLOCK_BYTES)


def decode(blocks: Bytes, height: int, width: int) -> NDArray[np.float32]:
    """Values [height, width, channels] from 0 to 1 of blocks that `encode` has written."""
    rows, columns, size = blocks.shape
    channels = size // BLOCK_BYTES
    flat = blocks.reshape(-1, channels, BLOCK_BYTES)
    ends = flat[..., :_ENDS].astype(np.float32)
    bits = np.unpackbits(flat[..., _ENDS:], axis=-1, bitorder="little").astype(np.int64)
    indices = bits.reshape(-1, channels, bc7.TEXELS, _INDEX_BITS) @ (1 << np.arange(_INDEX_BITS))
    steps = np.where(indices == 0, 0, np.where(indices == 1, _LAST, indices - 1)) / _LAST
    found = ends[..., :1] * (1 - steps) + ends[..., 1:] * steps
    texels = found.transpose(0, 2, 1).reshape(rows, columns, bc7.TEXELS, channels)
    return np.asarray(bc7.from_blocks(texels, height, width) / 255, np.float32)
