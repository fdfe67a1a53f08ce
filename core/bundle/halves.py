"""What half floats cost the cooperative decoder, found without a device that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.bundle.evaluate import latents_at_lod
from verdigris.core.network import activations
from verdigris.core.network.numpy_mlp import decode_latents, decoder_inputs
from verdigris.core.network.output import response_of

if TYPE_CHECKING:
    from verdigris.core.bundle.reference import Points
    from verdigris.core.network.parameters import FloatArray, Parameters

# By name, whether plain code does the first layer: NEURAL_CAREFUL of neural_decoder.slang.
WAYS = {"cooperative": False, "careful": True}
# Products that are added exactly before their sum is rounded to a half: all of a row, or as many
# as an H200 adds.
EXACT_PRODUCTS = (1 << 30, 16)
# What a larger error is given as, and one that is no number.
LARGEST_ERROR = 1000.0
# What a half float keeps of a single one.
_HEAD = np.uint32(0xFFFFE000)


def half_errors(parameters: Parameters, points: Points, floor: float) -> dict[str, float]:
    """The largest relative error of each of WAYS, with the worse rounding."""
    found = rounded_errors(parameters, points, floor)
    return {
        name: max(found[is_careful, products] for products in EXACT_PRODUCTS)
        for name, is_careful in WAYS.items()
    }


def rounded_errors(
    parameters: Parameters, points: Points, floor: float
) -> dict[tuple[bool, int], float]:
    """The largest error, relative to the response or to `floor` where that is more, by whether
    the first layer is plain code and how many products are added exactly."""
    numbers = parameters.with_doubles()
    uv, lod = points.uv.T.astype(np.float64), points.lod.astype(np.float64)
    latent = latents_at_lod(numbers, uv, lod)
    return latent_errors(numbers, latent, points.wi.T, points.wo.T, floor)


def latent_errors(
    numbers: Parameters, latent: FloatArray, wi: FloatArray, wo: FloatArray, floor: float
) -> dict[tuple[bool, int], float]:
    """The same for latents [channels, N] and directions [3, N]; `numbers` are doubles."""
    spec, wi, wo = numbers.spec, wi.astype(np.float64), wo.astype(np.float64)
    inputs = decoder_inputs(spec, numbers.frames() @ latent, latent, wi, wo)
    is_above = (wi[2] > 0) & (wo[2] > 0)

    def response(raw: FloatArray) -> FloatArray:
        return np.where(is_above, response_of(spec, raw), 0.0)

    exact = response(decode_latents(spec, numbers, latent, wi, wo))
    errors = {}
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for is_careful in WAYS.values():
            for products in EXACT_PRODUCTS:
                rounded = _decode(numbers, inputs, is_careful, products)
                difference = np.abs(response(rounded) - exact)
                largest = (difference / np.maximum(exact, floor)).max()
                errors[is_careful, products] = float(np.fmin(largest, LARGEST_ERROR))
    return errors


def _decode(numbers: Parameters, x: FloatArray, is_careful: bool, products: int) -> FloatArray:
    """The last layer's outputs, by NeuralCooperative of neural_decoder.slang."""
    activate = activations.FUNCTIONS[numbers.spec.activation].value
    first, *_, last = numbers.spec.layers
    for layer in numbers.spec.layers[:-1]:
        weights, bias = numbers.weights(layer), numbers.bias(layer)[:, None]
        y: FloatArray
        if layer is not first:
            y = half_sums(weights, bias, _half(x), products)
        elif is_careful:
            y = weights @ x + bias
        else:
            y = _in_two(weights, bias, x, products)
        x = activate(y)
    raw: FloatArray = numbers.weights(last) @ x + numbers.bias(last)[:, None]
    return raw


def _in_two(weights: FloatArray, bias: FloatArray, x: FloatArray, products: int) -> FloatArray:
    """What one half drops of an input goes through the matrix as a second one. Digits are cut off,
    not rounded."""
    bits = x.astype(np.float32).view(np.uint32)
    high = (bits & _HEAD).view(np.float32).astype(np.float64)
    remainder = half_sums(weights, 0.0, _half(x - high), products)
    return half_sums(weights, bias, high, products) + remainder


def half_sums(
    weights: FloatArray, bias: FloatArray | float, x: FloatArray, products: int
) -> FloatArray:
    """bias + weights x, rounded to a half whenever so many products were added."""
    sums: FloatArray = np.zeros((len(weights), x.shape[1])) + bias
    for first in range(0, len(x), products):
        part = slice(first, first + products)
        sums = _half(sums + weights[:, part] @ x[part])
    return sums


def _half(x: FloatArray) -> FloatArray:
    return x.astype(np.float16).astype(np.float64)
