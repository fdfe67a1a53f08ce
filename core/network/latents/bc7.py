"""BC7 blocks of modes 4, 5 and 6 in numpy: the reference for what a texture unit decodes.

A block has 4 x 4 texels with four channels. In mode 6 the texels lie on a line between two
endpoints. In modes 4 and 5 three channels do, and the fourth, which can be any of the four, is a
scalar with endpoints and indices of its own. See Khronos Data Format 1.3, "BPTC compressed texture
image formats". latent_blocks.slang has the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import Bytes, FloatArray, Ints

# Texels a side of a block, texels of a block, and its bytes.
SIDE, TEXELS, BLOCK_BYTES = 4, 16, 16
_CHANNELS = 4
_NONE = _CHANNELS
# For each kind of block: its mode; the channel that is a scalar; the largest index along the line
# and that of the scalar; bits of an endpoint's channel on the line, and of the scalar's endpoints.
MODE = np.array([6, *[4] * 8, *[5] * 4])
SCALAR = np.array([_NONE, *[*range(_CHANNELS)] * 3])
LINE_LAST = np.array([15, *[3] * 4, *[7] * 4, *[3] * 4])
SCALAR_LAST = np.array([1, *[7] * 4, *[3] * 4, *[3] * 4])
LINE_BITS = np.array([7, *[5] * 8, *[7] * 4])
SCALAR_BITS = np.array([0, *[6] * 8, *[8] * 4])
# Channels of a stored block: the scalar is last, and the last channel takes its place.
_SWAPPED = np.array([[3, 1, 2, 0], [0, 3, 2, 1], [0, 1, 3, 2], [*range(4)], [*range(4)]])
_ROTATION = np.array([1, 2, 3, 0])


def blocks_of(size: int) -> int:
    """The number of blocks along a side with so many texels."""
    return -(-size // SIDE)


def weights(indices: NDArray[Any], last: NDArray[Any]) -> NDArray[Any]:
    """Shares of the second endpoint in 64ths, by index and largest index."""
    return np.asarray((64 * indices + last // 2) // last)


def quantise_endpoints(ends: FloatArray, kinds: NDArray[np.integer[Any]]) -> FloatArray:
    """The nearest endpoints [..., 4] that blocks of these kinds can have, in 0 to 255."""
    values = np.clip(ends, 0, 255)
    half = values.dtype.type(0.5)
    # mode 6: all channels are even, or all are odd
    even = np.minimum(2 * np.floor(values * half + half), 254)
    odd = np.minimum(2 * np.floor(values * half) + 1, 255)
    errors = [((values - each) ** 2).sum(-1, keepdims=True) for each in (even, odd)]
    on_line = np.where(errors[0] <= errors[1], even, odd)
    is_scalar = np.arange(_CHANNELS) == SCALAR[kinds][..., None]
    bits = np.where(is_scalar, SCALAR_BITS[kinds][..., None], LINE_BITS[kinds][..., None])
    codes = np.floor(values * ((2.0**bits - 1) / 255).astype(values.dtype) + half)
    other = codes * 2 ** (8 - bits) + np.floor(codes / 2.0 ** (2 * bits - 8))
    return np.asarray(np.where((kinds == 0)[..., None], on_line, other), values.dtype)


def parts_of(along: NDArray[Any], kinds: NDArray[np.integer[Any]]) -> tuple[NDArray[Any], ...]:
    """Ways [..., 4] from the first endpoints to the second: along the line, and of the scalar."""
    is_scalar = np.arange(_CHANNELS) == SCALAR[kinds][..., None]
    return np.where(is_scalar, 0, along), np.where(is_scalar, along, 0)


def indices_of(
    texels: FloatArray, first: FloatArray, second: FloatArray, kinds: NDArray[np.integer[Any]]
) -> tuple[Ints, Ints]:
    """Indices [..., 16] of texels [..., 16, 4] between two endpoints [..., 4]: along the line, and
    of the scalar."""
    found = []
    for along, last in zip(
        parts_of(second - first, kinds), (LINE_LAST[kinds], SCALAR_LAST[kinds]), strict=True
    ):
        square = np.maximum((along * along).sum(-1), 1)
        place = np.einsum("...tc,...c->...t", texels - first[..., None, :], along)
        share = np.clip(place / square[..., None], 0, 1) * last[..., None].astype(texels.dtype)
        found.append(np.floor(share + texels.dtype.type(0.5)).astype(np.int64))
    return found[0], found[1]


def decode_indices(
    first: NDArray[Any],
    second: NDArray[Any],
    kinds: NDArray[np.integer[Any]],
    line: Ints,
    scalar: Ints,
) -> Ints:
    """The bytes [..., 16, 4] of a block's texels."""
    is_scalar = np.arange(_CHANNELS) == SCALAR[kinds][..., None, None]
    weight = np.where(
        is_scalar,
        weights(scalar, SCALAR_LAST[kinds][..., None])[..., None],
        weights(line, LINE_LAST[kinds][..., None])[..., None],
    )
    first, second = (each.astype(np.int64)[..., None, :] for each in (first, second))
    mixed: NDArray[Any] = (64 - weight) * first + weight * second + 32
    return mixed >> 6


