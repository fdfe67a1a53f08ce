"""Emulated errors of half floats, compared with sums by hand."""

import math

import numpy as np
import pytest

from verdigris.core.bundle.files.arithmetic import LARGEST_ERROR, WAYS
from verdigris.core.bundle.files.reference import Points, choose_points
from verdigris.core.bundle.files.stored_textures import export_numbers
from verdigris.core.bundle.half_floats import EXACT_PRODUCTS, half_errors, half_sums, rounded_errors
from verdigris.core.network.directions import build_frame, encode_directions
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, NetworkSpec

from .bundles import SMALL, lively_parameters

FLOOR = 0.01


def by_hand(row, bias, x, products):
    """One sum, product by product: each is exact in doubles, and so is fsum."""
    total = np.float16(bias)
    for first in range(0, len(row), products):
        part = [float(w) * float(v) for w, v in zip(row, x, strict=True)][first : first + products]
        total = np.float16(math.fsum([float(total), *part]))
    return float(total)


@pytest.mark.parametrize("products", [1, 3, 16, 1 << 30])
def test_sums_are_those_of_a_loop_over_half_floats(products):
    random = np.random.default_rng(1)
    weights = np.float16(random.standard_normal((5, 37))).astype(float)
    bias = np.float16(9 * random.standard_normal(5)).astype(float)
    x = np.float16(3 * random.standard_normal((37, 4))).astype(float)
    found = half_sums(weights, bias[:, None], x, products)
    wanted = [
        [by_hand(w, b, column, products) for column in x.T]
        for w, b in zip(weights, bias, strict=True)
    ]
    np.testing.assert_array_equal(found, wanted)


def cut_off(value):
    """Ten digits behind the leading one, towards zero."""
    step = 2.0 ** (math.frexp(value)[1] - 11)
    return math.trunc(value / step) * step


def response_by_hand(parameters, latent, wi, wo, way, products):
    """One point, number by number, as neural_decoder.slang has it."""
    raw = parameters.frames() @ latent
    x = list(latent)
    for k in range(parameters.spec.frame_count):
        axes, stretch = np.split(raw[8 * k : 8 * k + 8, None], [6])
        pair = wi[:, None], wo[:, None]
        x += encode_directions(build_frame(axes), stretch, *pair)[:, 0].tolist()
    *hidden, last = parameters.spec.layers
    for index, layer in enumerate(hidden):
        y = []
        rows = zip(parameters.weights(layer), parameters.bias(layer), strict=True)
        for unit, (row, bias) in enumerate(rows):
            is_plain = way >= 1 if index == 0 else way == 2 and unit >= layer.outputs - 6
            if products is None or is_plain:
                y.append(math.fsum([bias, *(row * x)]))
            elif index == 0:
                head = [cut_off(v) for v in np.float32(x).tolist()]
                rest = [float(np.float16(v - h)) for v, h in zip(x, head, strict=True)]
                low = by_hand(row, 0.0, rest, products)
                y.append(by_hand(row, bias, head, products) + low)
            else:
                y.append(by_hand(row, bias, np.float16(x), products))
        x = [v / (1 + math.exp(-v)) for v in y]
    raw = parameters.weights(last) @ x + parameters.bias(last)
    lobes = np.exp(np.minimum(raw - parameters.spec.output_shift, parameters.spec.output_limit))
    return lobes[:3] + lobes[3:]


def test_errors_are_those_of_a_decoder_written_number_by_number():
    parameters = export_numbers(lively_parameters()).parameters
    parameters.latents[:] = parameters.latents[:1]  # so that the place does not matter
    points = choose_points(SMALL)
    up = np.flatnonzero((points.wi[:, 2] > 0) & (points.wo[:, 2] > 0))[:12]
    few = Points(points.uv[up], points.lod[up], points.wi[up], points.wo[up])
    found = rounded_errors(parameters, few, FLOOR)
    doubles = parameters.astype(np.float64)
    directions = [
        (wi.astype(float), wo.astype(float)) for wi, wo in zip(few.wi, few.wo, strict=True)
    ]

    def responses(way, products):
        given = doubles, doubles.latents[0]
        return np.array([response_by_hand(*given, *pair, way, products) for pair in directions])

    exact = responses(1, None)
    assert set(found) == {(way, n) for way in range(3) for n in EXACT_PRODUCTS}
    for (way, products), error in found.items():
        difference = np.abs(responses(way, products) - exact)
        wanted = (difference / np.maximum(exact, FLOOR)).max()
        assert error == pytest.approx(wanted, rel=1e-6) and 1e-5 < error < 0.1
    assert WAYS == {"cooperative": 0, "careful": 1, "exacting": 2}
    worst = {name: max(found[way, n] for n in EXACT_PRODUCTS) for name, way in WAYS.items()}
    assert half_errors(parameters, few, FLOOR) == worst


def test_where_sums_are_exact_in_half_floats_there_is_no_error():
    """Rows with one power of two, and inputs that are halves: the latents alone."""
    spec = NetworkSpec(8, 2, "relu", frame_count=1)
    parameters = initialise(spec, LatentLayout(1, 1), 0)
    parameters.decoder[:] = 0
    parameters.latents[:] = np.linspace(0.25, 2, 8)
    for layer in spec.layers:
        parameters.weights(layer)[:, :8] = np.eye(layer.outputs, 8)
    assert half_errors(parameters, choose_points(LatentLayout(1, 1)), FLOOR) == {
        "cooperative": 0,
        "careful": 0,
        "exacting": 0,
    }


def test_sums_beyond_half_floats_are_the_largest_error():
    parameters = export_numbers(lively_parameters()).parameters
    for layer in parameters.spec.layers[:-1]:
        parameters.weights(layer)[:] = 60_000
    points = choose_points(SMALL)
    assert set(half_errors(parameters, points, FLOOR).values()) == {LARGEST_ERROR}
