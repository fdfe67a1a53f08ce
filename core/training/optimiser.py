"""Adam, lazy for the latents; the decoder's is in rotated_adam.py.

Lazy means that texels without a sample in a step keep their moments. At 4,096 samples a step most
texels are untouched, so this is what makes a step cheap; it trains as well as the dense form.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.texels import IndexArray

BETA_1 = 0.9
BETA_2 = 0.999
# Of the decoder, whose every number has a gradient in every step.
DECODER_BETA_2 = 0.99
# Tiny: gradients of dark, smooth materials are, too.
EPSILON = 1e-15


def adam_rate(rate: float, step: int, beta_2: float = BETA_2) -> float:
    """The rate with both bias corrections folded in; the first step is 0."""
    return rate * math.sqrt(1 - beta_2 ** (step + 1)) / (1 - BETA_1 ** (step + 1))


def adam(
    values: FloatArray, m: FloatArray, v: FloatArray, gradient: FloatArray, rate: float
) -> None:
    """One update in place; `rate` comes from adam_rate. The gradient's array is used up."""
    adam_change(m, v, gradient, rate, BETA_2)
    values -= gradient


def adam_change(
    m: FloatArray, v: FloatArray, gradient: FloatArray, rate: float, beta_2: float
) -> None:
    """Replaces the gradient by what is to be taken off the values."""
    dtype = gradient.dtype.type
    square = np.multiply(gradient, gradient)
    square *= dtype(1 - beta_2)
    v *= dtype(beta_2)
    v += square
    m *= dtype(BETA_1)
    gradient *= dtype(1 - BETA_1)
    m += gradient
    np.sqrt(v, out=square)
    square += dtype(EPSILON)
    np.divide(m, square, out=gradient)
    gradient *= dtype(rate)


class LazyAdam:
    """Adam on the rows of a [rows, channels] array, those that are touched."""

    def __init__(self, values: FloatArray) -> None:
        self.values = values
        self.m = np.zeros_like(values)
        self.v = np.zeros_like(values)

    def update(self, rows: IndexArray, gradient: FloatArray, rate: float) -> None:
        """`rows` holds no row twice; the gradient is [rows, channels] and is used up."""
        arrays = (self.values, self.m, self.v)
        values, m, v = (np.take(array, rows, axis=0, mode="clip") for array in arrays)
        adam(values, m, v, gradient, rate)
        for array, new in zip(arrays, (values, m, v), strict=True):
            np.put(_as_items(array), rows, _as_items(new), mode="clip")


def _as_items(array: FloatArray) -> NDArray[Any]:
    """Rows as opaque items: numpy moves one item of 32 bytes faster than eight of four."""
    return array.view(f"V{array.shape[1] * array.itemsize}")[:, 0]
