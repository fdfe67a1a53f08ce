"""BC6H blocks of mode 11, unsigned: colours of half floats in a byte a texel.

A block of 4 x 4 texels has two endpoints of three channels, 10 bits each, and an index of 4 bits
for each texel. Between its endpoints a channel is linear in the bits of a half float, which are
about logarithmic. Khronos Data Format 1.3, "BPTC compressed texture image formats".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import Bytes, Doubles
from verdigris.core.network.latents.bc7 import TEXELS, blocks_of, from_blocks, to_blocks
from verdigris.core.network.spec import LARGEST_HALF

Halves = NDArray[np.float16]
# The largest index, and shares of the second endpoint in 64ths by index.
LAST = 15
WEIGHTS = np.array([(64 * index + 7) // LAST for index in range(LAST + 1)], np.int64)
_MODE, _MODE_BITS = 3, 5
_ENDPOINT_BITS, _CHANNELS = 10, 3
_LARGEST_ENDPOINT = (1 << _ENDPOINT_BITS) - 1
# A texel is 31 / 64 of the interpolated number, as the bits of a half float.
_BITS_OF_NUMBER = 31 / 64
# The first texel's index has its highest bit left out.
_ANCHOR_BIT = 8
# Fits of the endpoints to the indices, and the least weight of a value in them.
_FITS = 3
_LEAST_SLOPE = 1e-6


def encode(level: Halves) -> Bytes:
    """The blocks [rows, columns, 16] of half floats [height, width, 3], from 0 up. They are fitted
    to log(1 + value), so that relative errors are small."""
    texels = to_blocks(level).astype(np.float16)
    size = texels.shape[:2]
    texels = texels.reshape(-1, TEXELS, _CHANNELS)
    wanted = np.log1p(texels.astype(np.float64))
    numbers = texels.view(np.uint16) / _BITS_OF_NUMBER
    best: tuple[NDArray[np.int64], NDArray[np.int64], Doubles] | None = None
    starts = (
        _quantise_ends(_ends_of_axis(numbers)),
        _quantise_ends(_numbers_of_logs(_ends_of_axis(wanted))),
        _ends_of_one_colour(numbers.mean(1)),
    )
    for ends in starts:
        for _ in range(1 + _FITS):
            indices, errors = _nearest(wanted, ends)
            best = _better(best, (ends, indices, errors))
            ends = _quantise_ends(_fitted_ends(numbers, wanted, indices))
    assert best is not None
    return _pack(*best[:2]).reshape(*size, -1)


def decode(blocks: Bytes, height: int, width: int) -> Halves:
    """The half floats [height, width, 3] of blocks [rows, columns, 16]."""
    rows, columns = blocks_of(height), blocks_of(width)
    bits = np.unpackbits(blocks.reshape(-1, TEXELS), axis=-1, bitorder="little").astype(np.int64)

    def number(start: int, count: int) -> NDArray[np.int64]:
        return np.asarray(bits[:, start : start + count] @ (1 << np.arange(count)))

    places = _MODE_BITS + _ENDPOINT_BITS * np.arange(2 * _CHANNELS)
    numbers = np.stack([number(int(place), _ENDPOINT_BITS) for place in places])
    start = _MODE_BITS + 2 * _CHANNELS * _ENDPOINT_BITS
    indices = [number(start, 3), *(number(start + 4 * texel - 1, 4) for texel in range(1, TEXELS))]
    ends = np.moveaxis(numbers.reshape(2, _CHANNELS, -1), 1, 2)
    texels = _values(ends, np.stack(indices, 1)).astype(np.uint16).view(np.float16)
    return from_blocks(texels.reshape(rows, columns, TEXELS, _CHANNELS), height, width)


def is_known(blocks: Bytes) -> NDArray[np.bool_]:
    """Whether each block has mode 11."""
    return np.asarray(blocks[..., 0] & ((1 << _MODE_BITS) - 1) == _MODE)


def _numbers_of(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """The 16-bit numbers that endpoints stand for."""
    found = (ends << 6) + 32
    found = np.where(ends == _LARGEST_ENDPOINT, 0xFFFF, found)
    return np.asarray(np.where(ends == 0, 0, found))


def _quantise_ends(ends: Doubles) -> NDArray[np.int64]:
    """The nearest endpoints [2, blocks, 3]."""
    return np.asarray(np.clip(np.rint((ends - 32) / 64), 0, _LARGEST_ENDPOINT), np.int64)


def _values(ends: NDArray[np.int64], indices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bits of half floats [blocks, 16, 3]."""
    low, high = _numbers_of(ends)[:, :, None]
    weight = WEIGHTS[indices][..., None]
    return np.asarray(((low * (64 - weight) + high * weight + 32 >> 6) * 31) >> 6)


