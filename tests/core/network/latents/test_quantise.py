"""Latents as bytes: on the grid, within half a step, and soft rounding as its paper defines it."""

import math
import tracemalloc

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.latents.quantise import (
    LatentRange,
    dequantise,
    fit_range,
    fit_ranges,
    pack_ranges,
    quantise,
    quantised_copy,
    soft_round,
    soft_round_derivative,
    unpack_ranges,
)
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import PRESETS, LatentLayout

LAYOUT = LatentLayout(8, 4, levels=3, materials=2)


def random_latents(count=1000):
    random = np.random.default_rng(4)
    spread = np.float32([1e-4, 0.1, 1, 3, 20, 1, 1, 1])
    return (random.standard_normal((count, 8)) * spread + np.arange(8)).astype(np.float32)


def test_every_value_comes_back_within_half_a_step_and_the_ends_exactly():
    latents = random_latents()
    found = fit_range(latents)
    stored = quantise(latents, found)
    step = (latents.max(0).astype("f8") - latents.min(0)) / 255
    error = np.abs(dequantise(stored, found).astype("f8") - latents)
    assert (error <= step * 0.5 + 1e-6).all()
    assert (error.max(0) > step * 0.4).all()
    assert stored.min() == 0 and stored.max() == 255
    np.testing.assert_array_equal(dequantise(stored, found).min(0), latents.min(0))


def test_bytes_survive_a_round_trip():
    found = fit_range(random_latents())
    stored = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 8, axis=1)
    np.testing.assert_array_equal(quantise(dequantise(stored, found), found), stored)


def test_a_large_texture_takes_little_more_than_its_numbers():
    texels = 600_000
    stored = np.random.default_rng(1).integers(0, 256, (texels, 8), dtype=np.uint8)
    found = LatentRange(np.float32(range(1, 9)), np.float32(range(8)))
    tracemalloc.start()
    try:
        values = dequantise(stored, found)
        assert tracemalloc.get_traced_memory()[1] < 1.2 * values.nbytes
        tracemalloc.reset_peak()
        again = quantise(values, found)
        assert tracemalloc.get_traced_memory()[1] < 1.2 * values.nbytes + again.nbytes
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(again, stored)
    np.testing.assert_allclose(values[-1], np.arange(8) + np.arange(1, 9) * (stored[-1] / 255))


def test_a_byte_means_its_share_of_the_scale_above_the_offset():
    found = LatentRange(np.float32([2.0, 51.0]), np.float32([-1.0, 0.5]))
    np.testing.assert_allclose(
        dequantise(np.uint8([[0, 0], [255, 5], [51, 255]]), found),
        [[-1, 0.5], [1, 1.5], [-0.6, 51.5]],
        rtol=1e-6,
    )


def test_values_out_of_range_end_at_its_border():
    found = LatentRange(np.float32([2.0]), np.float32([-1.0]))
    stored = quantise(np.float32([[-9.0], [9.0]]), found)
    np.testing.assert_array_equal(stored, [[0], [255]])


def test_a_channel_that_is_constant_keeps_its_value():
    latents = np.full((5, 8), -37.25, np.float32)
    found = fit_range(latents)
    np.testing.assert_array_equal(dequantise(quantise(latents, found), found), latents)


def test_ranges_are_by_material_over_all_levels():
    parameters = initialise(PRESETS["2x16"], LAYOUT, 0)
    parameters.level(2)[1, 0, 0, 3] = 40
    parameters.level(1)[0, 0, 0, 5] = -30
    first, second = fit_ranges(parameters)
    assert first.offset[5] == -30 and second.offset[5] > -1
    assert second.offset[3] + second.scale[3] == 40 and first.scale[3] < 2
    shipped = quantised_copy(parameters, (first, second))
    again = quantised_copy(shipped, (first, second))
    np.testing.assert_array_equal(again.latents, shipped.latents)
    step = np.stack([first.scale, second.scale]) / 255
    for level in range(LAYOUT.levels):
        moved = np.abs(shipped.level(level) - parameters.level(level))
        assert (moved <= 0.5001 * step[:, None, None] + 1e-6).all()
    restored = unpack_ranges(pack_ranges((first, second)))
    np.testing.assert_array_equal(restored[1].scale, second.scale)
    np.testing.assert_array_equal(restored[0].offset, first.offset)


