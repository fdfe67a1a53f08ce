"""Blocks of BC7 (mode 6): 4 x 4 texels between two ends, each with a share of the way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network.latents import bc7

Floats = NDArray[np.float32]

QUAD = 4
_LAST_INDEX = 15


def whole_blocks(share: float, rows: int, columns: int) -> tuple[int, int]:
    """A part of a size, in whole blocks."""
    height, width = (max(QUAD * round(share * side / QUAD), QUAD) for side in (rows, columns))
    return height, width


def lines_of(texels: Floats) -> tuple[Floats, Floats]:
    """Ends [blocks, 2, 4] of the lines through texels [rows, columns, 4] that have the least square
    error, and shares [blocks, 16]. Texels beyond the edge repeat it."""
    blocks = bc7.to_blocks(texels.astype(float)).reshape(-1, bc7.TEXELS, QUAD)
    mean = blocks.mean(1, keepdims=True)
    centred = blocks - mean
    _, axes = np.linalg.eigh(np.einsum("btc,btd->bcd", centred, centred))
    # the last axis is the longest
    along = np.einsum("btc,bc->bt", centred, axes[..., -1])
    low, high = along.min(1), along.max(1)
    ends = mean + np.stack([low, high], 1)[..., None] * axes[:, None, :, -1]
    shares = (along - low[:, None]) / np.maximum(high - low, 1e-9)[:, None]
    return ends.astype(np.float32), shares.astype(np.float32)


def pack_lines(ends: Floats, shares: Floats) -> NDArray[np.uint8]:
    """Blocks [blocks, 16] of bytes."""
    kinds = np.zeros(len(ends), np.int64)
    first, second = (bc7.quantise_endpoints(255 * ends[:, i], kinds) for i in (0, 1))
    line = np.round(_LAST_INDEX * shares).astype(np.int64)
    return bc7.pack(first, second, kinds, line, np.zeros_like(line))


def unpack_lines(blocks: NDArray[np.uint8]) -> Floats:
    """Texels [blocks, 16, 4] from 0 to 1."""
    return bc7.decode(blocks).astype(np.float32) / np.float32(255)
