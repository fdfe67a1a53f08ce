"""Fits blocks of BC7 to latents: the kind of each block, its line, and its scalar channel.

In a block of 4 x 4 texels, a layer of four channels lies on a line, or three of its channels do and
the fourth is free. The kind with the least expected square error is chosen. The error comes from
distances to the line and from the rounding of indices and endpoints. A channel's errors are
weighted with the mean square of its gradients, if that is known. latent_blocks.slang has the same
functions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import Bytes, FloatArray
from verdigris.core.network.latents import bc7
from verdigris.core.network.latents.quantise import BYTE, LatentRange, dequantise
from verdigris.core.network.parameters import Parameters

T = TypeVar("T")

QUAD = 4
# Squarings of a covariance: every column of its 64th power is along the longest axis.
_SQUARINGS = 6
# Least importance of a channel, as a share of the most important one's.
_LEAST_SHARE = 1e-4
_TINY = 1e-30
# Square errors of rounded endpoints, in squared bytes: for a channel on a line, and for a scalar.
_LINE_NOISE = np.array([0.3, *[5.6] * 8, *[0.34] * 4], np.float32)
_SCALAR_NOISE = np.array([0, *[1.4] * 8, *[0.08] * 4], np.float32)
# The share of the endpoints' errors that a texel between them has on average.
_INNER_SHARE = 0.6
# Channels on the line for each choice of the free channel; the last has none.
_ON_LINE = [[each for each in range(QUAD) if each != free] for free in range(QUAD + 1)]
# Rounds of least squares for ends, and the least variance of shares that determines a line.
_END_ROUNDS, _LEAST_SQUARE = 2, 1e-4
# Blocks that are fitted together, so that intermediate arrays fit into caches.
_PART = 2048
# Rows of texels, in whole blocks, that a thread encodes; and the most threads.
_ROWS_A_THREAD, _MOST_THREADS = 64, 8


class Fit(NamedTuple):
    """Blocks that are fitted to texels [..., 16, 4]."""

    texels: FloatArray
    """The texels on their lines, [..., 16, 4]."""
    first: FloatArray
    """The first ends [..., 4] of lines and scalars, not rounded; 0 if they were not requested."""
    second: FloatArray
    """The second ends [..., 4]."""
    kinds: NDArray[np.int64]
    """The kinds [...] as in bc7.py."""


def to_quads(texels: FloatArray) -> FloatArray:
    """Blocks of a level [height, width, channels] as [blocks, layers, 16, 4]."""
    layers = texels.shape[-1] // QUAD
    parts = bc7.to_blocks(texels).reshape(-1, bc7.TEXELS, layers, QUAD)
    return np.ascontiguousarray(parts.swapaxes(1, 2))


def from_quads(quads: FloatArray, height: int, width: int) -> FloatArray:
    """The inverse of to_quads."""
    rows, columns = bc7.blocks_of(height), bc7.blocks_of(width)
    parts = quads.swapaxes(1, 2).reshape(rows, columns, bc7.TEXELS, -1)
    return bc7.from_blocks(parts, height, width)


def fit_blocks(
    texels: FloatArray,
    byte: FloatArray,
    importance: FloatArray | None = None,
    with_ends: bool = True,
    in_threads: bool = False,
) -> Fit:
    """Fits blocks to texels [..., 16, 4]. `byte` [..., 4] is the width of a byte, or 0 to neglect
    the rounding of endpoints. `importance` [..., 4] weights square errors."""
    shape = texels.shape[:-2]
    flat = texels.reshape(-1, bc7.TEXELS, QUAD)
    by_block = (*shape, QUAD)
    widths = np.broadcast_to(byte, by_block).reshape(-1, QUAD)
    weights = None
    if importance is not None:
        weights = np.broadcast_to(importance, by_block).reshape(-1, QUAD)
    moved = np.empty_like(flat)
    first, second = (np.zeros((len(flat), QUAD), flat.dtype) for _ in range(2))
    kinds = np.empty(len(flat), np.int64)

    def fit(begin: int) -> None:
        part = slice(begin, begin + _PART)
        weight = None if weights is None else weights[part].T
        found = _fit_columns(flat[part].T, widths[part].T, weight, with_ends)
        moved[part], kinds[part] = found.texels.T, found.kinds
        if with_ends:
            first[part], second[part] = found.first.T, found.second.T

    starts = range(0, len(flat), _PART)
    _each_in_threads(fit, starts) if in_threads else [*map(fit, starts)]
    first, second = (each.reshape(*shape, QUAD) for each in (first, second))
    return Fit(moved.reshape(texels.shape), first, second, kinds.reshape(shape))


def _fit_columns(
    texels: FloatArray, byte: FloatArray, importance: FloatArray | None, with_ends: bool
) -> Fit:
    """`fit_blocks` with the blocks last: texels [4, 16, blocks], `byte` and `importance`
    [4, blocks]. Numpy is ten times as fast along blocks as along the four channels of a block."""
    texels = np.ascontiguousarray(texels)
    mean = texels.mean(1)
    unit = np.ones_like(mean)
    if importance is not None:
        least = _LEAST_SHARE * importance.max(0) + _TINY
        unit = np.sqrt(np.maximum(importance, least))
        # only ratios matter, and numbers near 1 neither overflow nor vanish
        unit /= unit.max(0)
    scaled = texels - mean[:, None]
    scaled *= unit[:, None]
    axes = _axes_of_choices(scaled)
    variance = np.einsum("ctn,ctn->cn", scaled, scaled)
    beside, low, high = (np.empty((QUAD + 1, len(mean[0])), mean.dtype) for _ in range(3))
    for free, axis in enumerate(axes):
        place = _along(scaled, axis)
        place.min(0, out=low[free])
        place.max(0, out=high[free])
        beside[free] = variance[_ON_LINE[free]].sum(0) - np.einsum("tn,tn->n", place, place)
    least, largest = texels.min(1), texels.max(1)
    kinds = _expected_error(
        beside, high - low, (largest - least) * unit, (unit * byte) ** 2
    ).argmin(0)
    free = bc7.SCALAR[kinds]

    axis = np.take_along_axis(axes, free[None, None], 0)[0]
    is_free = np.arange(QUAD)[:, None] == free
    along = axis / unit
    place = _along(scaled, axis)
    moved = place * along[:, None]
    moved += mean[:, None]
    np.copyto(moved, texels, where=is_free[:, None])
    if not with_ends:
        return Fit(moved, least, largest, kinds)
    low, high = (along * end + mean for end in best_ends(place, bc7.LINE_LAST[kinds]))
    alone = np.take_along_axis(texels, np.minimum(free, QUAD - 1)[None, None], 0)[0]
    low, high = (
        np.where(is_free, end, of_line)
        for end, of_line in zip(best_ends(alone, bc7.SCALAR_LAST[kinds]), (low, high), strict=True)
    )
    return Fit(moved, low, high, kinds)


def best_ends(places: FloatArray, last: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Ends [blocks] with the least square error for places [16, blocks] along a way with indices
    from 0 to `last`. Ends by least squares and indices are computed in turn."""
    low, high, mean = places.min(0), places.max(0), places.mean(0)
    most = last.astype(places.dtype)
    # for evenly spread places, the outer ones are as far from an end as others from an index
    inset = (high - low) / (2 * most + 2)
    low += inset
    high -= inset
    around = places - mean
    for _ in range(_END_ROUNDS):
        share = places - low
        share *= most / np.maximum(high - low, _TINY)
        share += 0.5
        np.floor(share, out=share)
        np.clip(share, 0, most, out=share)
        share /= most
        centre = share.mean(0)
        square = np.einsum("tn,tn->n", share, share) / bc7.TEXELS - centre * centre
        length = np.einsum("tn,tn->n", share, around) / bc7.TEXELS
        is_known = square > _LEAST_SQUARE
        length /= np.where(is_known, square, 1)
        np.copyto(low, mean - centre * length, where=is_known)
        np.copyto(high, low + length, where=is_known)
    return low, high


