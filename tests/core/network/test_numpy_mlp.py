"""The oracle: every gradient against central differences in float64, every value in closed form."""

import math

import numpy as np
import pytest

from verdigris.core.network import activations, losses
from verdigris.core.network.directions import (
    build_frame,
    build_frame_backward,
    encode_directions,
    encode_directions_backward,
    stretch_half,
)
from verdigris.core.network.numpy_mlp import evaluate, loss_and_gradients
from verdigris.core.network.parameters import Parameters, initialise
from verdigris.core.network.spec import (
    ACTIVATIONS,
    CHANNELS,
    COSINE_OFFSET,
    LOGARITHM_SHARE,
    LOSSES,
    PRESETS,
    STRETCH_LIMIT,
    LatentLayout,
    NetworkSpec,
)
from verdigris.core.sampling.draw_samples import TRAINING_SAMPLE

STEP = 1e-6
NO_STRETCH = np.zeros((2, 1))


def random_directions(random, count):
    vectors = random.standard_normal((3, count))
    vectors[2] = np.abs(vectors[2])
    return vectors / np.linalg.norm(vectors, axis=0)


def random_batch(count, layout, seed=0):
    random = np.random.default_rng(seed)
    batch = np.zeros(count, TRAINING_SAMPLE)
    batch["uv"] = random.uniform(-1, 2, (count, 2))
    batch["level"] = random.integers(0, layout.levels, count)
    batch["material"] = random.integers(0, layout.materials, count)
    batch["wi"] = random_directions(random, count).T
    batch["wo"] = random_directions(random, count).T
    batch["response"] = random.exponential(0.3, (count, 3))
    batch["weight"] = random.uniform(0.5, 2, count)
    return batch


def random_parameters(spec, layout, seed=0):
    """Large enough that no frame is the identity and every path carries a gradient."""
    parameters = initialise(spec, layout, seed).astype(np.float64)
    random = np.random.default_rng(seed)
    parameters.latents[:] = random.standard_normal(parameters.latents.shape)
    parameters.decoder[:] += 0.1 * random.standard_normal(parameters.decoder.shape)
    return parameters


def numerical_gradient(function, array, places):
    result = []
    for place in places:
        kept = array[place]
        array[place] = kept + STEP
        above = function()
        array[place] = kept - STEP
        below = function()
        array[place] = kept
        result.append((above - below) / (2 * STEP))
    return np.array(result)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_derivative_of_an_activation_is_its_slope(name):
    function = activations.FUNCTIONS[name]
    x = np.linspace(-3.03, 3.01, 60)
    slope = (function.value(x + STEP) - function.value(x - STEP)) / (2 * STEP)
    np.testing.assert_allclose(function.derivative(x), slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("leaky_relu", [-2.0, 0.0, 3.0], [-0.02, 0.0, 3.0]),
        ("relu", [-2.0, 0.0, 3.0], [0.0, 0.0, 3.0]),
        ("silu", [0.0, np.log(3.0), -200.0], [0.0, 0.75 * np.log(3.0), 0.0]),
        ("leaky_smelu", [-1.0, 0.0, 1.0, 4.0, -4.0], [-0.01, 0.99 / 4, 1.0, 4.0, -0.04]),
    ],
)
def test_an_activation_has_its_closed_form(name, x, expected):
    value = activations.FUNCTIONS[name].value(np.array(x))
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cbrt_bounded", 3.0),
        ("cbrt_log", 3.0),
        ("cbrt_l1", 3.0),
        ("log_l1", np.log(4.5)),
        ("l1", 7.0),
    ],
)
def test_a_loss_has_its_closed_form(name, expected):
    """Output 8 against response 1 in every channel: cube roots 2 and 1, logarithms of 9 and 2."""
    loss, _ = losses.FUNCTIONS[name](np.full((CHANNELS, 1), np.log(8.0)), np.ones((CHANNELS, 1)))
    np.testing.assert_allclose(loss, [expected], rtol=1e-12)


@pytest.mark.parametrize("name", ["cbrt_bounded", "cbrt_log"])
def test_what_is_too_dark_is_pulled_up_with_the_cube_root_of_the_response_however_dark_it_is(name):
    """Response 8 and outputs of 1 and of e^-50: the tangent 2 (log 8 - e), and its slope of 2."""
    response = np.full((CHANNELS, 2), 8.0)
    loss, gradient = losses.FUNCTIONS[name](np.array([[0.0, -50.0]] * CHANNELS), response)
    np.testing.assert_allclose(loss, [2 * np.log(8), 2 * (np.log(8) + 50)], rtol=1e-12)
    np.testing.assert_allclose(gradient, np.full((CHANNELS, 2), -2 / CHANNELS), rtol=1e-12)


