"""Latents in training as a texture will store them.

`LatentGrid` rounds latents to bytes, with the same functions as latent_grid.slang. `LatentBlocks`
rounds them to what blocks of BC7 decode to, with those of latent_blocks.slang. Before that,
`rotate_latents` turns the channels so that blocks hold more of them, and `move_to_blocks` moves
latents to what blocks can hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network.latents import bc7
from verdigris.core.network.latents.block_lines import (
    QUAD,
    as_bytes,
    bytes_of,
    fit_blocks,
    from_quads,
    to_quads,
)
from verdigris.core.network.latents.quantise import (
    BYTE,
    LatentRange,
    soft_round,
    soft_round_derivative,
)
from verdigris.core.network.latents.texels import IndexArray
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import LatentLayout
from verdigris.core.settings.schedule import Rounding

# The first channel of a block's first end, which is a byte, also stores the block's kind.
_KIND_UNIT = 256
# Prefixes in the state of a trainer of what belongs to the decoder of each side.
SIDES = ("decoder", "transmitted")
# Columns of a block: first end; ways of line and free channel; two scales; two largest indices.
_ENDS_OF_COLUMNS = (QUAD, 3 * QUAD, 3 * QUAD + 2)


class LatentGrid:
    """Rounds latents to bytes in the range of their material. `offset`, the value of byte 0, and
    `unit`, the step between bytes, are arrays [materials, channels]."""

    def __init__(self, layout: LatentLayout, ranges: Sequence[LatentRange]) -> None:
        self._layout, self.ranges = layout, tuple(ranges)
        self.offset = np.stack([each.offset for each in ranges])
        self.unit = np.stack([each.scale for each in ranges]) / np.float32(BYTE)
        self.highest = self.offset + self.unit * np.float32(BYTE)

    def round(self, values: FloatArray, texels: IndexArray, rounding: Rounding) -> None:
        """Rounds values [texels, channels] in place."""
        offset, unit = self._of_texels(self.offset, texels), self._of_texels(self.unit, texels)
        codes = self._fractional_codes(values, texels)
        np.multiply(soft_round(codes, rounding.sharpness), unit, out=values)
        values += offset

    def backward(
        self, gradient: FloatArray, values: FloatArray, texels: IndexArray, rounding: Rounding
    ) -> None:
        """Converts the gradient by rounded values to the gradient by the values, in place."""
        if not rounding.is_straight:
            codes = self._fractional_codes(values, texels)
            gradient *= soft_round_derivative(codes, rounding.sharpness)

    def limit(self, values: FloatArray, texels: IndexArray) -> None:
        """Clips values to the range, in place."""
        low, high = self._of_texels(self.offset, texels), self._of_texels(self.highest, texels)
        np.clip(values, low, high, out=values)

    def _fractional_codes(self, values: FloatArray, texels: IndexArray) -> FloatArray:
        codes: FloatArray = values - self._of_texels(self.offset, texels)
        codes /= self._of_texels(self.unit, texels)
        return np.asarray(np.clip(codes, 0, np.float32(BYTE), out=codes))

    def _of_texels(self, numbers: FloatArray, texels: IndexArray) -> FloatArray:
        """The rows of [materials, channels] that belong to the texels."""
        layout = self._layout
        if layout.materials == 1:
            return numbers
        offsets = np.array(layout.level_offsets)
        level = np.searchsorted(offsets, texels, side="right") - 1
        sizes = np.diff(offsets) // layout.materials
        return np.asarray(numbers[(texels - offsets[level]) // sizes[level]])


class LatentBlocks(LatentGrid):
    """Rounds latents to what their blocks decode to. The last move sets the ends of the blocks."""

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
        lasts = np.stack([bc7.LINE_LAST[kinds], bc7.SCALAR_LAST[kinds]], -1).astype(np.float32)
        ways = np.stack(bc7.parts_of(ends[:, :, 1] - first, kinds), -2)
        # indices for a unit along a way; ways are whole numbers, and may be zero
        scales = lasts / np.maximum((ways * ways).sum(-1), 1)
        columns = [first, ways.reshape(*first.shape[:2], -1), scales, lasts]
        # what a texel needs of its block, in columns: a step looks up thousands of blocks
        rows = np.concatenate(columns, -1)
        self._columns = np.ascontiguousarray(np.moveaxis(rows, 0, -1), np.float32)

    def move(self, latents: FloatArray, squares: FloatArray) -> None:
        """Moves all latents to what their blocks can hold."""
        found = move_to_blocks(self._layout, latents, squares, 1.0, self.ranges, True)
        assert found is not None
        self.ends = found

    def round(self, values: FloatArray, texels: IndexArray, rounding: Rounding) -> None:
        decoded, ways, place, _, last = self._places(values, texels)
        np.clip(place, 0, last, out=place)
        whole = np.floor(np.minimum(place, last - 1))
        share = soft_round(place, rounding.sharpness)
        share -= whole
        # between the shares of the two nearest indices, in 64ths
        half = np.floor(last / 2)
        whole *= 64
        whole += half
        low = np.floor(whole / last)
        whole += 64
        whole /= last
        high = np.floor(whole, out=whole)
        high -= low
        share *= high
        share += low
        share /= 64
        decoded += np.einsum("lpcn,lpn->lcn", ways, share)
        decoded += 0.5
        np.floor(decoded, out=decoded)
        result = decoded.reshape(values.shape[::-1])
        result *= self._of_texels(self.unit, texels).T
        result += self._of_texels(self.offset, texels).T
        np.copyto(values, result.T)

    def backward(
        self, gradient: FloatArray, values: FloatArray, texels: IndexArray, rounding: Rounding
    ) -> None:
        """Converts gradients along the ways between ends, where values are rounded. Beside and
        beyond the ways, gradients move the ends."""
        if rounding.is_straight:
            return
        first, ways, place, scale, last = self._places(values, texels)
        unit = self._of_texels(self.unit, texels).T
        by_byte = np.multiply(gradient.T, unit, order="C")
        change = np.einsum("lpcn,lcn->lpn", ways, by_byte.reshape(first.shape))
        change *= scale
        change /= last
        is_inside = place > 0
        is_inside &= place < last
        slope = soft_round_derivative(place, rounding.sharpness)
        slope -= 1
        change *= slope
        change *= is_inside
        along = np.einsum("lpcn,lpn->lcn", ways, change)
        by_byte += along.reshape(by_byte.shape)
        by_byte /= unit
        np.copyto(gradient, by_byte.T)

    def _places(
        self, values: FloatArray, texels: IndexArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """First ends [layers, 4, texels], in bytes. For the line and the free channel: ways to the
        second ends [layers, 2, 4, texels]; and, as [layers, 2, texels], fractional indices without
        limits, indices for a unit along the way, and largest indices."""
        blocks = np.take(self._block, texels)
        columns = np.take(self._columns, blocks, axis=-1, mode="clip")
        first, ways, scale, last = np.split(columns, _ENDS_OF_COLUMNS, axis=1)
        ways = ways.reshape(len(first), 2, QUAD, -1)
        codes = np.subtract(values.T, self._of_texels(self.offset, texels).T, order="C")
        codes /= self._of_texels(self.unit, texels).T
        from_first = codes.reshape(first.shape)
        from_first -= first
        place = np.einsum("lpcn,lcn->lpn", ways, from_first)
        place *= scale
        return first, ways, place, scale, last


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
    with_ends: bool = False,
) -> FloatArray | None:
    """Moves latents [texels, channels] in place, by the share `strength` of their way to what their
    blocks can hold. `squares` are the mean squares of gradients. With `ranges`, the rounding of
    endpoints counts; with `with_ends` too, the ends [blocks, layers, 2, 4] are returned, in
    bytes."""
    found = []
    for material, part, size in _levels(layout):
        quads, weights = (to_quads(each[part].reshape(*size, -1)) for each in (latents, squares))
        byte = bytes_of(ranges[material]) if ranges else np.zeros(QUAD, np.float32)
        fit = fit_blocks(quads, byte, weights.mean(-2), with_ends, in_threads=True)
        quads += (fit.texels - quads) * np.float32(strength)
        latents[part] = from_quads(quads, *size).reshape(-1, latents.shape[1])
        if ranges and with_ends:
            ends = as_bytes(np.stack([fit.first, fit.second], -2), ranges[material])
            rounded = bc7.quantise_endpoints(ends, np.stack([fit.kinds] * 2, -1))
            rounded[..., 0, 0] += _KIND_UNIT * fit.kinds
            found.append(rounded)
    return np.concatenate(found) if found else None


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


def rotate_latents(
    parameters: Parameters, state: dict[str, NDArray[Any]], side: int | None = None
) -> tuple[Parameters, dict[str, NDArray[Any]]]:
    """Parameters and state of a trainer with latents along the principal axes of their variation
    inside blocks. The decoder's frames and first layer take the rotation back, so that no response
    changes. Each layer gets some of the long axes and some of the short ones: a block holds a line
    of each layer and one channel more. `side` is that of the squares that hold bases, if they are
    padded."""
    axes = axes_inside_blocks(parameters)
    spec, rotated = parameters.spec, parameters.copy()
    rotated.latents[:] = parameters.latents @ axes
    channels = spec.latent_channels
    shapes = (spec.frame_rows, spec.place_inputs), (spec.layers[0].outputs, spec.inputs)
    turned = {"latents_v": state["latents_v"] @ (axes * axes)}
    for name, own in zip(SIDES, rotated.sides, strict=False):
        for matrix in (own.frames(), own.weights(spec.layers[0])):
            matrix[:, :channels] = matrix[:, :channels] @ axes
        # moments of the decoder are in bases that turn with its inputs
        bases = turned[f"{name}_bases"] = state[f"{name}_bases"].copy()
        _turn_bases(bases, axes, shapes, side)
    return rotated, {**state, **turned}


def axes_inside_blocks(parameters: Parameters) -> FloatArray:
    """The principal axes of the variation inside blocks, as orthogonal columns [channels,
    channels]."""
    channels = parameters.spec.latent_channels
    covariance = np.zeros((channels, channels))
    for texels in parameters.level(0):
        quads = to_quads(texels)
        blocks = quads.swapaxes(1, 2).reshape(len(quads), -1, channels)
        around = (blocks - blocks.mean(1, keepdims=True)).reshape(-1, channels)
        covariance += (around.T @ around).astype(np.float64)
    axes = np.linalg.eigh(covariance)[1][:, ::-1]
    layers = channels // QUAD
    order = [axis for layer in range(layers) for axis in range(layer, channels, layers)]
    return np.ascontiguousarray(axes[:, order], np.float32)


def _turn_bases(
    bases: FloatArray, axes: FloatArray, shapes: Sequence[tuple[int, int]], side: int | None
) -> None:
    """Turns the mean and the basis of the inputs of frames and of the first layer, in place."""
    start, channels = 0, len(axes)
    for rows, columns in shapes:
        left, right = (side or rows), (side or columns)
        start += 2 * left * left
        mean, basis = bases[start : start + 2 * right * right].reshape(2, right, right)
        start += 2 * right * right
        mean[:channels] = axes.T @ mean[:channels]
        mean[:, :channels] = mean[:, :channels] @ axes
        basis[:channels] = axes.T @ basis[:channels]
