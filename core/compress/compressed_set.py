"""A compressed set of textures, and its decoder in numpy: all that an engine computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verdigris.core.compress.blocks import QUAD, unpack_lines
from verdigris.core.compress.mlp import SLOPE, Layer
from verdigris.core.compress.resampling import level_sizes
from verdigris.core.network.latents import bc7

# Of the network: two reads of four channels from each of two textures, and eight numbers for the
# place.
INPUTS = 2 * 2 * QUAD + 8
# A place this close below a texel, in texels, belongs to it: else the nearest would be a matter of
# rounding where sizes are no multiples of each other.
NEAR = 1e-3

Numbers = NDArray[np.floating]


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
        """[rows, columns, 4], from 0 to 1."""
        blocks, (rows, columns) = self.levels[level], self.sizes[level]
        texels = unpack_lines(blocks.reshape(-1, bc7.BLOCK_BYTES))
        return bc7.from_blocks(texels.reshape(*blocks.shape[:2], bc7.TEXELS, QUAD), rows, columns)


class CompressedSet(NamedTuple):
    size: tuple[int, int]
    """Rows and columns of the textures."""
    levels: int
    """Mip levels of the textures. Latent textures, which are smaller, may have fewer."""
    latents: list[Latents]
    """The finer one first."""
    layers: list[Layer]
    """Of the network, in values of half floats."""

    @property
    def bytes(self) -> int:
        """Of blocks of all levels and of the network."""
        numbers = sum(part.size for layer in self.layers for part in layer)
        return sum(level.size for each in self.latents for level in each.levels) + 2 * numbers

    @property
    def bits(self) -> float:
        """Of a texel of the finest level, with the network."""
        return 8 * self.bytes / (self.size[0] * self.size[1])

    @property
    def channels(self) -> int:
        return int(self.layers[-1].bias.size)

    def decode(self, level: int = 0) -> Numbers:
        """All channels of a level, [rows, columns, channels]."""
        rows, columns = level_sizes(*self.size)[level]
        v, u = np.mgrid[:rows, :columns]
        uv = np.stack([(u + 0.5) / columns, (v + 0.5) / rows], -1).reshape(-1, 2)
        return self.evaluate(uv, level).reshape(rows, columns, -1)

    def evaluate(self, uv: Numbers, level: int) -> Numbers:
        """All channels [places, channels] at places [places, 2] of a level."""
        uv = uv - np.floor(uv)
        inputs: list[Numbers] = []
        for each in self.latents:
            texels = each.texels(min(level, len(each.levels) - 1)).astype(uv.dtype)
            inputs += [2 * part - 1 for part in _reads(texels, uv)]
        angles = 2 * np.pi * uv * np.array(texels.shape[1::-1], uv.dtype)
        for octave in (1, 2):
            for axis in (0, 1):
                inputs += [np.sin(octave * angles[:, axis : axis + 1])]
                inputs += [np.cos(octave * angles[:, axis : axis + 1])]
        return evaluate_layers(self.layers, np.concatenate(inputs, -1))

    def evaluate_levels(self, uv: Numbers, level: NDArray[np.int64]) -> Numbers:
        """The same at places of several levels, [places]."""
        values = np.empty((len(uv), self.channels), uv.dtype)
        for each in np.unique(level):
            values[level == each] = self.evaluate(uv[level == each], int(each))
        return values


def _reads(texels: Numbers, uv: Numbers) -> tuple[Numbers, Numbers]:
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


def evaluate_layers(layers: Sequence[Layer], x: Numbers) -> Numbers:
    for layer in layers[:-1]:
        x = x @ layer.matrix.T.astype(x.dtype) + layer.bias
        x = np.maximum(x, SLOPE * x)
    last = layers[-1]
    return np.clip(x @ last.matrix.T.astype(x.dtype) + last.bias, 0, 1)