def test_responses_beyond_the_steepest_root_are_compared_by_logarithms():
    """Roots of 10 and 20 against each other, and one of 2 against one of 10 and the other way
    round: the cube roots' difference ends at 3, whose cube is 27."""
    exponent = np.array(
        [[3 * np.log(10), 3 * np.log(20), 3 * np.log(10), 3 * np.log(2)]] * CHANNELS
    )
    response = np.array([[20.0**3, 10.0**3, 2.0**3, 10.0**3]] * CHANNELS)
    loss, gradient = losses.FUNCTIONS["cbrt_bounded"](exponent, response)
    double = 3 * 3 * np.log(2)
    wanted = [double, double, 3 * (3 - 2) + 3 * 3 * np.log(10 / 3), 3 * 3 * np.log(10 / 2)]
    np.testing.assert_allclose(loss, wanted, rtol=1e-12)
    np.testing.assert_allclose(
        gradient, [np.array([-3, 3, 3, -3]) / CHANNELS] * CHANNELS, rtol=1e-12
    )


@pytest.mark.parametrize("name", LOSSES)
def test_the_gradient_of_a_loss_is_its_slope(name):
    random = np.random.default_rng(3)
    exponent = random.normal(-1, 2, (CHANNELS, 20))
    response = random.exponential(1, (CHANNELS, 20))
    response[:, 0] = 0
    exponent[:, 1:4], response[:, 1:3] = 4.5, 200
    function = losses.FUNCTIONS[name]
    _, gradient = function(exponent, response)
    for channel in range(CHANNELS):
        shift = np.zeros((CHANNELS, 1))
        shift[channel] = STEP
        slope = function(exponent + shift, response)[0] - function(exponent - shift, response)[0]
        np.testing.assert_allclose(gradient[channel], slope / (2 * STEP), rtol=1e-5, atol=1e-7)


def test_the_light_gradient_is_the_slope_of_a_tweedie_deviance():
    """Of power 4/3: 3/2 p^(2/3) + 3 r p^(-1/3) beside what depends on r alone."""
    random = np.random.default_rng(3)
    response = random.exponential(1, (CHANNELS, 50))
    response[:, 0] = 0
    ratio = random.uniform(0.01, 8.9, (CHANNELS, 50))
    exponent = np.log(np.maximum(response, 0.01) / ratio)

    def deviance(exponent):
        return 1.5 * np.exp(exponent * 2 / 3) + 3 * response * np.exp(-exponent / 3)

    slope = (deviance(exponent + STEP) - deviance(exponent - STEP)) / (2 * STEP)
    gradient = losses.light_gradient(exponent, response)
    np.testing.assert_allclose(gradient, slope / CHANNELS, rtol=1e-5, atol=1e-7)


def test_the_light_gradient_keeps_the_sum_of_light_and_a_loss_loses_some():
    """A prediction for many responses: their mean is the root of the gradient, but lies above the
    root of the gradient of a loss."""
    response = np.exp(np.random.default_rng(4).normal(0, 0.5, (CHANNELS, 1000)))
    mean = response.mean()
    assert response.max() < losses.LIGHT_RATIO * mean
    exponent = np.full_like(response, np.log(mean))
    lower = exponent - 1e-3
    assert losses.light_gradient(exponent, response).sum() == pytest.approx(0, abs=1e-9)
    assert losses.light_gradient(lower, response).sum() < -1e-3
    _, gradient = losses.cbrt_log(lower, response)
    assert gradient.sum() > 1


def test_the_light_gradient_is_bounded_however_dark_the_prediction_is():
    exponent = np.array([[-300.0, -90.0, 0.0, 0.0]] * CHANNELS, np.float32)
    response = np.array([[0, 3e4, 9, 3e4]] * CHANNELS, np.float32)
    gradient = losses.light_gradient(exponent, response)
    wanted = (1 - losses.LIGHT_RATIO) / CHANNELS
    np.testing.assert_allclose(gradient, [[0, 0, wanted, wanted]] * CHANNELS, rtol=1e-5, atol=1e-20)


def test_a_frame_of_zeros_is_the_surface_frame():
    frame = build_frame(np.zeros((6, 1)))
    np.testing.assert_array_equal(frame[:, :, 0], np.eye(3))


def test_a_frame_is_orthonormal_and_right_handed():
    raw = np.random.default_rng(0).standard_normal((6, 50))
    axes = build_frame(raw)
    products = np.einsum("icn,jcn->nij", axes, axes)
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(3), (50, 3, 3)), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(axes.transpose(2, 0, 1)), 1, rtol=1e-12)


