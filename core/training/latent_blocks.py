"""Blocks of BC7 in training: moves latents to lines, and rounds them to a block's shares of its
ends; the same functions as in latent_blocks.slang."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network import bc7
from verdigris.core.network.block_lines import (
    QUAD,
    fit_lines,
    from_quads,
    quantised_ends,
    to_quads,
)
from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.quantise import LatentRange, soft_round, soft_round_derivative
from verdigris.core.network.spec import LatentLayout
from verdigris.core.network.texels import IndexArray
from verdigris.core.settings.schedule import Rounding
from verdigris.core.training.latent_grid import LatentGrid


def block_offsets(layout: LatentLayout) -> tuple[int, ...]:
    """The first block of each level, then the number of blocks."""
    offsets = [0]
    for level in range(layout.levels):
        height, width = map(bc7.blocks_of, layout.level_size(level))
        offsets.append(offsets[-1] + layout.materials * height * width)
    return tuple(offsets)


def move_to_lines(
    layout: LatentLayout,
    latents: FloatArray,
    squares: FloatArray,
    strength: float,
    ranges: Sequence[LatentRange] | None = None,
) -> FloatArray | None:
    """Moves latents [texels, channels] by a part of their way to the lines of their blocks, in
    place. Returns the endpoints [blocks, layers, 2, 4] of blocks that hold these lines, given the
    latents' ranges. `squares` are the mean squares of gradients."""
    found = []
    for material, part, size in _levels(layout):
        quads, weights = (to_quads(each[part].reshape(*size, -1)) for each in (latents, squares))
        moved, *ends = fit_lines(quads, weights.mean(-2))
        quads += (moved - quads) * np.float32(strength)
        latents[part] = from_quads(quads, *size).reshape(-1, latents.shape[1])
        if ranges:
            layers = [slice(first, first + QUAD) for first in range(0, latents.shape[1], QUAD)]
            found += [
                np.stack(
                    [
                        np.stack(
                            [quantised_ends(end[:, layer], ranges[material], part) for end in ends],
                            -2,
                        )
                        for layer, part in enumerate(layers)
                    ],
                    1,
                )
            ]
    return np.concatenate(found) if ranges else None


def _levels(layout: LatentLayout) -> Iterator[tuple[int, slice, tuple[int, int]]]:
    """Material, texels and size of each level, in the order of the texels."""
    for level in range(layout.levels):
        height, width = layout.level_size(level)
        for material in range(layout.materials):
            start = layout.level_offsets[level] + material * height * width
            yield material, slice(start, start + height * width), (height, width)


def _block_of_texels(layout: LatentLayout) -> NDArray[np.int32]:
    """The block of each texel."""
    parts, first = [], 0
    for _, _, (height, width) in _levels(layout):
        rows, columns = (np.arange(size) // bc7.SIDE for size in (height, width))
        across = bc7.blocks_of(width)
        parts.append((first + rows[:, None] * across + columns).ravel())
        first += bc7.blocks_of(height) * across
    return np.concatenate(parts).astype(np.int32)


class LatentBlocks(LatentGrid):
    """Rounds latents to what their blocks decode to. The ends of blocks are those of the last move
    to lines."""

    def __init__(self, layout: LatentLayout, ranges: Sequence[LatentRange]) -> None:
        super().__init__(layout, ranges)
        self._block = _block_of_texels(layout)
        layers = self.offset.shape[1] // QUAD
        self.ends = np.zeros((block_offsets(layout)[-1], layers, 2, QUAD), np.float32)

    def move(self, latents: FloatArray, squares: FloatArray) -> None:
        """Moves all latents to their lines."""
        found = move_to_lines(self._layout, latents, squares, 1.0, self.ranges)
        assert found is not None
        self.ends = found

    def round(self, values: FloatArray, texels: IndexArray, rounding: Rounding) -> None:
        first, along, place = self._place(values, texels)
        whole = np.floor(np.minimum(place, bc7.LAST - 1))
        share = soft_round(np.clip(place, 0, bc7.LAST), rounding.sharpness) - whole
        low, high = (np.floor((64 * each + 7) / bc7.LAST) for each in (whole, whole + 1))
        weight = (low + (high - low) * share) / 64
        decoded = np.floor(first + along * weight[..., None] + np.float32(0.5))
        np.multiply(decoded.reshape(values.shape), self._of_texels(self.unit, texels), out=values)
        values += self._of_texels(self.offset, texels)

    def backward(
        self, gradient: FloatArray, values: FloatArray, texels: IndexArray, rounding: Rounding
    ) -> None:
        """Only the way along a line is rounded: across it, and beyond its ends, gradients move the
        line."""
        if rounding.is_straight:
            return
        _, along, place = self._place(values, texels)
        slope = soft_round_derivative(np.clip(place, 0, bc7.LAST), rounding.sharpness)
        slope[(place <= 0) | (place >= bc7.LAST)] = 1
        unit = self._of_texels(self.unit, texels)
        by_byte = (gradient * unit).reshape(along.shape)
        part = (by_byte * along).sum(-1) / _square(along)
        by_byte += along * (part * (slope - 1))[..., None]
        np.divide(by_byte.reshape(gradient.shape), unit, out=gradient)

    def _place(
        self, values: FloatArray, texels: IndexArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """First ends and ways to the second [texels, layers, 4], in bytes, and fractional indices
        [texels, layers], not limited."""
        ends = self.ends[self._block[texels]]
        first, along = ends[:, :, 0], ends[:, :, 1] - ends[:, :, 0]
        codes = values - self._of_texels(self.offset, texels)
        codes /= self._of_texels(self.unit, texels)
        from_first = codes.reshape(first.shape) - first
        place = (from_first * along).sum(-1) / _square(along) * np.float32(bc7.LAST)
        return first, along, place


def _square(along: FloatArray) -> FloatArray:
    """Squared lengths [...] of vectors [..., 4] of whole numbers; 1 for none."""
    return np.asarray(np.maximum((along * along).sum(-1), 1))
