"""The losses by name, as functions of the exponent e of the prediction exp(e) and the response.

Each is a mean over the three channels. Working on the exponent keeps the gradient exact and small:
the cube root of exp(e) is exp(e / 3), with no division by a vanishing response.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.spec import CHANNELS, RESPONSE_LIMIT, STEEPEST_ROOT

# Below it logarithms are of no use, and the cube root that one is multiplied with is next to none.
_LEAST_RESPONSE = 1e-30
# The exponent whose cube root is the steepest.
_BENT = 3 * math.log(STEEPEST_ROOT)

# (exponent [3, N], response [3, N]) -> (loss [N], its derivative by the exponent [3, N])
Loss = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def cbrt_log(exponent: FloatArray, response: FloatArray) -> tuple[FloatArray, FloatArray]:
    """cbrt_l1 where the prediction is too bright, and its tangent in e, r^(1/3) (log r - e), where
    it is too dark. So what is far too dark is pulled up as strongly as what is a little.

    On either side the other's formula is less, so both are found by comparing: choosing by a mask
    takes five times as long."""
    root, target = np.exp(exponent / 3), np.cbrt(response)
    too_bright = root - target
    too_dark = target * (np.log(np.maximum(response, _LEAST_RESPONSE)) - exponent)
    loss = np.maximum(3 * too_bright, too_dark).mean(0)
    return loss, np.sign(too_bright) * np.maximum(root, target) / CHANNELS


def cbrt_bounded(exponent: FloatArray, response: FloatArray) -> tuple[FloatArray, FloatArray]:
    """cbrt_log, but beyond a root of STEEPEST_ROOT, of prediction or response, it goes on as a
    straight line in e and log r: otherwise few highlights have half of all gradients."""
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


def limited_response(response: FloatArray) -> FloatArray:
    result: FloatArray = np.clip(response, 0, RESPONSE_LIMIT)
    return result
