"""Rounds a decoder to half floats with the least change of its responses.

A row's weights are rounded one after another. After each, the weights not yet rounded are moved to
compensate the error on a sample of inputs (Frantar et al. 2023, GPTQ). Before that, each layer is
fitted to the inputs that the rounded layers before it produce.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.files.reference import hemisphere
from verdigris.core.bundle.files.weights import round_decoder
from verdigris.core.bundle.precision.half_errors import to_half
from verdigris.core.network import activations
from verdigris.core.network.latents.texels import corners, gather
from verdigris.core.network.numpy_mlp import decoder_inputs
from verdigris.core.network.parameters import FloatArray, Parameters, with_live

_SEED = 20_021
_SAMPLES = 2_048
# Shares of samples on coarse levels, and around the mirror direction.
_COARSE, _MIRRORED = 0.25, 0.25
# Distances from the mirror direction.
_SPREADS = (0.01, 0.05, 0.2)
_LEAST_COSINE = 0.01
# Ridge, as a share of the inputs' mean square: it keeps weights near their values for inputs
# outside of the sample. 1e-8 moves them eighty times as far, without gain.
_KEPT = 1e-3
# Passes that try the other neighbouring half of each rounded weight.
_ROUNDS = 3


@profiled("store latents: round decoder")
def round_gptq(parameters: Parameters) -> NDArray[np.float32]:
    """The decoder in half floats; unchanged if it is already."""
    nearest = round_decoder(parameters.decoder)
    if np.array_equal(nearest, parameters.decoder):
        return nearest
    with np.errstate(over="ignore", under="ignore"):
        found = _round_layers(parameters)
    # a fit can exceed the largest half even if the nearest halves do not
    return nearest if found is None else found


def _round_layers(parameters: Parameters) -> NDArray[np.float32] | None:
    """None if a result is not finite, or the latents are too large to evaluate."""
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
    means[np.diag_indices_from(means)] += _KEPT * (a * a).mean() or 1.0
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
