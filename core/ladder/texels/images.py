"""The images of rungs: as PNG, as KTX 2.0, and as blocks of BC7, BC5 or BC4."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.outputs import write_own_file
from verdigris.core.base.text import version
from verdigris.core.bundle.files.ktx2 import BC4, BC5, BC7, BC7_SRGB, RGBA8, RGBA8_SRGB, write_ktx2
from verdigris.core.network.latents import bc7, block_lines
from verdigris.core.network.latents.block_lines import best_ends
from verdigris.core.network.latents.quantise import LatentRange
from verdigris.core.pictures.picture_files import write_data

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Bytes, FloatArray


_QUAD = 4
# Of BC4: the bytes of a channel of a block, its ends, and the last step.
_BLOCK_BYTES, _ENDS, _LAST = 8, 2, 7
_INDEX_BITS = 3
_BYTES = LatentRange(np.ones(_QUAD, np.float32), np.zeros(_QUAD, np.float32))


@dataclass(frozen=True)
class RungImage:
    """An image of a rung."""

    pixels: FloatArray
    """(height, width, channels) from 0 to 1, row 0 at v = 0."""
    is_srgb: bool = False
    has_two: bool = False
    """Whether the first two channels hold everything."""
    is_for_viewers: bool = False
    """Whether only viewers that do not know how the rung stores light read it."""

    @property
    def texels(self) -> NDArray[np.uint8]:
        """The pixels as four channels of bytes; one channel becomes a grey."""
        height, width, channels = self.pixels.shape
        texels = np.full((height, width, _QUAD), 255, np.uint8)
        texels[..., :channels] = np.rint(self.pixels * 255).astype(np.uint8)
        if channels == 1:
            texels[..., 1:3] = texels[..., :1]
        return texels

    @property
    def format(self) -> str:
        """The format of its bytes, of ktx2.FORMATS."""
        return RGBA8_SRGB if self.is_srgb else RGBA8

    def encode(self) -> Blocks:
        """The image as blocks."""
        height, width, channels = self.pixels.shape
        if channels == 1 or self.has_two:
            part = self.pixels[..., : 1 if channels == 1 else 2]
            return Blocks(BC4 if channels == 1 else BC5, encode_bc4(part), height, width)
        texels = np.ones((height, width, _QUAD), np.float32)
        texels[..., :channels] = self.pixels
        blocks = block_lines.encode(texels, _BYTES)[0]
        return Blocks(BC7_SRGB if self.is_srgb else BC7, blocks, height, width)


@dataclass(frozen=True)
class Blocks:
    """A texture of blocks."""

    format: str
    """Of ktx2.FORMATS."""
    blocks: NDArray[np.uint8]
    """(rows, columns, bytes)"""
    height: int
    width: int

    def decode(self) -> FloatArray:
        """What a texture unit reads, (height, width, channels), without the transfer function."""
        if self.format in (BC4, BC5):
            return decode_bc4(self.blocks, self.height, self.width)
        decoded = block_lines.decode(self.blocks[None], self.height, self.width)[0]
        return np.asarray(decoded / np.float32(255), np.float32)


def write_png(path: Path, pixels: FloatArray) -> None:
    """Writes an image (height, width, channels) with v = 1 at the top."""
    write_data(path, np.ascontiguousarray(pixels[::-1], np.float32))


def write_ktx(path: Path, image: RungImage, blocks: Blocks | None = None) -> None:
    """Writes an image with its mip levels, as blocks if the finest level has some."""
    levels = list(_mip_levels(image.texels))
    if blocks is None:
        data = write_ktx2(image.format, levels, _writer())
    else:
        channels = {BC4: 1, BC5: 2}.get(blocks.format, _QUAD)
        found = [blocks.blocks]
        for level in levels[1:]:
            part = (level / np.float32(255))[..., :channels]
            smaller = RungImage(part, blocks.format == BC7_SRGB, has_two=channels == 2)
            found.append(smaller.encode().blocks)
        data = write_ktx2(blocks.format, found, _writer(), (blocks.height, blocks.width))
    write_own_file(path, data)


def _mip_levels(texels: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    """The texels, halved again and again down to one texel."""
    yield texels
    while max(texels.shape[:2]) > 1:
        texels = _halved(texels)
        yield texels


def _halved(texels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    rows, columns = max(1, len(texels) // 2), max(1, texels.shape[1] // 2)
    even = texels[: max(1, rows * 2), : max(1, columns * 2)]
    high, wide = even.shape[0] // rows, even.shape[1] // columns
    blocks = even[: rows * high, : columns * wide].reshape(rows, high, columns, wide, 4)
    return np.asarray(blocks.astype(np.float32).mean((1, 3)) + 0.5, np.uint8)


def _writer() -> str:
    return f"Verdigris {version()}"


def encode_bc4(values: FloatArray) -> Bytes:
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
