"""Half floats: the errors that they cause in a decoder, and the rounding that causes least.

Errors of cooperative vectors are emulated, without a device that has them.

A decoder's steep parts are sums of large products with small results. Few units produce them, and a
rounded product there is magnified. order_units() puts these units last in their layers, where plain
code can evaluate them. The order has no other meaning.

round_gptq() rounds a row's weights one after another. After each, the weights not yet rounded are
moved to compensate the error on a sample of inputs (Frantar et al. 2023, GPTQ). Before that, each
layer is fitted to the inputs that the rounded layers before it produce.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.files.arithmetic import (
    COOPERATIVE,
    EXACTING,
    LARGEST_ERROR,
    PORTABLE,
    WAYS,
    Arithmetic,
    advised_error_limit,
)
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import choose_points, hemisphere
from verdigris.core.bundle.files.weights import round_decoder
from verdigris.core.network import activations
from verdigris.core.network.activations import response_of
from verdigris.core.network.latents.texels import corners, gather
from verdigris.core.network.numpy_mlp import decode_latents, decoder_inputs, latents_at_lod
from verdigris.core.network.parameters import Parameters, with_live

if TYPE_CHECKING:
    from verdigris.core.bundle.files.reference import Points

# The last units of each hidden layer after the first, which plain code can evaluate.
CAREFUL_UNITS = 6
# Number of products that are added exactly before their sum is rounded to a half: a whole row, or
# sixteen, as on an H200.
EXACT_PRODUCTS = (1 << 30, 16)
# Mask of the bits of a single float that a half keeps.
_HEAD = np.uint32(0xFFFFE000)

# Rounding: the sample of inputs that it is fitted to, with the shares of coarse levels and of
# directions around the mirror direction, and distances from that.
_SEED, _SAMPLES = 20_021, 2_048
_COARSE, _MIRRORED = 0.25, 0.25
_SPREADS = (0.01, 0.05, 0.2)
_LEAST_COSINE = 0.01
# Ridge, as a share of the inputs' mean square: it keeps weights near their values for inputs
# outside the sample. 1e-8 moves them eighty times as far, without gain.
_RIDGE = 1e-3
# Passes that try the other neighbouring half of each rounded weight.
_ROUNDS = 3


@profiled("compare half precision")
def judge(parameters: Parameters, points: Points, bounds: Bounds) -> Arithmetic:
    """Advises the fastest arithmetic with an error that is well within the bounds, on each side."""
    found = [half_errors(side, points, bounds.floor) for side in parameters.sides]
    errors = {name: max(each[name] for each in found) for name in WAYS}
    fits = (name for name in WAYS if errors[name] <= advised_error_limit(bounds))
    return Arithmetic(next(fits, PORTABLE), errors)


def half_errors(parameters: Parameters, points: Points, floor: float) -> dict[str, float]:
    """The largest relative error of each of WAYS, with the worse of EXACT_PRODUCTS."""
    found = rounded_errors(parameters, points, floor)
    return {
        name: max(found[way, products] for products in EXACT_PRODUCTS) for name, way in WAYS.items()
    }


def rounded_errors(
    parameters: Parameters, points: Points, floor: float
) -> dict[tuple[int, int], float]:
    """The largest error relative to max(response, floor), by the value of WAYS and the number of
    products that are added exactly."""
    numbers = parameters.with_double_decoder()
    latent = _latents_of(numbers, points)
    return latent_errors(numbers, latent, points.wi.T, points.wo.T, floor)


def latent_errors(
    numbers: Parameters, latent: FloatArray, wi: FloatArray, wo: FloatArray, floor: float
) -> dict[tuple[int, int], float]:
    """The same errors for latents with live values [inputs of the place, N] and directions [3, N].
    `numbers` are doubles."""
    spec, wi, wo = numbers.spec, wi.astype(np.float64), wo.astype(np.float64)
    inputs = decoder_inputs(spec, numbers.frames() @ latent, latent, wi, wo)
    is_above = (wi[2] > 0) & (wo[2] > 0)

    def response(raw: FloatArray) -> FloatArray:
        return np.where(is_above, response_of(spec, raw), 0.0)

    exact = response(decode_latents(spec, numbers, latent, wi, wo))
    errors = {}
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for way in WAYS.values():
            for products in EXACT_PRODUCTS:
                rounded = _decode(numbers, inputs, way, products)
                difference = np.abs(response(rounded) - exact)
                largest = (difference / np.maximum(exact, floor)).max()
                errors[way, products] = float(np.fmin(largest, LARGEST_ERROR))
    return errors


def _latents_of(numbers: Parameters, points: Points) -> FloatArray:
    uv, lod = points.uv.T.astype(np.float64), points.lod.astype(np.float64)
    return latents_at_lod(numbers, uv, lod, points.live)


def _decode(numbers: Parameters, x: FloatArray, way: int, products: int) -> FloatArray:
    """The last layer's outputs, as NeuralCooperative of neural_decoder.slang computes them."""
    activate = activations.FUNCTIONS[numbers.spec.activation].value
    first = numbers.spec.layers[0]
    for index in range(numbers.spec.hidden_layers):
        if index:
            y = _sums(numbers, index, x, products)
            if way == EXACTING:
                y[-CAREFUL_UNITS:] = _sums(numbers, index, x)[-CAREFUL_UNITS:]
        elif way != COOPERATIVE:
            y = _sums(numbers, index, x)
        else:
            y = _in_two(numbers.weights(first), numbers.bias(first)[:, None], x, products)
        x = activate(y)
    return _sums(numbers, numbers.spec.hidden_layers, x)