def pack(
    first: NDArray[Any],
    second: NDArray[Any],
    kinds: NDArray[np.integer[Any]],
    line: Ints,
    scalar: Ints,
) -> Bytes:
    """The blocks [..., 16] of these endpoints, kinds and indices."""
    swapped = _SWAPPED[SCALAR[kinds]]
    ends = np.stack([np.take_along_axis(each, swapped, -1) for each in (first, second)], -1)
    ends = ends.astype(np.int64)
    line, scalar = line.copy(), scalar.copy()
    for indices, last, channels in (
        (line, LINE_LAST[kinds], slice(0, 3)),
        (scalar, SCALAR_LAST[kinds], slice(3, 4)),
    ):
        # the highest bit of the first index is left out: the other order of ends has the others
        turns = 2 * indices[..., 0] > last
        if channels.start == 0:
            ends[kinds == 0] = _turned(ends, turns)[kinds == 0]
        is_other = kinds != 0
        turned = _turned(ends, turns)
        ends[is_other, channels] = turned[is_other, channels]
        indices[turns] = last[turns, None] - indices[turns]
    blocks = np.zeros((*kinds.shape, BLOCK_BYTES), np.uint8)
    for mode in np.unique(MODE[kinds]):
        for large in (False, True):
            chosen = (MODE[kinds] == mode) & ((LINE_LAST[kinds] > SCALAR_LAST[kinds]) == large)
            if chosen.any():
                rotation = _ROTATION[np.minimum(SCALAR[kinds[chosen]], 3)]
                fields = _fields(
                    int(mode), large, ends[chosen], rotation, line[chosen], scalar[chosen]
                )
                bits = [
                    (values >> bit & 1).astype(np.uint8)
                    for values, count in fields
                    for bit in range(count)
                ]
                blocks[chosen] = np.packbits(np.stack(bits, -1), axis=-1, bitorder="little")
    return blocks


def _turned(ends: Ints, turns: NDArray[np.bool_]) -> Ints:
    return np.where(turns[..., None, None], ends[..., ::-1], ends)


def _fields(
    mode: int, large: bool, ends: Ints, rotation: Ints, line: Ints, scalar: Ints
) -> Iterator[tuple[Ints, int]]:
    """Values and bits of a block's fields in their order. `large`: the line's indices have more
    bits than the scalar's."""
    yield np.full(len(ends), 1 << mode), mode + 1
    if mode == 6:
        for channel in range(_CHANNELS):
            for end in range(2):
                yield ends[:, channel, end] >> 1, 7
        for end in range(2):
            yield ends[:, 0, end] & 1, 1
        yield from _indices(line, 4)
        return
    yield rotation, 2
    if mode == 4:
        yield np.full(len(ends), int(large)), 1
    for channel in range(_CHANNELS):
        bits = {4: (5, 6), 5: (7, 8)}[mode][channel == 3]
        for end in range(2):
            yield ends[:, channel, end] >> 8 - bits, bits
    sets = ((scalar, 2), (line, 3)) if large else ((line, 2), (scalar, 3 if mode == 4 else 2))
    for indices, bits in sets:
        yield from _indices(indices, bits)


def _indices(indices: Ints, bits: int) -> Iterator[tuple[Ints, int]]:
    for texel in range(TEXELS):
        yield indices[:, texel], bits - (texel == 0)


