"""Activations of the hidden layers, by name: value and derivative by the pre-activation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.spec import LEAKY_SLOPE, SMELU_WIDTH


@dataclass(frozen=True)
class Activation:
    value: Callable[[FloatArray], FloatArray]
    derivative: Callable[[FloatArray], FloatArray]


def _sigmoid(x: FloatArray) -> FloatArray:
    # tanh does not overflow, unlike exp(-x).
    result: FloatArray = 0.5 + 0.5 * np.tanh(0.5 * x)
    return result


def _silu_derivative(x: FloatArray) -> FloatArray:
    sigmoid = _sigmoid(x)
    return sigmoid * (1 + x * (1 - sigmoid))


def _smelu(x: FloatArray) -> FloatArray:
    """Slope LEAKY_SLOPE on the left, 1 on the right, a parabola of width 2 SMELU_WIDTH between."""
    bend = np.clip(x + SMELU_WIDTH, 0, 2 * SMELU_WIDTH)
    rest = np.maximum(x - SMELU_WIDTH, 0)
    result: FloatArray = LEAKY_SLOPE * x + (1 - LEAKY_SLOPE) * (bend**2 / (4 * SMELU_WIDTH) + rest)
    return result


def _smelu_derivative(x: FloatArray) -> FloatArray:
    bend = np.clip(x + SMELU_WIDTH, 0, 2 * SMELU_WIDTH)
    result: FloatArray = LEAKY_SLOPE + (1 - LEAKY_SLOPE) * bend / (2 * SMELU_WIDTH)
    return result


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
