"""Textures of BC7 for colours and data, of BC5 for two channels, and of BC4 for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verdigris.core.bundle.files.ktx2 import BC4, BC5, BC7, BC7_SRGB, write_ktx2
from verdigris.core.network.latents import bc7, block_lines
from verdigris.core.network.latents.block_lines import best_ends
from verdigris.core.network.latents.quantise import LatentRange

Floats = NDArray[np.floating]
Bytes = NDArray[np.uint8]
# Bytes of a channel of a block, its ends, and the last step.
_BLOCK_BYTES, _ENDS, _LAST = 8, 2, 7
_INDEX_BITS = 3
_QUAD = 4
_BYTES = LatentRange(np.ones(_QUAD, np.float32), np.zeros(_QUAD, np.float32))


def encode_bc4(values: Floats) -> Bytes:
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
    return packed.reshape(rows, columns, channels * _BLOCK_BYTES)


def decode_bc4(blocks: Bytes, height: int, width: int) -> NDArray[np.float32]:
    """Values [height, width, channels] from 0 to 1 of blocks that `encode_bc4` has written."""
    rows, columns, size = blocks.shape
    channels = size // _BLOCK_BYTES
    flat = blocks.reshape(-1, channels, _BLOCK_BYTES)
    ends = flat[..., :_ENDS].astype(np.float32)
    bits = np.unpackbits(flat[..., _ENDS:], axis=-1, bitorder="little").astype(np.int64)
    indices = bits.reshape(-1, channels, bc7.TEXELS, _INDEX_BITS) @ (1 << np.arange(_INDEX_BITS))
    steps = np.where(indices == 0, 0, np.where(indices == 1, _LAST, indices - 1)) / _LAST
    found = ends[..., :1] * (1 - steps) + ends[..., 1:] * steps
    texels = found.transpose(0, 2, 1).reshape(rows, columns, bc7.TEXELS, channels)
    return np.asarray(bc7.from_blocks(texels, height, width) / 255, np.float32)


@dataclass(frozen=True)
class Blocks:
    """A texture of blocks."""

    format: str
    """Of ktx2.FORMATS."""
    blocks: NDArray[np.uint8]
    """(rows, columns, bytes)"""
    height: int
    width: int


def encode_image(image: Floats, is_srgb: bool, has_two: bool) -> Blocks:
    """The blocks of an image (height, width, channels) from 0 to 1. With `has_two`, the first two
    channels hold all of it."""
    height, width, channels = image.shape
    if channels == 1 or has_two:
        part = image[..., : 1 if channels == 1 else 2]
        return Blocks(BC4 if channels == 1 else BC5, encode_bc4(part), height, width)
    texels = np.ones((height, width, _QUAD), np.float32)
    texels[..., :channels] = image
    blocks = block_lines.encode(texels, _BYTES)[0]
    return Blocks(BC7_SRGB if is_srgb else BC7, blocks, height, width)


def decode_image(found: Blocks) -> Floats:
    """What a texture unit reads, (height, width, channels), without the transfer function."""
    if found.format in (BC4, BC5):
        return decode_bc4(found.blocks, found.height, found.width)
    decoded = block_lines.decode(found.blocks[None], found.height, found.width)[0]
    return np.asarray(decoded / np.float32(255), np.float32)


def ktx_of_blocks(found: Blocks, smaller: Sequence[Floats], writer: str) -> bytes:
    """A file with the smaller mip levels (height, width, channels) from 0 to 1."""
    is_srgb, channels = found.format == BC7_SRGB, {BC4: 1, BC5: 2}.get(found.format, _QUAD)
    levels = [found.blocks]
    for level in smaller:
        levels.append(encode_image(level[..., :channels], is_srgb, channels == 2).blocks)
    return write_ktx2(found.format, levels, writer, (found.height, found.width))