def _sums(
    numbers: Parameters, index: int, x: FloatArray, products: int | None = None
) -> FloatArray:
    """A layer's outputs before activation, in halves if `products` is given."""
    layer = numbers.spec.layers[index]
    weights, bias = numbers.weights(layer), numbers.bias(layer)[:, None]
    if products:
        return half_sums(weights, bias, to_half(x), products)
    sums: FloatArray = weights @ x + bias
    return sums


def _in_two(weights: FloatArray, bias: FloatArray, x: FloatArray, products: int) -> FloatArray:
    """Multiplies each input as two halves, high and low. The high one is cut off, not rounded."""
    bits = x.astype(np.float32).view(np.uint32)
    high = (bits & _HEAD).view(np.float32).astype(np.float64)
    remainder = half_sums(weights, 0.0, to_half(x - high), products)
    return half_sums(weights, bias, high, products) + remainder


def half_sums(
    weights: FloatArray, bias: FloatArray | float, x: FloatArray, products: int
) -> FloatArray:
    """bias + weights x, rounded to a half after every `products` products."""
    sums: FloatArray = np.zeros((len(weights), x.shape[1])) + bias
    for first in range(0, len(x), products):
        part = slice(first, first + products)
        sums = to_half(sums + weights[:, part] @ x[part])
    return sums


def to_half(x: FloatArray) -> FloatArray:
    """The nearest half floats, as doubles."""
    return x.astype(np.float16).astype(np.float64)


def order_units(parameters: Parameters) -> Parameters:
    """Reorders the units of each hidden layer after the first, for each side. Those with the
    largest rounding errors, on the reference points of all materials, come last."""
    return parameters.with_decoders(*(_ordered(side).decoder for side in parameters.sides))


def _ordered(parameters: Parameters) -> Parameters:
    rounded = replace(parameters, decoder=round_decoder(parameters.decoder))
    points, floor = choose_points(parameters.layout, parameters.spec.live_inputs), Bounds().floor
    materials = map(rounded.of_material, range(parameters.layout.materials))
    harms = [rounding_harm(numbers, points, floor) for numbers in materials]
    orders = [
        np.argsort(np.max(layer, axis=0), kind="stable") for layer in zip(*harms, strict=True)
    ]
    return _reordered(parameters, orders)


