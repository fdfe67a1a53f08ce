"""Textures of BC7 for colours and data, of BC5 for two channels, and of BC4 for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.bundle.files.ktx2 import BC4, BC5, BC7, BC7_SRGB, write_ktx2
from verdigris.core.bundle.maps import bc4
from verdigris.core.network.latents import block_lines
from verdigris.core.network.latents.quantise import LatentRange

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]

_QUAD = 4
_BYTES = LatentRange(np.ones(_QUAD, np.float32), np.zeros(_QUAD, np.float32))


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
        return Blocks(BC4 if channels == 1 else BC5, bc4.encode(part), height, width)
    texels = np.ones((height, width, _QUAD), np.float32)
    texels[..., :channels] = image
    blocks = block_lines.encode(texels, _BYTES)[0]
    return Blocks(BC7_SRGB if is_srgb else BC7, blocks, height, width)


def decode_image(found: Blocks) -> Floats:
    """What a texture unit reads, (height, width, channels), without the transfer function."""
    if found.format in (BC4, BC5):
        return bc4.decode(found.blocks, found.height, found.width)
    decoded = block_lines.decode(found.blocks[None], found.height, found.width)[0]
    return np.asarray(decoded / np.float32(255), np.float32)


def ktx_of_blocks(found: Blocks, smaller: Sequence[Floats], writer: str) -> bytes:
    """A file with the smaller mip levels (height, width, channels) from 0 to 1."""
    is_srgb, channels = found.format == BC7_SRGB, {BC4: 1, BC5: 2}.get(found.format, _QUAD)
    levels = [found.blocks]
    for level in smaller:
        levels.append(encode_image(level[..., :channels], is_srgb, channels == 2).blocks)
    return write_ktx2(found.format, levels, writer, (found.height, found.width))