def unpack(blocks: Bytes) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Endpoints [..., 4], kinds and indices [..., 16] of blocks; the inverse of `pack`."""
    flat = blocks.reshape(-1, BLOCK_BYTES)
    bits = np.unpackbits(flat, axis=-1, bitorder="little").astype(np.int64)
    ends, kinds = np.zeros((len(flat), _CHANNELS, 2), np.int64), np.zeros(len(flat), np.int64)
    line, scalar = (np.zeros((len(flat), TEXELS), np.int64) for _ in range(2))
    for mode in (4, 5, 6):
        for large in (False, True) if mode == 4 else (mode == 6,):
            chosen = _is_mode(flat, mode) & ((bits[:, 7] == large) | (mode != 4))
            if chosen.any():
                part = _read(bits[chosen], mode, large)
                ends[chosen], kinds[chosen], line[chosen], scalar[chosen] = part
    shape = blocks.shape[:-1]
    first, second = (
        np.take_along_axis(ends[..., end], _SWAPPED[SCALAR[kinds]], -1).reshape(*shape, _CHANNELS)
        for end in range(2)
    )
    line, scalar = (each.reshape(*shape, TEXELS) for each in (line, scalar))
    return first, second, kinds.reshape(shape), line, scalar


def _read(bits: Ints, mode: int, large: bool) -> tuple[Ints, Ints, Ints, Ints]:
    """Endpoints as they are stored, kinds and indices of blocks of one mode."""
    place = mode + 1

    def take(count: int) -> Ints:
        nonlocal place
        place += count
        return np.asarray(bits[:, place - count : place] @ (1 << np.arange(count)))

    def take_indices(count: int) -> Ints:
        return np.stack([take(count - (texel == 0)) for texel in range(TEXELS)], -1)

    rotation = take(2) if mode != 6 else np.zeros(len(bits), np.int64)
    place += mode == 4
    ends = np.empty((len(bits), _CHANNELS, 2), np.int64)
    for channel in range(_CHANNELS):
        count = {4: (5, 6), 5: (7, 8), 6: (7, 7)}[mode][channel == 3]
        for end in range(2):
            code = take(count)
            ends[:, channel, end] = (
                2 * code if mode == 6 else code << 8 - count | code >> 2 * count - 8
            )
    none = np.zeros((len(bits), TEXELS), np.int64)
    if mode == 6:
        for end in range(2):
            ends[:, :, end] += take(1)[:, None]
        return ends, rotation, take_indices(4), none
    small = take_indices(2)
    other = take_indices(3 if mode == 4 else 2)
    # rotations 0 to 3 have the scalar in channel 3, 0, 1, 2
    kinds = {4: 5 if large else 1, 5: 9}[mode] + (rotation + 3) % 4
    return (ends, kinds, other, small) if large else (ends, kinds, small, other)


def _is_mode(blocks: Bytes, mode: int) -> NDArray[np.bool_]:
    """The mode is the place of the lowest bit that is set."""
    return np.asarray(blocks[..., 0] & (2 << mode) - 1 == 1 << mode)


def is_known(blocks: Bytes) -> NDArray[np.bool_]:
    """Whether each block is of mode 4, 5 or 6."""
    return np.asarray(_is_mode(blocks, 4) | _is_mode(blocks, 5) | _is_mode(blocks, 6))


def as_mode_4(first_bytes: Bytes) -> Bytes:
    """First bytes of blocks with the mode changed to 4, for which all other bits are valid."""
    return np.asarray(first_bytes & 0xE0 | 0x10)


def decode(blocks: Bytes) -> Bytes:
    """The bytes [..., 16, 4] of the texels of blocks [..., 16], row by row."""
    return decode_indices(*unpack(blocks)).astype(np.uint8)


def to_blocks(texels: NDArray[Any]) -> NDArray[Any]:
    """Texels [height, width, channels] as [rows, columns, 16, channels]. Beyond the edge its texels
    are repeated."""
    height, width, channels = texels.shape
    rows, columns = blocks_of(height), blocks_of(width)
    missing = SIDE * rows - height, SIDE * columns - width
    if any(missing):
        texels = np.pad(texels, ((0, missing[0]), (0, missing[1]), (0, 0)), "edge")
    parts = texels.reshape(rows, SIDE, columns, SIDE, channels).swapaxes(1, 2)
    return parts.reshape(rows, columns, TEXELS, channels)


def from_blocks(blocks: NDArray[Any], height: int, width: int) -> NDArray[Any]:
    """The inverse of to_blocks."""
    rows, columns, _, channels = blocks.shape
    parts = blocks.reshape(rows, columns, SIDE, SIDE, channels).swapaxes(1, 2)
    return parts.reshape(rows * SIDE, columns * SIDE, channels)[:height, :width]
