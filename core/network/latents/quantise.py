"""Quantises latents to bytes: ranges, hard rounding, and soft rounding for training.

A latent is `offset + scale * byte / 255`. Each channel of a material has one offset and one scale
for all mip levels.

Soft rounding (Agustsson and Theis 2020, Universally Quantized Neural Compression) keeps whole
numbers, moves other numbers towards them, and is differentiable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.base.errors import SettingsError
from verdigris.core.network.parameters import Parameters

BYTE = 255
# The least range of a constant channel, so that single floats resolve it beside the offset.
_LEAST_SCALE = 1e-6
_LEAST_SHARE = 1e-3
# Rows that are converted together, so that intermediate arrays fit into caches.
_PART = 1 << 15
_JOINED = 64


@dataclass(frozen=True)
class LatentRange:
    """The range of a material's latents, by channel: `offset + scale * byte / 255`."""

    scale: NDArray[np.float32]
    offset: NDArray[np.float32]

    def __post_init__(self) -> None:
        for name in ("scale", "offset"):
            values = getattr(self, name)
            if values.ndim != 1 or not np.isfinite(values).all():
                raise SettingsError(f"latent {name} is {values}: use one finite number a channel")
        if len(self.scale) != len(self.offset) or not (self.scale > 0).all():
            raise SettingsError(f"latent scale is {self.scale}: use one number above 0 a channel")


def fit_range(latents: FloatArray) -> LatentRange:
    """The range from the smallest to the largest value of each channel of latents [texels,
    channels]."""
    low, high = (np.asarray(_along_rows(end, latents), np.float32) for end in (np.min, np.max))
    least = np.maximum(_LEAST_SHARE * np.maximum(np.abs(low), np.abs(high)), _LEAST_SCALE)
    return LatentRange(np.maximum(high - low, least).astype(np.float32), low)


def _along_rows(end: Callable[..., Any], rows: FloatArray) -> NDArray[Any]:
    """The least or the largest value of each column. numpy is five times as fast with long rows."""
    count, width = rows.shape
    whole = count - count % _JOINED
    if not whole:
        return np.asarray(end(rows, axis=0))
    joined = end(rows[:whole].reshape(-1, _JOINED * width), axis=0).reshape(_JOINED, width)
    return np.asarray(end(np.concatenate([joined, rows[whole:]]), axis=0))


def quantise(latents: FloatArray, latent_range: LatentRange) -> NDArray[np.uint8]:
    """The nearest bytes [texels, channels]. Outliers are clipped."""

    def rounded(part: NDArray[Any]) -> NDArray[Any]:
        places = (part - latent_range.offset) / latent_range.scale
        return np.asarray(np.rint(np.clip(places, 0, 1) * np.float32(BYTE)))

    return map_in_parts(rounded, latents, np.uint8)


def dequantise(stored: NDArray[np.uint8], latent_range: LatentRange) -> NDArray[np.float32]:
    """The values of stored bytes."""

    def value(part: NDArray[Any]) -> NDArray[Any]:
        share = part.astype(np.float32) / np.float32(BYTE)
        return latent_range.offset + latent_range.scale * share

    return map_in_parts(value, stored, np.float32)


def map_in_parts(
    change: Callable[[NDArray[Any]], NDArray[Any]], rows: NDArray[Any], dtype: Any
) -> NDArray[Any]:
    """Applies `change` to blocks of rows. For all rows of a large texture at once, intermediate
    arrays would take gigabytes."""
    result = np.empty(rows.shape, dtype)
    for begin in range(0, len(rows), _PART):
        part = slice(begin, begin + _PART)
        result[part] = change(rows[part])
    return result


def soft_round(x: FloatArray, sharpness: float) -> FloatArray:
    """x at sharpness 0, the nearest whole number as sharpness grows."""
    whole = np.floor(x)
    result = _tanh(x, whole, sharpness)
    result *= _gain(sharpness)
    result += 0.5
    result += whole
    return result


def soft_round_derivative(x: FloatArray, sharpness: float) -> FloatArray:
    """Derivative of soft_round by x."""
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
    """Each material's range over all mip levels. `outliers` is the share of a channel's values that
    is left out at either end."""
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
    """The low and the high end of each channel without outliers, [2, channels]."""
    channels = levels[0].shape[-1]
    ends = np.empty((2, channels), np.float32)
    # one channel at a time: all of a large texture would take a gigabyte
    for channel in range(channels):
        values = np.concatenate([level[..., channel].ravel() for level in levels])
        place = int(outliers * len(values))
        values.partition((place, len(values) - 1 - place))
        ends[:, channel] = values[place], values[-1 - place]
    return ends


def quantised_copy(parameters: Parameters, ranges: Sequence[LatentRange]) -> Parameters:
    """A copy with latents rounded to bytes."""
    result = parameters.copy()
    for level in range(parameters.layout.levels):
        for values, latent_range in zip(result.level(level), ranges, strict=True):
            values[:] = dequantise(quantise(values, latent_range), latent_range)
    return result


def pack_ranges(ranges: Sequence[LatentRange]) -> NDArray[Any]:
    """Scales and offsets as [materials, 2, channels], for checkpoints."""
    return np.stack([np.stack([each.scale, each.offset]) for each in ranges])


def unpack_ranges(packed: NDArray[Any]) -> tuple[LatentRange, ...]:
    """The inverse of pack_ranges."""
    return tuple(LatentRange(scale, offset) for scale, offset in packed.astype(np.float32))
