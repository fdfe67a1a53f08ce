"""Latents as bytes: the range that they share, hard rounding, and the soft one used in training.

A latent value is `offset + scale * code / codes`, with one offset and one scale for each channel of
a material, the same on all mip levels. A byte stores the code, as `255 * code / codes`.

Soft rounding (Agustsson and Theis 2020, Universally Quantized Neural Compression) leaves whole
numbers where they are, draws the rest towards them, and has a derivative everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.parameters import FloatArray, Parameters

BYTE = 255
# Bits that fill a byte with whole steps, so that their codes are bytes, too.
BITS = (8, 4)
# A channel that is the same everywhere still gets a range that fp32 tells apart from its offset.
_LEAST_SCALE = 1e-6
_LEAST_SHARE = 1e-3
# Rows that are changed at a time; what lies between then stays in caches.
_PART = 1 << 15


@dataclass(frozen=True)
class LatentRange:
    """What bytes mean: `offset + scale * byte / 255`, by channel."""

    scale: NDArray[np.float32]
    offset: NDArray[np.float32]

    def __post_init__(self) -> None:
        for name in ("scale", "offset"):
            values = getattr(self, name)
            if values.ndim != 1 or not np.isfinite(values).all():
                raise SettingsError(f"latent {name} is {values}: use a finite number a channel")
        if len(self.scale) != len(self.offset) or not (self.scale > 0).all():
            raise SettingsError(f"latent scale is {self.scale}: use a number above 0 a channel")


def fit_range(latents: FloatArray) -> LatentRange:
    """From the least to the largest value of each channel; latents are [texels, channels]."""
    low, high = (np.asarray(end(axis=0), np.float32) for end in (latents.min, latents.max))
    least = np.maximum(_LEAST_SHARE * np.maximum(np.abs(low), np.abs(high)), _LEAST_SCALE)
    return LatentRange(np.maximum(high - low, least).astype(np.float32), low)


def quantise(latents: FloatArray, latent_range: LatentRange, bits: int = 8) -> NDArray[np.uint8]:
    """The nearest codes as bytes [texels, channels]; what is out of range ends at its border."""
    codes = codes_of(bits)

    def rounded(part: NDArray[Any]) -> NDArray[Any]:
        places = (part - latent_range.offset) / latent_range.scale
        return np.asarray(np.rint(np.clip(places, 0, 1) * np.float32(codes)) * (BYTE // codes))

    return by_parts(rounded, latents, np.uint8)


def dequantise(stored: NDArray[np.uint8], latent_range: LatentRange) -> NDArray[np.float32]:
    """What the bytes mean."""

    def meant(part: NDArray[Any]) -> NDArray[Any]:
        share = part.astype(np.float32) / np.float32(BYTE)
        return latent_range.offset + latent_range.scale * share

    return by_parts(meant, stored, np.float32)


def by_parts(
    change: Callable[[NDArray[Any]], NDArray[Any]], rows: NDArray[Any], dtype: Any
) -> NDArray[Any]:
    """What a change makes of all rows, some at a time: of a large texture each array that lies
    between would take a gigabyte."""
    result = np.empty(rows.shape, dtype)
    for begin in range(0, len(rows), _PART):
        part = slice(begin, begin + _PART)
        result[part] = change(rows[part])
    return result


def codes_of(bits: int) -> int:
    """The largest code."""
    if bits not in BITS:
        raise SettingsError(f"latent_bits is {bits}: use {' or '.join(map(str, BITS))}")
    return int(2**bits - 1)


def soft_round(x: FloatArray, sharpness: float) -> FloatArray:
    """x itself at sharpness 0, the nearest whole number as it grows."""
    whole = np.floor(x)
    result = _tanh(x, whole, sharpness)
    result *= _gain(sharpness)
    result += 0.5
    result += whole
    return result


def soft_round_derivative(x: FloatArray, sharpness: float) -> FloatArray:
    """Of soft_round by x."""
    tanh = _tanh(x, np.floor(x), sharpness)
    result: FloatArray = 1 - tanh * tanh
    result *= sharpness * _gain(sharpness)
    return result


def _tanh(x: FloatArray, whole: FloatArray, sharpness: float) -> FloatArray:
    aside: FloatArray = x - whole
    aside -= 0.5
    aside *= sharpness
    return np.asarray(np.tanh(aside, out=aside))


def _gain(sharpness: float) -> float:
    return float(0.5 / np.tanh(0.5 * sharpness))


def fit_ranges(parameters: Parameters, outliers: float = 0.0) -> tuple[LatentRange, ...]:
    """Of each material's latents, over all mip levels, but for so large a part of a channel's
    values at either end."""
    ranges = []
    for material in range(parameters.layout.materials):
        levels = [parameters.level(level)[material] for level in range(parameters.layout.levels)]
        if outliers:
            ends = _inner_ends(levels, outliers)
        else:
            ends = np.stack([end((0, 1)) for level in levels for end in (level.min, level.max)])
        ranges.append(fit_range(ends))
    return tuple(ranges)


def _inner_ends(levels: Sequence[FloatArray], outliers: float) -> FloatArray:
    """[2, channels]"""
    channels = levels[0].shape[-1]
    ends = np.empty((2, channels), np.float32)
    # one at a time: of a large texture all of them would take a gigabyte
    for channel in range(channels):
        values = np.concatenate([level[..., channel].ravel() for level in levels])
        place = int(outliers * len(values))
        values.partition((place, len(values) - 1 - place))
        ends[:, channel] = values[place], values[-1 - place]
    return ends


def on_grid(parameters: Parameters, ranges: Sequence[LatentRange], bits: int = 8) -> Parameters:
    """A copy whose latents are what the bytes say."""
    result = parameters.copy()
    for level in range(parameters.layout.levels):
        for values, latent_range in zip(result.level(level), ranges, strict=True):
            values[:] = dequantise(quantise(values, latent_range, bits), latent_range)
    return result


def pack_ranges(ranges: Sequence[LatentRange]) -> NDArray[Any]:
    """[materials, 2, channels]: scale, offset; how checkpoints keep them."""
    return np.stack([np.stack([each.scale, each.offset]) for each in ranges])


def unpack_ranges(packed: NDArray[Any]) -> tuple[LatentRange, ...]:
    """The inverse of pack_ranges."""
    return tuple(LatentRange(scale, offset) for scale, offset in packed.astype(np.float32))
