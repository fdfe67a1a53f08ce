"""Images for effects: bytes that every application loads as they are."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import Bytes

# Colours of the first and the last texel of the atlas: an image that was converted has others.
FIRST, LAST = (13, 201, 87), (190, 34, 120)


def latent_atlas(levels: Sequence[Bytes]) -> tuple[NDArray[np.uint8], list[int]]:
    """An image [rows, columns, 3] with all levels, of which each has shape [layers, height, width,
    4], and the first row of each. A row of marks is above and below."""
    layers, _, width = levels[0].shape[:3]
    tops, rows = [], 1
    for level in levels:
        tops.append(rows)
        rows += level.shape[1]
    atlas = np.zeros((rows + 1, 2 * layers * width, 3), np.uint8)
    for top, level in zip(tops, levels, strict=True):
        height, columns = level.shape[1:3]
        for layer, texels in enumerate(level):
            start = 2 * layer * columns
            atlas[top : top + height, start : start + columns] = texels[..., :3]
            atlas[top : top + height, start + columns : start + 2 * columns, 0] = texels[..., 3]
    atlas[0, 0], atlas[-1, 0] = FIRST, LAST
    return atlas, tops


def encode_rgb(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG of bytes [height, width, 3] with the first row at the top, without a colour space."""
    return _encode(pixels, pixels.shape[1], depth=8, colours=2)


def encode_heights(values: NDArray[np.uint16]) -> bytes:
    """A PNG of grey values [height, width] in 16 bits, with the first row at the top."""
    return _encode(values.astype(">u2").view(np.uint8), values.shape[1], depth=16, colours=0)


def _encode(pixels: NDArray[np.uint8], width: int, depth: int, colours: int) -> bytes:
    height = len(pixels)
    rows = np.zeros((height, 1 + pixels[0].size), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    head = struct.pack(">2I5B", width, height, depth, colours, 0, 0, 0)
    parts = (
        chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")
    )
    return b"\x89PNG\r\n\x1a\n" + parts