def test_narrow_ranges_leave_out_one_value_in_ten_thousand_at_either_end():
    layout = LatentLayout(128, 128, levels=2, materials=2)
    parameters = initialise(PRESETS["2x16"], layout, 0)
    random = np.random.default_rng(0)
    # two of 20,480 at either end
    for material in range(2):
        for level in range(2):
            values = parameters.level(level)[material]
            values[:] = (1 + material) * random.uniform(-1, 1, values.shape)
    parameters.level(0)[0, 5, 7:9, 3] = 40
    parameters.level(1)[0, 3, 4:6, 5] = -30
    first, second = fit_ranges(parameters, 1e-4)
    every = np.concatenate([parameters.level(level)[0].reshape(-1, 8) for level in range(2)])
    wanted = np.sort(every, axis=0)[[2, -3]]
    np.testing.assert_array_equal(first.offset, wanted[0])
    np.testing.assert_allclose(first.offset + first.scale, wanted[1], rtol=1e-6)
    assert first.scale.max() < 2 < second.scale.min()
    # of few texels each counts
    few = initialise(PRESETS["2x16"], LAYOUT, 0)
    few.level(2)[1, 0, 0, 3] = 40
    for narrow, whole in zip(fit_ranges(few, 1e-4), fit_ranges(few), strict=True):
        np.testing.assert_array_equal(narrow.offset, whole.offset)
        np.testing.assert_array_equal(narrow.scale, whole.scale)


@pytest.mark.parametrize("sharpness", [0.5, 4.0, 16.0])
def test_soft_rounding_is_the_formula_of_its_paper(sharpness):
    for x in (-1.75, -0.2, 0.0, 0.49, 0.5, 3.9, 254.6):
        aside = x - math.floor(x) - 0.5
        expected = (
            math.floor(x) + 0.5 + math.tanh(sharpness * aside) / (2 * math.tanh(sharpness / 2))
        )
        assert soft_round(np.array([x]), sharpness)[0] == pytest.approx(expected, abs=1e-12)


def test_soft_rounding_keeps_whole_numbers_and_goes_from_nothing_to_hard_rounding():
    x = np.linspace(-3, 3, 1001)
    whole = np.arange(-3.0, 4.0)
    np.testing.assert_allclose(soft_round(whole, 7.0), whole, atol=1e-12)
    np.testing.assert_allclose(soft_round(x, 1e-3), x, atol=1e-6)
    certain = np.abs(x - np.floor(x) - 0.5) > 0.02
    np.testing.assert_allclose(soft_round(x, 1e3)[certain], np.rint(x[certain]), atol=1e-9)


@pytest.mark.parametrize("sharpness", [0.5, 4.0, 16.0])
def test_its_derivative_is_the_slope_between_near_points(sharpness):
    x = np.random.default_rng(0).uniform(-3, 3, 500)
    x = x[np.abs(x - np.rint(x)) > 1e-4]
    slope = (soft_round(x + 1e-6, sharpness) - soft_round(x - 1e-6, sharpness)) / 2e-6
    np.testing.assert_allclose(soft_round_derivative(x, sharpness), slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("scale", "offset"), [([0.0], [0.0]), ([1.0], [np.nan]), ([1.0, 1.0], [0.0]), ([-1.0], [0.0])]
)
def test_a_range_that_cannot_be_is_refused(scale, offset):
    with pytest.raises(SettingsError, match="latent"):
        LatentRange(np.float32(scale), np.float32(offset))
