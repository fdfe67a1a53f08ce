"""Adam for the decoder (see rotated_adam.py), and lazy RMSProp for the latents.

Lazy: a step updates only the texels that its samples touch. At 4,096 samples these are few, so a
step is cheap. The result is as good as with dense updates.

Latents have no momentum. Samples touch a texel of a large texture about once in a hundred steps, so
a running mean of its gradients would be outdated (docs/tried/texels.md, "Momentum").
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network.latents.texels import IndexArray
from verdigris.core.network.parameters import FloatArray

BETA_1 = 0.9
BETA_2 = 0.999
# For the decoder: all of its parameters have a gradient in every step.
DECODER_BETA_2 = 0.99
# Tiny, because gradients of dark, smooth materials are tiny.
EPSILON = 1e-15


def adam_rate(rate: float, step: int, beta_2: float = BETA_2) -> float:
    """The rate with both bias corrections of Adam; the first step is 0."""
    return scaled_rate(rate, step, beta_2) / (1 - BETA_1 ** (step + 1))


def scaled_rate(rate: float, step: int, beta_2: float = BETA_2) -> float:
    """The rate with the bias correction of the mean square only, for RMSProp."""
    return rate * math.sqrt(1 - beta_2 ** (step + 1))


def adam(
    values: FloatArray, m: FloatArray, v: FloatArray, gradient: FloatArray, rate: float
) -> None:
    """Updates the values in place; `rate` is from adam_rate. Overwrites the gradient."""
    adam_change(m, v, gradient, rate, BETA_2)
    values -= gradient


def adam_change(
    m: FloatArray, v: FloatArray, gradient: FloatArray, rate: float, beta_2: float
) -> None:
    """Replaces the gradient by the change to subtract from the values."""
    dtype = gradient.dtype.type
    root = _update_root(v, gradient, beta_2)
    m *= dtype(BETA_1)
    gradient *= dtype(1 - BETA_1)
    m += gradient
    np.divide(m, root, out=gradient)
    gradient *= dtype(rate)


def _update_root(v: FloatArray, gradient: FloatArray, beta_2: float) -> FloatArray:
    """Updates a running mean of squares and returns its roots plus EPSILON."""
    dtype = gradient.dtype.type
    square = np.multiply(gradient, gradient)
    square *= dtype(1 - beta_2)
    v *= dtype(beta_2)
    v += square
    np.sqrt(v, out=square)
    square += dtype(EPSILON)
    return square


class LazyRmsProp:
    """RMSProp for some rows of an array [rows, channels] in each step."""

    def __init__(self, values: FloatArray) -> None:
        self.values = values
        self.v = np.zeros_like(values)

    def update(self, rows: IndexArray, gradient: FloatArray, rate: float) -> None:
        """`rows` are unique, `rate` is from scaled_rate. Overwrites the gradient [rows,
        channels]."""
        arrays = (self.values, self.v)
        values, v = (np.take(array, rows, axis=0, mode="clip") for array in arrays)
        gradient /= _update_root(v, gradient, BETA_2)
        gradient *= gradient.dtype.type(rate)
        values -= gradient
        for array, new in zip(arrays, (values, v), strict=True):
            np.put(_as_items(array), rows, _as_items(new), mode="clip")


def _as_items(array: FloatArray) -> NDArray[Any]:
    """Rows as opaque items: numpy copies one item of 32 bytes faster than eight of 4 bytes."""
    return array.view(f"V{array.shape[1] * array.itemsize}")[:, 0]
