"""Removes grain from light that is drawn by few directions, and keeps what the material shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Bools, FloatArray, Floats

# Radii of the squares around a pixel: for one pass, for several, and to measure their grain.
_OF_ONE, _OF_SEVERAL, _OF_GRAIN = 2, 1, 3
# Pixels beside an area on which its light without grain depends.
APRON = 2 * _OF_SEVERAL + _OF_GRAIN
# Variance of the guide, as a share of its squared mean, below which nothing is detail.
_LEAST_DETAIL = 0.02
_LEAST_LIGHT = 1e-3
# Variance of the mean of two halves by that of their difference: less than a quarter, because their
# directions are of one sequence that is spread evenly, and detail differs between halves, too. With
# more passes than this, grain vanishes faster than detail.
_SHARE_OF_GRAIN, _FEW_PASSES = 1 / 16, 8


def smoothed(light: Floats, guide: Floats, is_drawn: Bools, radius: int = _OF_ONE) -> Floats:
    """Light (height, width, 3) without grain: at each pixel a linear function of the guide, fitted
    to the pixels around it (the guided filter of He, Sun and Tang 2010)."""
    # of all channels, because numpy repeats a single one slowly
    here = np.repeat(is_drawn[..., None].astype(np.float32), 3, -1)
    light, guide = light * here, guide * here
    each = 1 / np.maximum(window_sums(here, radius), 1.0)
    mean, mean_guide = window_sums(light, radius) * each, window_sums(guide, radius) * each
    covariance = window_sums(light * guide, radius) * each - mean * mean_guide
    variance = np.maximum(window_sums(guide * guide, radius) * each - mean_guide**2, 0)
    slope = covariance / (variance + _LEAST_DETAIL * mean_guide**2 + 1e-8)
    offset = mean - slope * mean_guide
    slope = window_sums(slope * here, radius) * each
    offset = window_sums(offset * here, radius) * each
    return np.asarray(np.maximum(slope * guide + offset, 0) * here, np.float32)


def without_grain(
    first: Floats, second: Floats, guide: Floats, is_drawn: Bools, passes: int = _FEW_PASSES
) -> Floats:
    """The mean of two pictures of the same light with independent grain, smoothed as far as that
    brings it nearer to the truth: a smoothed half is compared with the other half, which shows how
    much detail the smoothing takes (cross-validation, as Rousselle, Knaus and Zwicker 2012 do)."""
    here = is_drawn[..., None].astype(np.float32)
    halves = first, second
    smooth = [smoothed(half, guide, is_drawn, _OF_SEVERAL) for half in halves]
    mean, even = (first + second) / 2, (smooth[0] + smooth[1]) / 2
    count = np.maximum(window_sums(here, _OF_GRAIN), 1.0)
    level = np.maximum(window_sums(mean * here, _OF_GRAIN) / count, _LEAST_LIGHT)

    def spread(difference: Floats) -> Floats:
        shares = (difference / level) ** 2 * here
        return np.asarray(window_sums(shares.sum(-1, keepdims=True), _OF_GRAIN) / count, np.float32)

    apart = spread(first - second)
    across = (spread(smooth[0] - second) + spread(smooth[1] - first)) / 2
    of_grain = _SHARE_OF_GRAIN * min(1.0, _FEW_PASSES / passes) ** 2
    grain, lost = of_grain * apart, np.maximum(across - apart / 2, 0)
    share = grain / (grain + lost + 1e-9) * here
    return np.asarray(mean + share * (even - mean), np.float32)


def window_sums(values: FloatArray, radius: int) -> Floats:
    """Sums over the square around each pixel, by shifted copies: the squares are small."""
    sums = np.asarray(values, np.float32)
    for axis in (0, 1):
        along = np.moveaxis(sums, axis, 0)
        total = np.moveaxis(sums.copy(), axis, 0)
        for step in range(1, min(radius, len(along) - 1) + 1):
            total[step:] += along[:-step]
            total[:-step] += along[step:]
        sums = np.moveaxis(total, 0, axis)
    return sums