def _along(scaled: FloatArray, axis: FloatArray) -> FloatArray:
    """Places [16, blocks] of texels [4, 16, blocks] along axes [4, blocks]."""
    return np.asarray(np.einsum("ctn,cn->tn", scaled, axis))


def _axes_of_choices(scaled: FloatArray) -> FloatArray:
    """First principal axes [5, 4, blocks] of texels [4, 16, blocks] for each choice of the free
    channel. The axis is 0 in the free channel."""
    covariance = {
        (row, column): np.einsum("tn,tn->n", scaled[row], scaled[column])
        for row, column in combinations_with_replacement(range(QUAD), 2)
    }
    axes = np.zeros((QUAD + 1, QUAD, scaled.shape[-1]), scaled.dtype)
    axes[QUAD] = longest_axis(np.stack(list(covariance.values())))
    choices = _ON_LINE[:QUAD]
    pairs = combinations_with_replacement(range(QUAD - 1), 2)
    masked = [[covariance[line[row], line[column]] for line in choices] for row, column in pairs]
    for free, axis in enumerate(longest_axis(np.array(masked)).swapaxes(0, 1)):
        axes[free, choices[free]] = axis
    return axes


def _expected_error(
    beside: FloatArray, length: FloatArray, reach: FloatArray, byte_square: FloatArray
) -> FloatArray:
    """The expected square error of each kind, [kinds, blocks]. It follows from the errors beside
    lines and their lengths, [5, blocks], and from the reach of channels and the squares of their
    bytes, [4, blocks]."""
    free, dtype = bc7.SCALAR, beside.dtype
    none = np.zeros_like(reach[:1])
    line_bytes = np.stack([byte_square[line].sum(0) for line in _ON_LINE])
    free_bytes, free_reach = (np.concatenate([each, none]) for each in (byte_square, reach))
    line_last, free_last = (
        each[:, None].astype(dtype) for each in (bc7.LINE_LAST, bc7.SCALAR_LAST)
    )
    steps = (length[free] / (line_last + 1)) ** 2
    steps += (free_reach[free] / (free_last + 1)) ** 2
    noise = line_bytes[free] * _LINE_NOISE[:, None]
    noise += free_bytes[free] * _SCALAR_NOISE[:, None]
    steps /= 12
    noise *= _INNER_SHARE
    steps += noise
    steps *= bc7.TEXELS
    steps += beside[free]
    return np.asarray(steps)


