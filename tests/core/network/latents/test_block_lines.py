"""Blocks that are fitted to latents, against what they are made of."""

import os
import subprocess
import sys

import numpy as np
import pytest

from verdigris.core.network.latents import bc7
from verdigris.core.network.latents.block_lines import (
    best_ends,
    bytes_of,
    compressed_copy,
    encode,
    fit_blocks,
    to_quads,
)
from verdigris.core.network.latents.quantise import LatentRange, fit_ranges
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import PRESETS, LatentLayout

RANGE = LatentRange(np.full(8, 255, np.float32), np.zeros(8, np.float32))
NO_BYTE = np.zeros(4, np.float32)


def on_lines(free, count=40, seed=0):
    """Blocks [count, 16, 4] whose channels lie on lines but for one that is free, 4 for none."""
    random = np.random.default_rng(seed)
    place = random.uniform(-1, 1, (count, 16, 1))
    texels = random.uniform(-3, 3, (count, 1, 4)) + place * random.uniform(-1, 1, (count, 1, 4))
    if free < 4:
        texels[..., free] = random.uniform(-1, 1, (count, 16))
    return texels.astype(np.float32)


@pytest.mark.parametrize("free", range(5))
def test_texels_that_a_block_can_hold_stay_where_they_are(free):
    texels = on_lines(free)
    fit = fit_blocks(texels, NO_BYTE)
    is_same = bc7.SCALAR[fit.kinds] == free
    # a line of four channels has more indices, for which a small distance may be taken
    assert is_same.mean() > 0.9
    np.testing.assert_allclose(fit.texels[is_same], texels[is_same], atol=1e-3)


@pytest.mark.parametrize("last", [3, 7, 15])
def test_ends_are_those_of_places_at_indices_and_else_better_than_the_outermost(last):
    random = np.random.default_rng(last)
    shares = random.integers(0, last + 1, (16, 50)) / last
    shares[:2] = [[0], [1]]
    low, high = best_ends(3 * shares - 1, np.full(50, last))
    np.testing.assert_allclose([low, high], [[-1] * 50, [2] * 50], atol=1e-5)
    places = random.uniform(size=(16, 50))

    def error(low, high):
        index = np.clip(np.rint((places - low) / (high - low) * last), 0, last)
        return ((low + (high - low) * index / last - places) ** 2).sum()

    outermost = error(places.min(0), places.max(0))
    assert error(*best_ends(places, np.full(50, last))) < last / (last + 1) * outermost


def test_places_that_are_all_equal_are_their_own_ends():
    places = np.full((16, 1), 0.3, np.float32)
    np.testing.assert_array_equal(best_ends(places, np.array([7])), np.float32([[0.3], [0.3]]))


def test_the_line_is_the_first_principal_axis_in_units_of_importance():
    random = np.random.default_rng(3)
    texels = random.standard_normal((30, 16, 4)) * [1, 0.2, 3, 0.1]
    importance = random.uniform(0.01, 4, (30, 4))
    fit = fit_blocks(texels, NO_BYTE, importance)
    for block, moved, kind, weight in zip(texels, fit.texels, fit.kinds, importance, strict=True):
        line = [channel for channel in range(4) if channel != bc7.SCALAR[kind]]
        unit = np.sqrt(weight[line])
        around = (block[:, line] - block[:, line].mean(0)) * unit
        axis = np.linalg.svd(around)[2][0]
        expected = block[:, line].mean(0) + np.outer(around @ axis, axis) / unit
        # a power of the covariance, not the limit
        np.testing.assert_allclose(moved[:, line], expected, atol=0.05)


def test_decoded_texels_are_within_half_an_index_of_the_line():
    texels = np.concatenate([on_lines(2), on_lines(0, seed=1)], -1) * 20 + 128
    level = texels.reshape(160, 4, 8)
    decoded = bc7.decode(encode(level, RANGE).reshape(2, 40, 16)).transpose(1, 2, 0, 3)
    quads = to_quads(level).transpose(0, 2, 1, 3)
    reach = (quads.max(1) - quads.min(1)).max()
    # half of the widest step between three indices, and an endpoint of five bits
    assert np.abs(decoded - quads).max() < reach / 6 + 6
    assert np.sqrt(np.mean((decoded - quads) ** 2)) < 4


def test_a_block_of_one_value_keeps_it_to_a_byte():
    value = np.arange(8) * 30.0 + 7.4
    decoded = bc7.decode(encode(np.tile(value, (4, 4, 1)).astype(np.float32), RANGE))
    assert np.abs(decoded.reshape(2, 16, 4) - value.reshape(2, 1, 4)).max() <= 1.4


def test_a_compressed_copy_has_each_material_in_its_own_range():
    layout = LatentLayout(8, 4, levels=4, materials=2)
    parameters = initialise(PRESETS["2x16"], layout, 0)
    parameters.level(0)[1] *= 50
    copy = compressed_copy(parameters, fit_ranges(parameters))
    for material, scale in enumerate((1, 50)):
        for level in range(4):
            before = parameters.level(level)[material]
            error = np.abs(copy.level(level)[material] - before).max()
            assert error < 2.2 * (scale if level == 0 else 50 * material or 1)
    assert bytes_of(fit_ranges(parameters)[1]).shape == (2, 4)


FORKED = """
import os, signal, sys
import numpy as np
from verdigris.core.network.latents.block_lines import decode
blocks = np.full((1, 320, 64, 16), 0x40, np.uint8)
wanted = decode(blocks, 1280, 256)
if os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
# fewer parts than the parent has threads, so that no new one would begin
signal.alarm(20)
found = decode(blocks[:, :32], 128, 256)
os._exit(0 if np.array_equal(found, wanted[:, :128]) else 7)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked there")
def test_a_forked_process_decodes_with_threads_of_its_own():
    done = subprocess.run([sys.executable, "-c", FORKED], check=False)
    assert done.returncode == 0
