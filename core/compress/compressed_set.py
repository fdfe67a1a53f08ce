"""A compressed set of textures: its blocks of BC7 (mode 6), in which 4 x 4 texels lie between two
ends, and its decoder in numpy, which is all that an engine computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray, Floats
from verdigris.core.compress.mlp import SLOPE, Layer
from verdigris.core.network.latents import bc7

# Channels of a latent texture, and texels a side of a block.
QUAD = 4
# Of the 16 shares between the ends of a block.
_LAST_INDEX = 15
# Inputs of the network: two reads of four channels from each of two textures, and eight numbers for
# the place.
INPUTS = 2 * 2 * QUAD + 8
# A place this close below a texel, in texels, belongs to it. Otherwise rounding would decide which
# texel is the nearest where one size is not a multiple of the other.
NEAR = 1e-3


class Latents(NamedTuple):
    """A latent texture."""

    rows: int
    columns: int
    levels: list[NDArray[np.uint8]]
    """Blocks [rows, columns, 16] of each mip level, finest first."""

    @property
    def sizes(self) -> list[tuple[int, int]]:
        return level_sizes(self.rows, self.columns)[: len(self.levels)]

    def texels(self, level: int) -> NDArray[np.float32]:
        """The texels [rows, columns, 4] of a level, from 0 to 1."""
        blocks, (rows, columns) = self.levels[level], self.sizes[level]
        texels = unpack_lines(blocks.reshape(-1, bc7.BLOCK_BYTES))
        return bc7.from_blocks(texels.reshape(*blocks.shape[:2], bc7.TEXELS, QUAD), rows, columns)


class CompressedSet(NamedTuple):
    """All that a decoder reads."""

    size: tuple[int, int]
    """Rows and columns of the textures."""
    levels: int
    """Mip levels of the textures. Latent textures, which are smaller, may have fewer."""
    latents: list[Latents]
    """The finer one first."""
    layers: list[Layer]
    """Layers of the network, in values of half floats."""

    @property
    def bytes(self) -> int:
        """Bytes of the blocks of all levels and of the network."""
        numbers = sum(part.size for layer in self.layers for part in layer)
        return sum(level.size for each in self.latents for level in each.levels) + 2 * numbers

    @property
    def bits(self) -> float:
        """Bits for a texel of the finest level, with the network."""
        return 8 * self.bytes / (self.size[0] * self.size[1])

    @property
    def channels(self) -> int:
        return int(self.layers[-1].bias.size)

    def decode(self, level: int = 0) -> FloatArray:
        """All channels of a level, [rows, columns, channels]."""
        rows, columns = level_sizes(*self.size)[level]
        v, u = np.mgrid[:rows, :columns]
        uv = np.stack([(u + 0.5) / columns, (v + 0.5) / rows], -1).reshape(-1, 2)
        return self.evaluate(uv, level).reshape(rows, columns, -1)

    def evaluate(self, uv: FloatArray, level: int) -> FloatArray:
        """All channels [places, channels] at places [places, 2] of a level."""
        uv = uv - np.floor(uv)
        inputs: list[FloatArray] = []
        for each in self.latents:
            texels = each.texels(min(level, len(each.levels) - 1)).astype(uv.dtype)
            inputs += [2 * part - 1 for part in _reads(texels, uv)]
        angles = 2 * np.pi * uv * np.array(texels.shape[1::-1], uv.dtype)
        for octave in (1, 2):
            for axis in (0, 1):
                inputs += [np.sin(octave * angles[:, axis : axis + 1])]
                inputs += [np.cos(octave * angles[:, axis : axis + 1])]
        return _evaluate_layers(self.layers, np.concatenate(inputs, -1))

    def evaluate_levels(self, uv: FloatArray, level: NDArray[np.int64]) -> FloatArray:
        """All channels at places of several levels, [places]."""
        values = np.empty((len(uv), self.channels), uv.dtype)
        for each in np.unique(level):
            values[level == each] = self.evaluate(uv[level == each], int(each))
        return values


def _reads(texels: FloatArray, uv: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The filtered texel and the nearest one. Edges repeat the other side."""
    rows, columns = texels.shape[:2]
    size = np.array([columns, rows])
    at = uv * size - 0.5
    corner = np.floor(at).astype(int)
    share = at - corner
    filtered = np.zeros((len(uv), texels.shape[-1]), uv.dtype)
    for right in (0, 1):
        for lower in (0, 1):
            weight = np.abs(1 - right - share[:, 0]) * np.abs(1 - lower - share[:, 1])
            x, y = (corner[:, 0] + right) % columns, (corner[:, 1] + lower) % rows
            filtered += weight[:, None] * texels[y, x]
    near = np.floor(uv * size + NEAR).astype(int) % size
    return filtered, texels[near[:, 1], near[:, 0]]


def _evaluate_layers(layers: Sequence[Layer], x: FloatArray) -> FloatArray:
    for layer in layers[:-1]:
        x = x @ layer.matrix.T.astype(x.dtype) + layer.bias
        x = np.maximum(x, SLOPE * x)
    last = layers[-1]
    return np.clip(x @ last.matrix.T.astype(x.dtype) + last.bias, 0, 1)


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


def level_sizes(rows: int, columns: int) -> list[tuple[int, int]]:
    """Rows and columns of all mip levels, down to one texel."""
    count = max(rows, columns).bit_length()
    return [(max(rows >> level, 1), max(columns >> level, 1)) for level in range(count)]
