"""The fast kernel computes what the oracle does."""

import numpy as np
import pytest

from verdigris.core.network import activations
from verdigris.core.network.forward_pass import activate
from verdigris.core.network.numpy_mlp import loss_and_gradients
from verdigris.core.network.packed_decoder import PackedDecoder
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import ACTIVATIONS, LOSSES, PRESETS, NetworkSpec
from verdigris.core.training.numpy.kernel import Kernel
from verdigris.core.training.numpy.prepared_batch import BatchPreparation

from ..random_samples import LAYOUT, random_batch, random_parameters


def run_kernel(spec, parameters, batch, loss="cbrt_log", pairs=1, light_share=0.0):
    kernel = Kernel(spec, parameters.layout, loss, len(batch), pairs)
    kernel.light_share = light_share
    packed = PackedDecoder(spec)
    packed.pack(parameters)
    preparation = BatchPreparation(parameters.layout, len(batch), pairs)
    preparation.load(0, batch)
    preparation.prepare()
    prepared = preparation.batch()
    kernel.run(packed, parameters.latents, prepared, 1 / len(batch))
    result = parameters.copy()
    kernel.gradients.unpack(result)
    texels = parameters.layout.texel_count
    latents = np.empty((spec.latent_channels, texels), np.float32)
    kernel.scatter(prepared, prepared.indices.ravel(), latents)
    result.latents[:] = latents.T
    return kernel, preparation, result


def assert_near(value, expected, tolerance=2e-5):
    """Within a share of the largest: single values may cancel to nothing."""
    assert np.abs(value - expected).max() <= tolerance * np.abs(expected).max()


CASES = [
    *(pytest.param(spec, "cbrt_log", id=name) for name, spec in PRESETS.items()),
    *(pytest.param(NetworkSpec(16, 2, name), "cbrt_log", id=name) for name in ACTIVATIONS),
    *(pytest.param(NetworkSpec(16, 1, frame_count=3), name, id=name) for name in LOSSES),
    pytest.param(NetworkSpec(16, 2, live_inputs=3), "cbrt_log", id="live"),
]


@pytest.mark.parametrize(("spec", "loss"), CASES)
def test_loss_and_gradients_are_those_of_the_oracle(spec, loss):
    parameters = random_parameters(spec)
    batch = random_batch(700)
    expected = loss_and_gradients(spec, parameters.astype(np.float64), batch, loss)
    kernel, _, gradients = run_kernel(spec, parameters, batch, loss)
    assert kernel.loss == pytest.approx(expected.loss, rel=1e-5)
    frames = slice(0, spec.frame_size)
    assert_near(gradients.decoder[frames], expected.decoder[frames], 2e-4)
    assert_near(gradients.decoder, expected.decoder, 2e-4)
    assert_near(gradients.latents, expected.latents, 2e-4)


def test_with_the_light_gradient_gradients_are_those_of_the_oracle():
    spec = PRESETS["2x16"]
    parameters = random_parameters(spec)
    batch = random_batch(700)
    before = loss_and_gradients(spec, parameters.astype(np.float64), batch)
    expected = loss_and_gradients(spec, parameters.astype(np.float64), batch, light_share=0.5)
    kernel, _, gradients = run_kernel(spec, parameters, batch, light_share=0.5)
    assert kernel.loss == pytest.approx(before.loss, rel=1e-5)
    difference = np.linalg.norm(expected.decoder - before.decoder)
    assert difference > 0.05 * np.linalg.norm(before.decoder)
    assert_near(gradients.decoder, expected.decoder, 2e-4)
    assert_near(gradients.latents, expected.latents, 2e-4)


@pytest.mark.parametrize("pairs", [2, 5])
def test_several_pairs_of_directions_at_a_point_give_the_gradients_of_the_oracle(pairs):
    spec = PRESETS["2x16"]
    parameters = random_parameters(spec)
    batch = random_batch(700)
    for name in ("uv", "level", "material"):
        batch[name] = np.repeat(batch[name][::pairs], pairs, axis=0)
    expected = loss_and_gradients(spec, parameters.astype(np.float64), batch)
    kernel, _, gradients = run_kernel(spec, parameters, batch, pairs=pairs)
    assert kernel.loss == pytest.approx(expected.loss, rel=1e-5)
    assert_near(gradients.decoder, expected.decoder, 2e-4)
    assert_near(gradients.latents, expected.latents, 2e-4)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_and_its_slope_are_those_of_the_oracle(name):
    x = np.linspace(-4.03, 4.01, 700, dtype=np.float32)
    value, slope = x.copy(), np.empty_like(x)
    activate(name, value, slope, np.empty_like(x))
    function = activations.FUNCTIONS[name]
    np.testing.assert_allclose(value, function.value(x), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(slope, function.derivative(x), rtol=1e-5, atol=1e-6)


def test_a_packed_decoder_unpacks_to_what_it_was():
    parameters = random_parameters(PRESETS["3x64"])
    packed = PackedDecoder(parameters.spec)
    packed.pack(parameters)
    result = Parameters(
        parameters.spec, LAYOUT, np.zeros_like(parameters.decoder), parameters.latents
    )
    packed.unpack(result)
    np.testing.assert_array_equal(result.decoder, parameters.decoder)


def test_a_response_that_is_no_number_counts_for_nothing():
    parameters = random_parameters(PRESETS["2x16"])
    batch = random_batch(50)
    batch["response"][7, 1] = np.nan
    _, preparation, gradients = run_kernel(parameters.spec, parameters, batch)
    batch["response"][7] = 0
    batch["weight"][7] = 0
    _, _, expected = run_kernel(parameters.spec, parameters, batch)
    assert preparation.rejected == 1
    np.testing.assert_array_equal(gradients.decoder, expected.decoder)
    np.testing.assert_array_equal(gradients.latents, expected.latents)


def test_an_infinite_response_counts_as_the_largest():
    parameters = random_parameters(PRESETS["2x16"])
    batch = random_batch(50)
    batch["response"][7] = np.inf
    _, preparation, gradients = run_kernel(parameters.spec, parameters, batch)
    batch["response"][7] = 3e4
    _, _, expected = run_kernel(parameters.spec, parameters, batch)
    assert preparation.rejected == 0
    np.testing.assert_array_equal(gradients.decoder, expected.decoder)