def rounding_harm(parameters: Parameters, points: Points, floor: float) -> list[FloatArray]:
    """The largest relative error if only one unit's sum is rounded to halves, for each unit of each
    hidden layer after the first."""
    numbers, spec = parameters.with_double_decoder(), parameters.spec
    latent = _latents_of(numbers, points)
    wi, wo = points.wi.T.astype(np.float64), points.wo.T.astype(np.float64)
    is_above = (wi[2] > 0) & (wo[2] > 0)
    activate = activations.FUNCTIONS[spec.activation].value
    x = decoder_inputs(spec, numbers.frames() @ latent, latent, wi, wo)[:, is_above]
    x = activate(_sums(numbers, 0, x))
    harms: list[FloatArray] = []
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for index in range(1, spec.hidden_layers):
            behind = activate(_sums(numbers, index, x))
            exact = _response_of_hidden(numbers, index, behind)
            harm = np.zeros(len(behind))
            for products in EXACT_PRODUCTS:
                rounded = activate(_sums(numbers, index, x, products))
                for unit in range(len(behind)):
                    alone = behind.copy()
                    alone[unit] = rounded[unit]
                    moved = np.abs(_response_of_hidden(numbers, index, alone) - exact)
                    worst = (moved / np.maximum(exact, floor)).max(initial=0.0)
                    harm[unit] = max(harm[unit], np.fmin(worst, LARGEST_ERROR))
            harms.append(harm)
            x = behind
    return harms


def _response_of_hidden(numbers: Parameters, index: int, x: FloatArray) -> FloatArray:
    """The response, given the activated outputs of a hidden layer."""
    activate = activations.FUNCTIONS[numbers.spec.activation].value
    for behind in range(index + 1, numbers.spec.hidden_layers):
        x = activate(_sums(numbers, behind, x))
    return response_of(numbers.spec, _sums(numbers, numbers.spec.hidden_layers, x))


def _reordered(parameters: Parameters, orders: Sequence[NDArray[np.intp]]) -> Parameters:
    """The decoder with the units of these layers in these orders."""
    result = replace(parameters, decoder=parameters.decoder.copy())
    layers = parameters.spec.layers
    for layer, behind, order in zip(layers[1:], layers[2:], orders, strict=False):
        for rows in (result.weights(layer), result.bias(layer)):
            rows[:] = rows[order]
        columns = result.weights(behind)
        columns[:] = columns[:, order]
    return result


def round_sides(parameters: Parameters) -> Parameters:
    """The parameters with the decoders of all sides in half floats."""
    return parameters.with_decoders(*map(round_gptq, parameters.sides))


@profiled("store latents: round decoder")
def round_gptq(parameters: Parameters) -> NDArray[np.float32]:
    """The decoder in half floats; unchanged if its numbers are halves already."""
    nearest = round_decoder(parameters.decoder)
    if np.array_equal(nearest, parameters.decoder):
        return nearest
    with np.errstate(over="ignore", under="ignore"):
        found = _round_layers(parameters)
    # a fit can exceed the largest half even if the nearest halves do not
    return nearest if found is None else found


def _round_layers(parameters: Parameters) -> NDArray[np.float32] | None:
    """The rounded decoder; None if a result is not finite, or latents are too large."""
    exact, rounded = parameters.with_double_decoder(), parameters.with_double_decoder()
    latent, wi, wo = _sample_inputs(parameters)
    squares = _products(latent, latent)
    if not np.isfinite(squares).all():
        return None
    rounded.frames()[:] = _round_rows(exact.frames(), squares)
    wanted = decoder_inputs(exact.spec, exact.frames() @ latent, latent, wi, wo)
    given = decoder_inputs(exact.spec, rounded.frames() @ latent, latent, wi, wo)
    bend = activations.FUNCTIONS[exact.spec.activation].value
    for layer in exact.spec.layers:
        wanted, given = _with_ones(wanted), _with_ones(given)
        rows = np.column_stack([exact.weights(layer), exact.bias(layer)])
        squares = _products(given, given)
        if not np.isfinite(squares).all():
            return None
        fitted = np.linalg.solve(squares, _products(given, wanted) @ rows.T).T
        found = _round_rows(fitted, squares)
        rounded.weights(layer)[:], rounded.bias(layer)[:] = found[:, :-1], found[:, -1]
        wanted, given = bend(rows @ wanted), bend(found @ given)
    result = rounded.decoder.astype(np.float32)
    return result if np.isfinite(result).all() else None