def _ends_of_axis(values: Doubles) -> Doubles:
    """Ends [2, blocks, 3] of the line through each block along its longest axis."""
    mean = values.mean(1, keepdims=True)
    around = values - mean
    _, axes = np.linalg.eigh(np.einsum("btc,btd->bcd", around, around))
    axis = axes[..., -1]
    place = np.einsum("btc,bc->bt", around, axis)
    return np.stack([mean[:, 0] + end(place, 1)[:, None] * axis for end in (np.min, np.max)])


def _ends_of_one_colour(numbers: Doubles) -> NDArray[np.int64]:
    """Ends [2, blocks, 3] of blocks with one colour [blocks, 3]. Endpoints are 3% apart. So each
    channel takes the endpoints below and above, or one of them twice: those that the shared index
    mixes best."""
    places = np.clip((numbers - 32) / 64, 0, _LARGEST_ENDPOINT - 1)
    lower = np.floor(places)
    rest = (places - lower)[..., None, None]
    share = (WEIGHTS / 64)[:, None]
    first, second = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    errors = (first + (second - first) * share - rest) ** 2
    index = errors.min(3).sum(1).argmin(1)
    option = np.take_along_axis(errors.argmin(3), index[:, None, None], 2)[..., 0]
    ends = np.stack([lower + first[option], lower + second[option]]).astype(np.int64)
    return np.where(numbers < 32, 0, ends)


def _numbers_of_logs(ends: Doubles) -> Doubles:
    """16-bit numbers of ends, which are logarithms of 1 + value."""
    values = np.expm1(np.clip(ends, 0, np.log1p(LARGEST_HALF)))
    return np.asarray(values.astype(np.float16).view(np.uint16) / _BITS_OF_NUMBER)


def _fitted_ends(numbers: Doubles, wanted: Doubles, indices: NDArray[np.int64]) -> Doubles:
    """Ends with the least square error for these indices, by channel; means if all are equal."""
    # the slope of log(1 + value) by the number: numbers are logarithms above the smallest values
    slope = (-np.expm1(-wanted)) ** 2 + _LEAST_SLOPE
    share = (WEIGHTS[indices] / 64)[..., None]
    other = 1 - share
    a, b, c = ((x * y * slope).sum(1) for x, y in ((other,) * 2, (other, share), (share,) * 2))
    first, second = ((each * slope * numbers).sum(1) for each in (other, share))
    divisor = a * c - b * b
    is_flat = divisor < 1e-9 * a * c + 1e-12
    scale = 1 / np.where(is_flat, 1, divisor)
    ends = np.stack([c * first - b * second, a * second - b * first]) * scale
    return np.where(is_flat, (numbers * slope).sum(1) / slope.sum(1), ends)


def _nearest(wanted: Doubles, ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], Doubles]:
    """The index of the nearest colour of each texel, and the error of each block."""
    all_indices = np.tile(np.arange(LAST + 1), (ends.shape[1], 1))
    colours = _values(ends, all_indices).astype(np.uint16).view(np.float16)
    colours = np.log1p(colours.astype(np.float64))
    indices = np.zeros(wanted.shape[:2], np.int64)
    least = np.full(wanted.shape[:2], np.inf)
    for index in range(LAST + 1):
        error = ((wanted - colours[:, index, None]) ** 2).sum(2)
        nearer = error < least
        indices[nearer], least[nearer] = index, error[nearer]
    return indices, np.asarray(least.sum(1))


def _better(
    before: tuple[NDArray[np.int64], NDArray[np.int64], Doubles] | None,
    now: tuple[NDArray[np.int64], NDArray[np.int64], Doubles],
) -> tuple[NDArray[np.int64], NDArray[np.int64], Doubles]:
    """The endpoints and indices of each block with the smaller error."""
    if before is None:
        return now
    gains = now[2] < before[2]
    return (
        np.where(gains[:, None], now[0], before[0]),
        np.where(gains[:, None], now[1], before[1]),
        np.where(gains, now[2], before[2]),
    )


def _pack(ends: NDArray[np.int64], indices: NDArray[np.int64]) -> Bytes:
    # the first index must be below 8: the other order of endpoints has the other indices
    is_swapped = indices[:, 0] >= _ANCHOR_BIT
    ends = np.where(is_swapped[:, None], ends[::-1], ends)
    indices = np.where(is_swapped[:, None], LAST - indices, indices)
    fields: list[tuple[NDArray[Any], int]] = [(np.full(len(indices), _MODE), _MODE_BITS)]
    fields += [(ends[end, :, each], _ENDPOINT_BITS) for end in (0, 1) for each in range(_CHANNELS)]
    fields += [(indices[:, texel], 4 if texel else 3) for texel in range(TEXELS)]
    bits = [values >> bit & 1 for values, count in fields for bit in range(count)]
    packed: Bytes = np.packbits(np.stack(bits, -1).astype(np.uint8), axis=-1, bitorder="little")
    return packed
