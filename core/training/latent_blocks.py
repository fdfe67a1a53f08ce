"""Blocks of BC7 in training: moves latents to what blocks can hold, and rounds them to shares of a
block's ends; the same functions as in latent_blocks.slang."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network import bc7
from verdigris.core.network.block_lines import (
    QUAD,
    as_bytes,
    bytes_of,
    fit_blocks,
    from_quads,
    to_quads,
)
from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.quantise import LatentRange, soft_round, soft_round_derivative
from verdigris.core.network.spec import LatentLayout
from verdigris.core.network.texels import IndexArray
from verdigris.core.settings.schedule import Rounding
from verdigris.core.training.latent_grid import LatentGrid

# The kind of a block is stored with its first endpoint's first channel, which is a byte.
_KIND_UNIT = 256


def block_offsets(layout: LatentLayout) -> tuple[int, ...]:
    """The first block of each level, then the number of blocks."""
    offsets = [0]
    for level in range(layout.levels):
        height, width = map(bc7.blocks_of, layout.level_size(level))
        offsets.append(offsets[-1] + layout.materials * height * width)
    return tuple(offsets)


def move_to_blocks(
    layout: LatentLayout,
    latents: FloatArray,
    squares: FloatArray,
    strength: float,
    ranges: Sequence[LatentRange] | None = None,
) -> FloatArray | None:
    """Moves latents [texels, channels] by a part of their way to what their blocks can hold, in
    place. Returns the ends [blocks, layers, 2, 4] of the blocks, in bytes, given the latents'
    ranges. `squares` are the mean squares of gradients."""
    found = []
    for material, part, size in _levels(layout):
        quads, weights = (to_quads(each[part].reshape(*size, -1)) for each in (latents, squares))
        byte = bytes_of(ranges[material]) if ranges else np.zeros(QUAD, np.float32)
        fit = fit_blocks(quads, byte, weights.mean(-2))
        quads += (fit.texels - quads) * np.float32(strength)
        latents[part] = from_quads(quads, *size).reshape(-1, latents.shape[1])
        if ranges:
            ends = as_bytes(np.stack([fit.first, fit.second], -2), ranges[material])
            rounded = bc7.quantise_endpoints(ends, np.stack([fit.kinds] * 2, -1))
            rounded[..., 0, 0] += _KIND_UNIT * fit.kinds
            found.append(rounded)
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
    """Rounds latents to what their blocks decode to. The ends of blocks are those of the last
    move."""

    def __init__(self, layout: LatentLayout, ranges: Sequence[LatentRange]) -> None:
        super().__init__(layout, ranges)
        self._block = _block_of_texels(layout)
        layers = self.offset.shape[1] // QUAD
        self.ends = np.zeros((block_offsets(layout)[-1], layers, 2, QUAD), np.float32)

    @property
    def ends(self) -> FloatArray:
        """First and second ends of each block in bytes, [blocks, layers, 2, 4]."""
        return self._ends

    @ends.setter
    def ends(self, ends: FloatArray) -> None:
        self._ends = ends
        kinds = (ends[:, :, 0, 0] / _KIND_UNIT).astype(np.int64)
        first = ends[:, :, 0].copy()
        first[..., 0] -= _KIND_UNIT * kinds
        lasts = bc7.LINE_LAST[kinds], bc7.SCALAR_LAST[kinds]
        ways = bc7.parts_of(ends[:, :, 1] - first, kinds)
        # all that a texel needs of its block, in one row: a step looks up thousands
        columns = [first, *ways]
        columns += [_inverse_square(way)[..., None] for way in ways]
        columns += [last[..., None] for last in lasts]
        self._rows = np.ascontiguousarray(np.concatenate(columns, -1), np.float32)

    def move(self, latents: FloatArray, squares: FloatArray) -> None:
        """Moves all latents to what their blocks can hold."""
        found = move_to_blocks(self._layout, latents, squares, 1.0, self.ranges)
        assert found is not None
        self.ends = found

    def round(self, values: FloatArray, texels: IndexArray, rounding: Rounding) -> None:
        decoded, parts = self._places(values, texels)
        decoded += np.float32(0.5)
        for way, _, place, last in parts:
            place = np.clip(place, 0, last)
            whole = np.floor(np.minimum(place, last - 1))
            share = soft_round(place, rounding.sharpness) - whole
            half = np.floor(last / 2)
            low = np.floor((64 * whole + half) / last)
            high = np.floor((64 * (whole + 1) + half) / last)
            decoded += way * ((low + (high - low) * share) / 64)[..., None]
        np.floor(decoded, out=decoded)
        np.multiply(decoded.reshape(values.shape), self._of_texels(self.unit, texels), out=values)
        values += self._of_texels(self.offset, texels)

    def backward(
        self, gradient: FloatArray, values: FloatArray, texels: IndexArray, rounding: Rounding
    ) -> None:
        """Only the ways between ends are rounded: beside them, and beyond them, gradients move the
        ends."""
        if rounding.is_straight:
            return
        first, parts = self._places(values, texels)
        unit = self._of_texels(self.unit, texels)
        by_byte = (gradient * unit).reshape(first.shape)
        change = np.zeros_like(by_byte)
        for way, inverse, place, last in parts:
            slope = soft_round_derivative(np.clip(place, 0, last), rounding.sharpness)
            slope[(place <= 0) | (place >= last)] = 1
            along = np.einsum("tlc,tlc->tl", by_byte, way) * inverse
            change += way * (along * (slope - 1))[..., None]
        by_byte += change
        np.divide(by_byte.reshape(gradient.shape), unit, out=gradient)

    def _places(
        self, values: FloatArray, texels: IndexArray
    ) -> tuple[FloatArray, list[tuple[FloatArray, FloatArray, FloatArray, FloatArray]]]:
        """First ends [texels, layers, 4], in bytes. For the line and the free channel: the ways to
        the second ends, the inverses of their squares, fractional indices [texels, layers], not
        limited, and largest indices."""
        rows = np.take(self._rows, np.take(self._block, texels), axis=0)
        first = rows[..., :QUAD]
        codes = values - self._of_texels(self.offset, texels)
        codes /= self._of_texels(self.unit, texels)
        from_first = codes.reshape(first.shape) - first
        parts = []
        for number in range(2):
            way = rows[..., (1 + number) * QUAD : (2 + number) * QUAD]
            inverse, last = rows[..., 3 * QUAD + number], rows[..., 3 * QUAD + 2 + number]
            place = np.einsum("tlc,tlc->tl", from_first, way) * inverse * last
            parts.append((way, inverse, place, last))
        return first.copy(), parts


def _inverse_square(way: FloatArray) -> FloatArray:
    """Inverses of the squared lengths [...] of vectors [..., 4] of whole numbers; 1 for none."""
    return np.asarray(1 / np.maximum((way * way).sum(-1), 1))
