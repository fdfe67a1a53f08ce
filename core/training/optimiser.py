"""Adam, for the decoder (rotated_adam.py), and what latents have in its place.

Latents are lazy: texels without a sample in a step stay as they are. At 4,096 samples a step most
are untouched, so this is what makes a step cheap; it trains as well as the dense form.

Nor have they a running mean of gradients. A texel of a large texture is met once in a hundred
steps, so such a mean is of what decoders said that have long been left behind, and moving by it
leads both astray (docs/tried/texels.md, "Momentum").
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
    return scaled_rate(rate, step, beta_2) / (1 - BETA_1 ** (step + 1))


def scaled_rate(rate: float, step: int, beta_2: float = BETA_2) -> float:
    """The same without the correction of a mean of gradients."""
    return rate * math.sqrt(1 - beta_2 ** (step + 1))


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
    root = _follow_root(v, gradient, beta_2)
    m *= dtype(BETA_1)
    gradient *= dtype(1 - BETA_1)
    m += gradient
    np.divide(m, root, out=gradient)
    gradient *= dtype(rate)


def _follow_root(v: FloatArray, gradient: FloatArray, beta_2: float) -> FloatArray:
    """Moves a running mean of squares on; its roots, none of them 0."""
    dtype = gradient.dtype.type
    square = np.multiply(gradient, gradient)
    square *= dtype(1 - beta_2)
    v *= dtype(beta_2)
    v += square
    np.sqrt(v, out=square)
    square += dtype(EPSILON)
    return square


class LazyRmsProp:
    """Moves rows of a [rows, channels] array, those that are touched, against their gradients,
    each number by what its gradient is of the root of their running mean square."""

    def __init__(self, values: FloatArray) -> None:
        self.values = values
        self.v = np.zeros_like(values)

    def update(self, rows: IndexArray, gradient: FloatArray, rate: float) -> None:
        """`rows` holds no row twice; `rate` comes from scaled_rate. The gradient is [rows,
        channels] and is used up."""
        arrays = (self.values, self.v)
        values, v = (np.take(array, rows, axis=0, mode="clip") for array in arrays)
        gradient /= _follow_root(v, gradient, BETA_2)
        gradient *= gradient.dtype.type(rate)
        values -= gradient
        for array, new in zip(arrays, (values, v), strict=True):
            np.put(_as_items(array), rows, _as_items(new), mode="clip")


def _as_items(array: FloatArray) -> NDArray[Any]:
    """Rows as opaque items: numpy moves one item of 32 bytes faster than eight of four."""
    return array.view(f"V{array.shape[1] * array.itemsize}")[:, 0]