def test_the_gradient_of_a_frame_is_its_slope():
    random = np.random.default_rng(1)
    raw, upstream = random.standard_normal((6, 5)), random.standard_normal((3, 3, 5))
    gradient = build_frame_backward(raw, upstream)
    places = list(np.ndindex(*raw.shape))
    slope = numerical_gradient(lambda: (build_frame(raw) * upstream).sum(), raw, places)
    np.testing.assert_allclose(gradient.ravel(), slope, rtol=1e-6, atol=1e-8)


def test_the_gradient_of_direction_inputs_is_their_slope():
    random = np.random.default_rng(2)
    frame, upstream = random.standard_normal((3, 3, 5)), random.standard_normal((10, 5))
    wi, wo = random_directions(random, 5), random_directions(random, 5)
    stretch = random.standard_normal((2, 5))
    gradients = encode_directions_backward(frame, stretch, wi, wo, upstream)
    for values, gradient in zip((frame, stretch), gradients, strict=True):
        places = list(np.ndindex(*values.shape))
        slope = numerical_gradient(
            lambda: (encode_directions(frame, stretch, wi, wo) * upstream).sum(), values, places
        )
        np.testing.assert_allclose(gradient.ravel(), slope, rtol=1e-5, atol=1e-7)


def test_stretching_makes_a_narrow_highlight_a_wide_one():
    """The slopes of a half vector grow by the factors, and no further than the limit."""
    h = np.array([[0.02], [-0.01], [np.sqrt(1 - 0.0005)]])
    half = STRETCH_LIMIT * np.arctanh(0.5)
    stretched = stretch_half(h, np.array([[half], [-1000.0]]))
    assert np.linalg.norm(stretched) == pytest.approx(1, rel=1e-12)
    slopes, before = stretched[:2] / stretched[2], h[:2] / h[2]
    factors = np.exp([[STRETCH_LIMIT / 2], [-STRETCH_LIMIT]])
    np.testing.assert_allclose(slopes, before * factors, rtol=1e-12)
    np.testing.assert_array_equal(stretch_half(h, np.zeros((2, 1))), h / np.linalg.norm(h))


def test_in_a_mirror_configuration_the_half_vector_is_the_normal_and_the_difference_is_wi():
    wi = np.array([[0.6], [0.0], [0.8]])
    wo = np.array([[-0.6], [0.0], [0.8]])
    inputs = encode_directions(np.eye(3)[:, :, None], NO_STRETCH, wi, wo)
    np.testing.assert_allclose(inputs[:6, 0], [0, 0, 1, 0.6, 0, 0.8], atol=1e-15)


def test_a_frame_s_cosines_are_those_of_its_normal_and_their_logarithms_end_at_the_horizon():
    normal = np.array([0.0, 0.6, 0.8])
    frame = np.stack([[1.0, 0.0, 0.0], [0.0, 0.8, -0.6], normal])[:, :, None]
    wi, wo = np.array([[0.0], [0.0], [1.0]]), np.array([[0.0], [-0.96], [0.28]])
    inputs = encode_directions(frame, NO_STRETCH, wi, wo)[:, 0]
    np.testing.assert_allclose(inputs[6:8], [0.8, 0.28 * 0.8 - 0.96 * 0.6], atol=1e-15)
    wanted = [LOGARITHM_SHARE * math.log(c + COSINE_OFFSET) for c in (0.8, 0.0)]
    np.testing.assert_allclose(inputs[8:], wanted, rtol=1e-14)


def test_equal_directions_have_a_difference_along_z():
    w = random_directions(np.random.default_rng(4), 20)
    inputs = encode_directions(
        np.broadcast_to(np.eye(3)[:, :, None], (3, 3, 20)), np.zeros((2, 20)), w, w
    )
    np.testing.assert_allclose(inputs[:3], w, atol=1e-12)
    np.testing.assert_allclose(inputs[3:6], np.tile([[0.0], [0.0], [1.0]], 20), atol=1e-12)


def test_the_difference_vector_is_wi_rotated_by_the_arc_from_half_to_z():
    """Rodrigues' rotation about h x z, the textbook form of the same."""
    random = np.random.default_rng(5)
    wi, wo = random_directions(random, 1)[:, 0], random_directions(random, 1)[:, 0]
    h = (wi + wo) / np.linalg.norm(wi + wo)
    axis = np.cross(h, [0, 0, 1])
    sine, cosine = np.linalg.norm(axis), h[2]
    k = axis / sine
    expected = wi * cosine + np.cross(k, wi) * sine + k * (k @ wi) * (1 - cosine)
    inputs = encode_directions(np.eye(3)[:, :, None], NO_STRETCH, wi[:, None], wo[:, None])
    np.testing.assert_allclose(inputs[3:6, 0], expected, atol=1e-12)


