"""GPTQ-style rounding changes responses less than nearest rounding."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.measure.measure import random_directions
from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files.weights import round_decoder
from verdigris.core.bundle.half_floats import round_gptq
from verdigris.core.network.numpy_mlp import evaluate
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, require_preset

COUNT = 10_000


def learnt(network="2x32", size=16, materials=1, latents=1.0):
    """Numbers as large as those of decoders that have learnt, which a fresh one's are not."""
    spec = require_preset(network)
    layout = LatentLayout(size, size, int(np.log2(size)) + 1, materials)
    numbers = initialise(spec, layout, 5)
    numbers.latents *= np.float32(latents / numbers.latents.std())
    random = np.random.default_rng(1)
    for layer in spec.layers:
        numbers.weights(layer)[:] *= 1.5
        numbers.bias(layer)[:] = random.normal(0, 0.3, layer.outputs)
    return numbers


def root_mean_square(numbers, decoder, level=0, uv=None):
    """By how much the logarithms of responses differ, in doubles, at points that are not those
    which rounding looks at."""
    random = np.random.default_rng(99)
    places = random.random((COUNT, 2)) if uv is None else np.resize(uv, (COUNT, 2))
    wi, wo = random_directions(random, COUNT), random_directions(random, COUNT)
    material = random.integers(0, numbers.layout.materials, COUNT)
    before, after = (
        np.log(
            evaluate(
                numbers.spec,
                replace(numbers, decoder=each.astype(np.float64)),
                places,
                level,
                wi,
                wo,
                material,
            )
        )
        for each in (numbers.decoder, decoder)
    )
    return float(np.sqrt(np.mean((after - before) ** 2)))


@pytest.mark.parametrize(
    ("network", "materials", "level", "latents", "share"),
    [
        ("2x16", 1, 0, 0.1, 0.4),
        ("2x32", 1, 0, 0.1, 0.3),
        ("2x32", 3, 0, 0.1, 0.3),
        ("2x32", 1, 2, 0.1, 0.3),
        ("3x64", 1, 0, 0.1, 0.2),
        # texels that have nothing in common
        ("2x32", 1, 0, 1.0, 0.6),
        ("3x64", 3, 0, 1.0, 0.5),
    ],
)
def test_rounding_costs_a_part_of_what_the_nearest_halves_do(
    network, materials, level, latents, share
):
    numbers = learnt(network, materials=materials, latents=latents)
    rounded = round_gptq(numbers)
    np.testing.assert_array_equal(rounded, rounded.astype(np.float16).astype(np.float32))
    nearest = root_mean_square(numbers, round_decoder(numbers.decoder), level)
    assert nearest > 1e-4
    assert root_mean_square(numbers, rounded, level) < share * nearest


def test_constant_materials_lose_little():
    numbers = learnt("3x64", size=4)
    numbers.latents[:] = numbers.latents[0]
    nearest = root_mean_square(numbers, round_decoder(numbers.decoder))
    assert root_mean_square(numbers, round_gptq(numbers)) < 0.2 * nearest


def test_texels_that_no_sample_meets_lose_no_more_than_the_largest_numbers_do():
    numbers = learnt(size=64, latents=0.2)
    numbers.latents[64 * 30 + 31] = np.linspace(-2, 2, numbers.spec.latent_channels)
    there = (np.array([31, 30]) + 0.5) / 64
    nearest = root_mean_square(numbers, round_decoder(numbers.decoder), uv=there)
    assert root_mean_square(numbers, round_gptq(numbers), uv=there) < 3 * nearest
    moved = np.abs(round_gptq(numbers) - numbers.decoder)
    step = np.spacing(np.abs(numbers.decoder).max().astype(np.float16)).astype(np.float32)
    assert moved.max() < 2 * step


def test_halves_stay_as_they_are():
    numbers = learnt()
    numbers.decoder[:] = round_gptq(numbers)
    np.testing.assert_array_equal(round_gptq(numbers), numbers.decoder)


def test_it_is_the_same_each_time():
    numbers = learnt()
    np.testing.assert_array_equal(round_gptq(numbers), round_gptq(numbers.copy()))


@pytest.mark.parametrize("latent", [0.0, np.nan, np.inf], ids=str)
def test_latents_that_tell_nothing_still_leave_halves(latent):
    numbers = learnt()
    numbers.latents[:] = latent
    rounded = round_gptq(numbers)
    assert np.isfinite(rounded).all()
    np.testing.assert_allclose(rounded, numbers.decoder, atol=4e-3)


def test_numbers_next_to_the_largest_half_do_not_leave_it():
    numbers = learnt()
    numbers.weights(numbers.spec.layers[0])[:, :4] = 65_519
    assert np.isfinite(round_gptq(numbers)).all()


@pytest.mark.parametrize("latents", [1e-30, 1e30])
def test_latents_of_any_size_leave_halves(latents):
    numbers = learnt()
    numbers.latents *= np.float32(latents)
    rounded = round_gptq(numbers)
    np.testing.assert_array_equal(rounded, rounded.astype(np.float16).astype(np.float32))
    np.testing.assert_allclose(rounded, numbers.decoder, atol=4e-3)


@pytest.mark.parametrize("number", [70_000, np.nan])
def test_numbers_beyond_half_floats_are_refused_with_a_remedy(number):
    numbers = learnt()
    numbers.decoder[7] = number
    with pytest.raises(BundleError, match="half floats end at 65504: bake again"):
        round_gptq(numbers)
