"""The response from the last layer's outputs: a sum of lobes, each an exponential.

Raw outputs are [3 lobes, N]: three channels of the first lobe, then those of the next.
"""

from __future__ import annotations

import numpy as np

from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.spec import CHANNELS, NetworkSpec


def response_of(spec: NetworkSpec, raw: FloatArray) -> FloatArray:
    """[3, N]"""
    result: FloatArray = np.exp(_exponents(spec, raw)).sum(0)
    return result


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

    The clamp passes gradients. Responses end below the limit, so they lead back from above it; with
    a gradient of 0 an output would stay there.
    """
    result: FloatArray = (shares * gradient).reshape(-1, gradient.shape[-1])
    return result


def _exponents(spec: NetworkSpec, raw: FloatArray) -> FloatArray:
    limited = np.minimum(raw - spec.output_shift, spec.output_limit)
    result: FloatArray = limited.reshape(spec.lobes, CHANNELS, -1)
    return result