# Activations and losses do not meet in the code, so each is paired once.
@pytest.mark.parametrize(
    ("activation", "loss"),
    [
        *((name, "cbrt_log") for name in ACTIVATIONS),
        *(("silu", name) for name in LOSSES if name != "cbrt_log"),
    ],
)
def test_the_gradients_of_the_student_are_its_slopes(activation, loss):
    spec = NetworkSpec(hidden_width=5, hidden_layers=2, activation=activation)
    layout = LatentLayout(width=8, height=4, levels=3, materials=2)
    parameters = random_parameters(spec, layout)
    batch = random_batch(12, layout)
    gradients = loss_and_gradients(spec, parameters, batch, loss)

    def value():
        return loss_and_gradients(spec, parameters, batch, loss).loss

    places = [(index,) for index in range(0, spec.parameter_count, 3)]
    slope = numerical_gradient(value, parameters.decoder, places)
    np.testing.assert_allclose(gradients.decoder[::3], slope, rtol=2e-5, atol=1e-8)

    touched = np.argwhere(gradients.latents != 0)[::7]
    slope = numerical_gradient(value, parameters.latents, [tuple(place) for place in touched])
    np.testing.assert_allclose(gradients.latents[tuple(touched.T)], slope, rtol=2e-5, atol=1e-8)


@pytest.mark.parametrize("preset", PRESETS)
def test_without_weights_the_response_is_the_sum_of_the_exponentials_of_the_biases(preset):
    spec, layout = PRESETS[preset], LatentLayout(4, 4)
    parameters = Parameters(spec, layout, np.zeros(spec.parameter_count), np.zeros((16, 8)))
    parameters.bias(spec.layers[-1])[:] = [3.0, 2.0, 99.0, 3.0, 1.0, -99.0]
    z = np.array([[0.0, 0.0, 1.0]])
    response = evaluate(spec, parameters, np.zeros((1, 2)), 0, z, z)
    np.testing.assert_allclose(response, [[2.0, np.exp(-1) + np.exp(-2), np.exp(10.3)]], rtol=1e-12)


@pytest.mark.parametrize(
    ("loss", "steepest"), [("cbrt_log", np.cbrt(2 * np.exp(10.3))), ("cbrt_bounded", 3.0)]
)
def test_beyond_the_limit_of_the_exponent_the_gradient_leads_back(loss, steepest):
    spec, layout = PRESETS["2x16"], LatentLayout(4, 4)
    parameters = random_parameters(spec, layout)
    last = spec.layers[-1]
    parameters.bias(last)[:] = 99.0
    batch = random_batch(8, layout)
    gradients = loss_and_gradients(spec, parameters, batch, loss)
    bias = gradients.decoder[last.bias_offset : last.end]
    # the slope of the loss at the limit, by the mean over three channels, of which two equal lobes
    # have half each
    expected = steepest / 3 * batch["weight"].mean() / 2
    np.testing.assert_allclose(bias, expected, rtol=1e-6)


def test_a_response_above_the_limit_counts_as_the_limit():
    spec, layout = PRESETS["2x16"], LatentLayout(4, 4)
    parameters = random_parameters(spec, layout)
    batch = random_batch(8, layout)
    batch["response"] = 3e4
    limited = loss_and_gradients(spec, parameters, batch).loss
    batch["response"] = np.inf
    assert loss_and_gradients(spec, parameters, batch).loss == pytest.approx(limited, rel=1e-12)


def test_the_weight_of_a_sample_multiplies_its_loss():
    spec, layout = PRESETS["2x16"], LatentLayout(4, 4)
    parameters = random_parameters(spec, layout)
    batch = random_batch(8, layout)
    whole = loss_and_gradients(spec, parameters, batch)
    batch["weight"] *= 2
    doubled = loss_and_gradients(spec, parameters, batch)
    assert doubled.loss == pytest.approx(2 * whole.loss)
    np.testing.assert_allclose(doubled.latents, 2 * whole.latents)


def test_many_samples_give_what_each_gives_alone():
    spec, layout = PRESETS["2x16"], LatentLayout(8, 4, levels=2, materials=2)
    parameters = random_parameters(spec, layout)
    batch = random_batch(40_000, layout)
    names = ("uv", "level", "wi", "wo", "material")
    whole = evaluate(spec, parameters, *(batch[name] for name in names))
    for index in (0, 16_383, 16_384, 39_999):
        one = evaluate(spec, parameters, *(batch[name][index : index + 1] for name in names))
        np.testing.assert_allclose(whole[index], one[0], rtol=1e-12)
