"""The hidden layers' activations in place; core/network/activations.py is the readable form."""

from __future__ import annotations

import numpy as np

from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.spec import LEAKY_SLOPE, SMELU_WIDTH


def activate(name: str, x: FloatArray, slope: FloatArray, scratch: FloatArray) -> None:
    """Replaces x by its activation and writes the derivative there to slope."""
    if name in ("leaky_relu", "relu"):
        # A steep ramp clipped to the two slopes: three vector passes, where masks take ten.
        np.multiply(x, np.float32(1e20), out=slope)
        low = LEAKY_SLOPE if name == "leaky_relu" else 0
        np.clip(slope, np.float32(low), np.float32(1), out=slope)
        x *= slope
    elif name == "silu":
        np.multiply(x, np.float32(0.5), out=slope)
        np.tanh(slope, out=slope)
        slope *= np.float32(0.5)
        slope += np.float32(0.5)
        x *= slope
        np.multiply(x, slope, out=scratch)
        slope += x
        slope -= scratch
    else:
        _activate_smelu(x, slope, scratch)


def _activate_smelu(x: FloatArray, slope: FloatArray, scratch: FloatArray) -> None:
    width = np.float32(SMELU_WIDTH)
    gain = np.float32((1 - LEAKY_SLOPE) / (2 * SMELU_WIDTH))
    np.add(x, width, out=slope)
    np.clip(slope, np.float32(0), 2 * width, out=slope)
    np.subtract(x, width, out=scratch)
    np.maximum(scratch, np.float32(0), out=scratch)
    scratch *= 2 * width
    x *= np.float32(LEAKY_SLOPE)
    scratch *= gain
    x += scratch
    np.multiply(slope, slope, out=scratch)
    scratch *= gain / 2
    x += scratch
    slope *= gain
    slope += np.float32(LEAKY_SLOPE)