def longest_axis(elements: FloatArray) -> FloatArray:
    """First principal axes [side, ...], with length 1 or 0, of symmetric matrices. The matrices are
    given by their elements on and above the diagonal, row by row, [side * (side + 1) / 2, ...]."""
    side = int(np.sqrt(2 * len(elements)))
    pairs = list(combinations_with_replacement(range(side), 2))
    place = {pair: number for number, pair in enumerate(pairs)}
    place |= {pair[::-1]: number for pair, number in place.items()}
    diagonal = [place[row, row] for row in range(side)]
    power, square = elements.copy(), np.empty_like(elements)
    product = np.empty_like(elements[0])
    for _ in range(_SQUARINGS):
        power /= power[diagonal].sum(0) + _TINY
        for total, (row, column) in zip(square, pairs, strict=True):
            np.multiply(power[place[row, 0]], power[place[0, column]], out=total)
            for inner in range(1, side):
                total += np.multiply(
                    power[place[row, inner]], power[place[inner, column]], out=product
                )
        power, square = square, power
    axis, largest = power[[place[0, column] for column in range(side)]], power[0].copy()
    for row in range(1, side):
        is_larger = power[place[row, row]] > largest
        np.copyto(largest, power[place[row, row]], where=is_larger)
        np.copyto(axis, power[[place[row, column] for column in range(side)]], where=is_larger)
    length = np.sqrt((axis * axis).sum(0))
    axis /= np.where(length > 0, length, 1)
    return axis


