"""Weights from the error by place: more where a bake is worse than elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Passes of a 3 x 3 mean: the error of one texel is that of a few samples.
_PASSES = 2
# Percentiles of the error.
_NORMAL_UP_TO, _MOST_AT = 75, 99


def weights_from_error(errors: Floats, size: int, normal: float, most: float) -> Floats:
    """A map of weights (size, size) from errors by place, row 0 at v = 0.

    The quarter of the texture with the largest errors gets more weight than `normal`: weights on
    most of a surface help little. A weight grows with the square root of the error: this density
    makes the mean error least where a place's error is inversely proportional to its samples. The
    error of one place in a hundred has the weight `most`.
    """
    smooth = np.asarray(errors, np.float64)
    for _ in range(_PASSES):
        smooth = _mean_of_neighbours(smooth)
    low, high = (float(np.percentile(smooth, each)) for each in (_NORMAL_UP_TO, _MOST_AT))
    if not high > low > 0:
        return np.full((size, size), normal, np.float32)
    roots = (np.sqrt(smooth) - np.sqrt(low)) / (np.sqrt(high) - np.sqrt(low))
    weights = normal + (most - normal) * np.clip(roots, 0, 1)
    return _resampled(weights, size)


def _mean_of_neighbours(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each texel and its eight neighbours, over the edges of a repeating texture."""
    steps = [(down, across) for down in (-1, 0, 1) for across in (-1, 0, 1)]
    return np.asarray(np.mean([np.roll(values, step, (0, 1)) for step in steps], axis=0))


def _resampled(values: NDArray[np.float64], size: int) -> Floats:
    """Bilinear interpolation between texel centres of a repeating texture."""
    for axis in (0, 1):
        count = values.shape[axis]
        place = (np.arange(size) + 0.5) / size * count - 0.5
        first = np.floor(place).astype(np.int64)
        share = (place - first).reshape((-1, 1) if axis == 0 else (1, -1))
        near, far = (np.take(values, each % count, axis) for each in (first, first + 1))
        values = near + share * (far - near)
    return values.astype(np.float32)