def _sample_inputs(parameters: Parameters) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Latents and live values [inputs of the place, N], and directions [3, N] to the light and to
    the viewer."""
    random = np.random.default_rng(_SEED)
    layout = parameters.layout
    is_coarse = random.random(_SAMPLES) < _COARSE
    level = np.where(is_coarse, random.integers(0, layout.levels, _SAMPLES), 0)
    material = random.integers(0, layout.materials, _SAMPLES)
    indices, weights = corners(layout, random.random((2, _SAMPLES)), level, material)
    wi, wo = (hemisphere(random, _SAMPLES, _LEAST_COSINE).T for _ in range(2))
    mirrored = np.flatnonzero(random.random(_SAMPLES) < _MIRRORED)
    away = np.resize(_SPREADS, len(mirrored)) * random.standard_normal((3, len(mirrored)))
    wi[:, mirrored] = wo[:, mirrored] * [[-1], [-1], [1]] + away
    wi[2] = np.maximum(np.abs(wi[2]), _LEAST_COSINE)
    wi /= np.linalg.norm(wi, axis=0)
    latent = gather(parameters.latents, indices, weights).astype(np.float64)
    return with_live(parameters, latent, random.random((_SAMPLES, len(parameters.live)))), wi, wo


def _with_ones(x: FloatArray) -> FloatArray:
    """Appends ones, which multiply the biases."""
    return np.concatenate([x, np.ones((1, x.shape[1]))])


def _products(a: FloatArray, b: FloatArray) -> FloatArray:
    """Means over samples of the products of a and b, with the ridge on the diagonal."""
    means = a @ b.T / a.shape[1]
    # without inputs each weight is rounded by itself
    means[np.diag_indices_from(means)] += _RIDGE * (a * a).mean() or 1.0
    return np.asarray(means)


def _round_rows(rows: FloatArray, squares: FloatArray) -> FloatArray:
    """Halves with a small mean square of (result - rows) @ inputs; `squares` are the means of
    products of inputs."""
    # largest contributions first: the others compensate their errors
    order = np.argsort(-(rows**2).mean(0) * np.diag(squares), kind="stable")
    ordered = squares[np.ix_(order, order)]
    inverse = np.linalg.inv(ordered)
    factor = np.linalg.cholesky((inverse + inverse.T) / 2).T
    left, result = rows[:, order], np.empty_like(rows)
    for column in range(rows.shape[1]):
        result[:, column] = to_half(left[:, column])
        if not np.isfinite(result[:, column]).all():
            return result
        lost = (left[:, column] - result[:, column]) / factor[column, column]
        left[:, column:] -= np.outer(lost, factor[column, column:])
    return _settle(result, rows[:, order], ordered)[:, np.argsort(order)]


def _settle(result: FloatArray, rows: FloatArray, squares: FloatArray) -> FloatArray:
    """Moves each weight in turn to the best half, given all others."""
    pull = (result - rows) @ squares
    for _ in range(_ROUNDS):
        before = result.copy()
        for column in range(rows.shape[1]):
            best = to_half(result[:, column] - pull[:, column] / squares[column, column])
            pull += np.outer(best - result[:, column], squares[column])
            result[:, column] = best
        if np.array_equal(result, before):
            break
    return result