def encode(
    texels: FloatArray, latent_range: LatentRange, squares: FloatArray | None = None
) -> Bytes:
    """The blocks [layers, rows, columns, 16] of a level [height, width, channels]. `squares` are
    the mean squares of gradients, in the same shape."""
    starts = range(0, len(texels), _ROWS_A_THREAD)

    def encode_rows(start: int) -> Bytes:
        rows = slice(start, start + _ROWS_A_THREAD)
        return _encode(texels[rows], latent_range, None if squares is None else squares[rows])

    return np.concatenate(_each_in_threads(encode_rows, starts), axis=1)


def _each_in_threads(do: Callable[[int], T], starts: Sequence[int]) -> list[T]:
    if len(starts) == 1:
        return [do(starts[0])]
    # numpy's handling of errors is that of the caller in a copy of its context
    begun = [_threads().submit(copy_context().run, do, start) for start in starts]
    return [each.result() for each in begun]


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads for encoders: numpy releases Python's lock in most of their work."""
    return ThreadPoolExecutor(_MOST_THREADS, "encode")


if hasattr(os, "register_at_fork"):
    # threads stay with the parent, and tasks for them would wait for ever
    os.register_at_fork(after_in_child=_threads.cache_clear)


def _encode(texels: FloatArray, latent_range: LatentRange, squares: FloatArray | None) -> Bytes:
    height, width, channels = texels.shape
    quads = to_quads(texels)
    fit = fit_blocks(
        quads, bytes_of(latent_range), None if squares is None else to_quads(squares).mean(-2)
    )
    first, second = (
        bc7.quantise_endpoints(as_bytes(end[..., None, :], latent_range)[..., 0, :], fit.kinds)
        for end in (fit.first, fit.second)
    )
    indices = bc7.indices_of(as_bytes(quads, latent_range), first, second, fit.kinds)
    blocks = bc7.pack(first, second, fit.kinds, *indices)
    size = bc7.blocks_of(height), bc7.blocks_of(width)
    return np.moveaxis(blocks, 1, 0).reshape(channels // QUAD, *size, bc7.BLOCK_BYTES)


def bytes_of(latent_range: LatentRange) -> FloatArray:
    """Widths of a byte [layers, 4]."""
    return (latent_range.scale / np.float32(BYTE)).reshape(-1, QUAD)


def as_bytes(quads: FloatArray, latent_range: LatentRange) -> FloatArray:
    """Latents [blocks, layers, texels, 4] in fractional bytes."""
    offset = latent_range.offset.reshape(-1, 1, QUAD)
    return np.asarray((quads - offset) / bytes_of(latent_range)[:, None])


def compressed_copy(
    parameters: Parameters, ranges: Sequence[LatentRange], squares: FloatArray | None = None
) -> Parameters:
    """A copy with latents rounded to blocks of BC7."""
    result = parameters.copy()
    weights = None if squares is None else replace(parameters, latents=squares)
    for level in range(parameters.layout.levels):
        for material, values in enumerate(result.level(level)):
            weight = weights.level(level)[material] if weights else None
            blocks = encode(values, ranges[material], weight)
            stored = np.concatenate(list(decode(blocks, *values.shape[:2])), -1)
            values[:] = dequantise(stored, ranges[material])
    return result


def decode(blocks: Bytes, height: int, width: int) -> Bytes:
    """The bytes [layers, height, width, 4] of blocks [layers, rows, columns, 16]."""
    rows_a_thread = _ROWS_A_THREAD // bc7.SIDE

    def decode_rows(start: int) -> Bytes:
        texels = bc7.decode(blocks[:, start : start + rows_a_thread])
        rows = texels.shape[1] * bc7.SIDE
        return np.stack([bc7.from_blocks(each, rows, width) for each in texels])

    parts = _each_in_threads(decode_rows, range(0, blocks.shape[1], rows_a_thread))
    return np.concatenate(parts, axis=1)[:, :height]
