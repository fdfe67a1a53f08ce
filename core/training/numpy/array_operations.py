"""Fast operations on channel-first arrays that write to existing memory.

core/network/activations.py and core/network/numpy_mlp.py are the readable forms.
"""

from __future__ import annotations

import numpy as np

from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.spec import LEAKY_SLOPE, LENGTH_EPSILON, SMELU_WIDTH

# Samples per matrix product in a sum over samples: more do not fit into the cache.
_CHUNK = 512


def activate(name: str, x: FloatArray, slope: FloatArray, scratch: FloatArray) -> None:
    """Replaces `x` by its activation and writes the derivative to `slope`."""
    if name in ("leaky_relu", "relu"):
        # Clips a steep ramp to the two slopes: three passes over memory, where masks need ten.
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


def normalise(vector: FloatArray, inverse: FloatArray, out: FloatArray) -> None:
    """Writes vectors of length 1 to `out` and the reciprocal lengths to `inverse`."""
    np.einsum("fcn,fcn->fn", vector, vector, out=inverse)
    np.sqrt(inverse, out=inverse)
    np.maximum(inverse, np.float32(LENGTH_EPSILON), out=inverse)
    np.reciprocal(inverse, out=inverse)
    np.multiply(vector, inverse[:, None], out=out)


def normalise_backward(unit: FloatArray, inverse: FloatArray, gradient: FloatArray) -> FloatArray:
    """Converts the gradient of normalised vectors in place to the gradient of the vectors."""
    along = np.einsum("fcn,fcn->fn", unit, gradient)
    gradient -= unit * along[:, None]
    gradient *= inverse[:, None]
    return gradient


def cross(a: FloatArray, b: FloatArray, out: FloatArray, scratch: FloatArray) -> None:
    """Writes a x b to `out`. Axis 1 of `a` and `b` has the components x y z x y."""
    np.multiply(a[:, 1:4], b[:, 2:5], out=out)
    np.multiply(a[:, 2:5], b[:, 1:4], out=scratch)
    out -= scratch


def sum_outer_products(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    """Writes a @ b.T to `out`, summed over chunks of samples."""
    np.matmul(a[:, :_CHUNK], b[:, :_CHUNK].T, out=out)
    for start in range(_CHUNK, a.shape[1], _CHUNK):
        chunk = slice(start, start + _CHUNK)
        out += a[:, chunk] @ b[:, chunk].T
