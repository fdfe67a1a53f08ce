"""Activations of the hidden layers by name, and of the output: the sum of exponentials.

Raw outputs are [3 lobes, N]: three channels of the first lobe, then those of the next. Each lobe is
an exponential, and their sum is the response.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network.spec import CHANNELS, LEAKY_SLOPE, SMELU_WIDTH, NetworkSpec


@dataclass(frozen=True)
class Activation:
    """A function of the pre-activation, and its derivative."""

    value: Callable[[FloatArray], FloatArray]
    derivative: Callable[[FloatArray], FloatArray]


def _sigmoid(x: FloatArray) -> FloatArray:
    # unlike exp(-x), tanh does not overflow
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * x))


def _silu_derivative(x: FloatArray) -> FloatArray:
    sigmoid = _sigmoid(x)
    return sigmoid * (1 + x * (1 - sigmoid))


def _smelu(x: FloatArray) -> FloatArray:
    """Slope LEAKY_SLOPE on the left and 1 on the right, with a parabola of width 2 SMELU_WIDTH
    between them."""
    bend = np.clip(x + SMELU_WIDTH, 0, 2 * SMELU_WIDTH)
    rest = np.maximum(x - SMELU_WIDTH, 0)
    return np.asarray(LEAKY_SLOPE * x + (1 - LEAKY_SLOPE) * (bend**2 / (4 * SMELU_WIDTH) + rest))


def _smelu_derivative(x: FloatArray) -> FloatArray:
    bend = np.clip(x + SMELU_WIDTH, 0, 2 * SMELU_WIDTH)
    return np.asarray(LEAKY_SLOPE + (1 - LEAKY_SLOPE) * bend / (2 * SMELU_WIDTH))


# Keys as in spec.ACTIVATIONS.
FUNCTIONS = {
    "leaky_relu": Activation(
        lambda x: np.maximum(x, LEAKY_SLOPE * x),
        lambda x: np.where(x > 0, 1, LEAKY_SLOPE).astype(x.dtype),
    ),
    "silu": Activation(lambda x: x * _sigmoid(x), _silu_derivative),
    "leaky_smelu": Activation(_smelu, _smelu_derivative),
    "relu": Activation(lambda x: np.maximum(x, 0), lambda x: (x > 0).astype(x.dtype)),
}


def response_of(spec: NetworkSpec, raw: FloatArray) -> FloatArray:
    """The response [3, N] for raw outputs."""
    return np.asarray(np.exp(_exponents(spec, raw)).sum(0))


def exponent_of(spec: NetworkSpec, raw: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The logarithm of the response [3, N], and each lobe's share of it [lobes, 3, N]."""
    exponents = _exponents(spec, raw)
    largest = exponents.max(0)
    exponents -= largest
    shares: FloatArray = np.exp(exponents, out=exponents)
    total = shares.sum(0)
    shares /= total
    return largest + np.log(total), shares


def exponent_backward(shares: FloatArray, gradient: FloatArray) -> FloatArray:
    """Gradient by the raw outputs, given the gradient by the logarithm of the response.

    The clamp passes gradients on: responses stay below the limit, so gradients lead back from above
    it. With a gradient of 0 an output would stay there.
    """
    return np.asarray((shares * gradient).reshape(-1, gradient.shape[-1]))


def _exponents(spec: NetworkSpec, raw: FloatArray) -> FloatArray:
    limited = np.minimum(raw - spec.output_shift, spec.output_limit)
    return np.asarray(limited.reshape(spec.lobes, CHANNELS, -1))
