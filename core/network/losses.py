"""Losses by name: functions of the exponent e of the prediction p = exp(e), and of the response r.

A loss is a mean over the three channels. As a function of the exponent, its gradient is exact and
small: the cube root of exp(e) is exp(e / 3), without division by a vanishing response.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network.spec import CHANNELS, RESPONSE_LIMIT, STEEPEST_ROOT

# Clamps logarithms. The cube root that multiplies them is nearly 0 there.
_LEAST_RESPONSE = 1e-30
# From this exponent on, cbrt_bounded is a straight line.
_BENT = 3 * math.log(STEEPEST_ROOT)

# Share of the light gradient that is added to the gradient of a loss, and the part of the last
# stage's steps after which it is added. docs/tried/loss.md compares other values.
LIGHT_SHARE = 0.5
LIGHT_START = 0.8
# In the light gradient, a response counts as at most so many times the prediction.
LIGHT_RATIO = 9.0

# (exponent [3, N], response [3, N]) -> (loss [N], its derivative by the exponent [3, N])
Loss = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def cbrt_log(exponent: FloatArray, response: FloatArray) -> tuple[FloatArray, FloatArray]:
    """cbrt_l1 where the prediction is too bright, and its tangent in e, r^(1/3) (log r - e), where
    it is too dark. The gradient then does not vanish for predictions that are far too dark.

    The larger formula is always the right one. A comparison is five times as fast as a mask."""
    root, target = np.exp(exponent / 3), np.cbrt(response)
    too_bright = root - target
    too_dark = target * (np.log(np.maximum(response, _LEAST_RESPONSE)) - exponent)
    loss = np.maximum(3 * too_bright, too_dark).mean(0)
    return loss, np.sign(too_bright) * np.maximum(root, target) / CHANNELS


def cbrt_bounded(exponent: FloatArray, response: FloatArray) -> tuple[FloatArray, FloatArray]:
    """cbrt_log, continued as a straight line in e and log r where a cube root exceeds
    STEEPEST_ROOT. Without that, a few highlights would contribute half of the gradient."""
    logarithm = np.log(np.maximum(response, _LEAST_RESPONSE))
    root, target = np.minimum(exponent, _BENT), np.minimum(logarithm, _BENT)
    difference = np.subtract(exponent, logarithm, out=logarithm)
    too_bright = (difference - root + target) * STEEPEST_ROOT
    for each in (root, target):
        each /= 3
        np.exp(each, out=each)
    too_bright += 3 * (root - target)
    too_dark = -target * difference
    loss = np.maximum(too_bright, too_dark, out=too_dark).mean(0)
    gradient = np.sign(difference, out=difference)
    gradient *= np.maximum(root, target, out=root)
    gradient /= CHANNELS
    return loss, gradient


def cbrt_l1(exponent: FloatArray, response: FloatArray) -> tuple[FloatArray, FloatArray]:
    """|3 p^(1/3) - 3 r^(1/3)|"""
    root = np.exp(exponent / 3)
    difference = root - np.cbrt(response)
    return np.abs(difference).sum(0) * (3 / CHANNELS), np.sign(difference) * root / CHANNELS


def log_l1(exponent: FloatArray, response: FloatArray) -> tuple[FloatArray, FloatArray]:
    """|log(1 + p) - log(1 + r)|"""
    value = np.exp(exponent)
    difference = np.log1p(value) - np.log1p(response)
    gradient = np.sign(difference) * value / (1 + value) / CHANNELS
    return np.abs(difference).mean(0), gradient


def l1(exponent: FloatArray, response: FloatArray) -> tuple[FloatArray, FloatArray]:
    """|p - r|"""
    value = np.exp(exponent)
    difference = value - response
    return np.abs(difference).mean(0), np.sign(difference) * value / CHANNELS


# Keys as in spec.LOSSES.
FUNCTIONS: dict[str, Loss] = {
    "cbrt_bounded": cbrt_bounded,
    "cbrt_log": cbrt_log,
    "cbrt_l1": cbrt_l1,
    "log_l1": log_l1,
    "l1": l1,
}


def light_gradient(exponent: FloatArray, response: FloatArray) -> FloatArray:
    """p^(2/3) (1 - r/p), the slope by e of a Tweedie deviance, as a mean over channels.

    The minimum of the losses is at a median of the responses that one prediction stands for. Where
    a few responses are bright, that is darker than their mean. The minimum of this one is at the
    mean, which keeps the sum of light."""
    logarithm = np.log(np.maximum(response, _LEAST_RESPONSE))
    ratio = np.exp(np.minimum(logarithm - exponent, math.log(LIGHT_RATIO)))
    return np.asarray(np.exp(exponent * (2 / 3)) * (1 - ratio) / CHANNELS)


def clamp_response(response: FloatArray) -> FloatArray:
    """The response between 0 and RESPONSE_LIMIT, as losses use it."""
    return np.asarray(np.clip(response, 0, RESPONSE_LIMIT))
