"""Differences between student and teacher: on samples, on pictures, under a sky and by texel.

The metrics are those of docs/BENCHMARKS.md. No single one is enough: a mean in log space hides
errors of dark values, and a relative one hides errors of highlights.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.base.errors import SettingsError

# Keep the relative metrics finite on black.
SMAPE_EPSILON = 1e-3
RELATIVE_EPSILON = 1e-3
# The PSNR of equal pictures, which would be infinite.
PSNR_LIMIT = 100.0
# Errors that no eye sees.
INDISTINGUISHABLE_LOG_MAE, INDISTINGUISHABLE_PSNR, INDISTINGUISHABLE_FLIP = 3e-4, 55.0, 0.005
LARGEST_BIAS = 0.005
# Least light of a place: the error of one that reflects nothing would be infinite.
_LEAST_LIGHT = 1e-6
_OPENMP_THREADS = "OMP_NUM_THREADS"


@dataclass(frozen=True)
class SampleMetrics:
    """Errors on held-out samples."""

    log_mae: float
    """Mean |log(1 + p) - log(1 + r)|."""

    relative_l1: float
    """Sum of |p - r| over the sum of r."""

    smape: float
    """Mean |p - r| / ((p + r) / 2 + 0.001)."""

    bias: float
    """Sum of p over the sum of r, minus 1: the share of the light that is gained or lost."""


@dataclass(frozen=True)
class PictureMetrics:
    """Errors of a picture, in display values."""

    psnr: float
    """PSNR in dB, of display values from 0 to 1."""

    ldr_flip: float
    """Mean FLIP, 0 to 1."""


@dataclass(frozen=True)
class SkyMetrics:
    """Errors of the light that places reflect from a sky, relative to the light of each place."""

    median: float
    """The error of a median place."""

    p90: float
    """The 90th percentile: a tenth of the places have larger errors."""

    largest: float
    """The largest error of a place."""

    bias: float
    """All light of the student over all light of the teacher, minus 1."""

    bias_deviation: float = 0.0
    """Standard deviation of the bias over draws of the places."""


def measure_samples(prediction: FloatArray, reference: FloatArray) -> SampleMetrics:
    """Compares two arrays of responses, [N, 3]."""
    p, r = _pair(prediction, reference)
    difference = np.abs(p - r)
    total = max(float(np.abs(r).sum()), RELATIVE_EPSILON)
    return SampleMetrics(
        log_mae=float(np.abs(np.log1p(p) - np.log1p(r)).mean()),
        relative_l1=float(difference.sum() / total),
        smape=float((difference / ((p + r) / 2 + SMAPE_EPSILON)).mean()),
        bias=float((p.sum() - r.sum()) / total),
    )


def display(radiance: FloatArray) -> FloatArray:
    """Display values of linear radiance: x / (1 + x), then the sRGB curve."""
    x = np.maximum(radiance, 0)
    # infinity / infinity would be NaN
    linear = np.where(np.isinf(x), 1, x / (1 + np.where(np.isinf(x), 0, x)))
    curve = 1.055 * np.maximum(linear, 1e-12) ** (1 / 2.4) - 0.055
    result: FloatArray = np.where(linear <= 0.0031308, 12.92 * linear, curve)
    return result


def psnr(prediction: FloatArray, reference: FloatArray) -> float:
    """PSNR in dB of two pictures of linear radiance, after the display transform."""
    p, r = _pair(prediction, reference)
    return ratio_of(float(np.square(display(p) - display(r)).mean()))


def ratio_of(square: float) -> float:
    """PSNR in dB of a mean square difference of display values."""
    return min(PSNR_LIMIT, -10 * float(np.log10(max(square, 1e-30))))


def ldr_flip(prediction: FloatArray, reference: FloatArray) -> tuple[float, FloatArray]:
    """Mean and map [height, width] of FLIP on display values."""
    p, r = _pair(prediction, reference)
    pictures = (np.ascontiguousarray(display(image), np.float32) for image in (r, p))
    evaluate = load_flip().evaluate
    error_map, mean, _ = evaluate(*pictures, "LDR", inputsRGB=True, applyMagma=False)
    return float(mean), cast(FloatArray, np.asarray(error_map)[..., 0])


def measure_picture(prediction: FloatArray, reference: FloatArray) -> PictureMetrics:
    """Compares two pictures [height, width, 3] of linear radiance."""
    return PictureMetrics(
        psnr=psnr(prediction, reference), ldr_flip=ldr_flip(prediction, reference)[0]
    )


def measure_light(prediction: FloatArray, reference: FloatArray) -> SkyMetrics:
    """Compares light that the same places reflect, [N, 3]. The error of a place is the sum of the
    absolute differences of its channels, over the sum of the reference."""
    p, r = _pair(prediction, reference)
    errors = np.abs(p - r).sum(1) / np.maximum(r.sum(1), _LEAST_LIGHT)
    return SkyMetrics(
        float(np.median(errors)),
        float(np.percentile(errors, 90)),
        float(errors.max()),
        *light_bias(p, r),
    )


def light_bias(prediction: FloatArray, reference: FloatArray) -> tuple[float, float]:
    """All light [N, 3] over that of the reference, minus 1, and the deviation of this ratio of sums
    over draws of the N places."""
    p, r = (each.sum(1) for each in _pair(prediction, reference))
    total = max(float(r.sum()), _LEAST_LIGHT)
    bias = float((p - r).sum()) / total
    return bias, float(np.sqrt(np.square(p - (1 + bias) * r).sum())) / total


def texel_errors(
    uv: FloatArray, prediction: FloatArray, reference: FloatArray, height: int, width: int
) -> FloatArray:
    """Mean log error of the samples in each texel [height, width]; NaN without samples."""
    p, r = _pair(prediction, reference)
    error = np.abs(np.log1p(p) - np.log1p(r)).mean(1)
    wrapped = uv - np.floor(uv)
    column = np.minimum((wrapped[:, 0] * width).astype(np.int64), width - 1)
    row = np.minimum((wrapped[:, 1] * height).astype(np.int64), height - 1)
    place = row * width + column
    total = np.bincount(place, error, height * width)
    count = np.bincount(place, minlength=height * width)
    mean = np.full(height * width, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean.reshape(height, width)


def _pair(prediction: FloatArray, reference: FloatArray) -> tuple[FloatArray, FloatArray]:
    if prediction.shape != reference.shape or prediction.shape[-1:] != (3,):
        raise SettingsError(
            f"shapes {prediction.shape} and {reference.shape} cannot be compared: use equal shapes "
            "with 3 channels"
        )
    return prediction.astype(np.float64), reference.astype(np.float64)


@cache
def load_flip() -> Any:
    """Loads the FLIP library when it is first needed, because it is large.

    It uses one OpenMP thread: for small pictures, many threads take longer to synchronise. OpenMP
    reads the number when it is loaded.
    """
    given = os.environ.get(_OPENMP_THREADS)
    os.environ.setdefault(_OPENMP_THREADS, "1")
    try:
        import flip_evaluator
    finally:
        if given is None:
            del os.environ[_OPENMP_THREADS]
    return flip_evaluator
