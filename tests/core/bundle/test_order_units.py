"""Units ordered by rounding error: the same material, in other places."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import choose_points
from verdigris.core.bundle.half_floats import judge, order_units
from verdigris.core.network.numpy_mlp import evaluate_at_lod
from verdigris.core.network.spec import PRESETS, NetworkSpec

from .bundles import SMALL, lively_parameters, with_sums_of

POINTS = choose_points(SMALL)


def units_of(parameters, index):
    """Of a hidden layer behind the first: each unit's numbers, and what the next reads of it."""
    layer, behind = parameters.spec.layers[index : index + 2]
    rows = np.column_stack([parameters.weights(layer), parameters.bias(layer)])
    return rows, parameters.weights(behind).T


@pytest.mark.parametrize("name", ["2x32", "3x64"])
def test_the_response_is_the_same(name):
    before = lively_parameters(replace(PRESETS[name], activation="silu")).astype(np.float64)
    after = order_units(before)
    assert not np.array_equal(before.decoder, after.decoder)
    points = POINTS.uv, POINTS.lod, POINTS.wi, POINTS.wo
    wanted = evaluate_at_lod(before, *points)
    np.testing.assert_allclose(evaluate_at_lod(after, *points), wanted, rtol=1e-11, atol=0)


def test_what_halves_harm_is_last_and_kept_from_them():
    before = with_sums_of(200, 1, units=5)
    after = order_units(before)
    (large, reads), (ordered, ordered_reads) = units_of(before, 1), units_of(after, 1)
    last = [tuple(row) for row in ordered[-5:].tolist()]
    assert set(last) == {tuple(row) for row in large[:5].tolist()}
    # each unit is still read as it was
    pairs = zip(large.tolist(), reads.tolist(), strict=True)
    by_row = {tuple(row): tuple(read) for row, read in pairs}
    for row, read in zip(ordered.tolist(), ordered_reads.tolist(), strict=True):
        assert by_row[tuple(row)] == tuple(read)
    unordered, found = (judge(each, POINTS, Bounds()) for each in (before, after))
    assert (unordered.advised, found.advised) == ("portable", "exacting")
    assert found.errors["exacting"] < 0.004 < 0.01 < found.errors["careful"]


def test_more_than_plain_code_takes_are_left_to_plain_code_altogether():
    found = judge(order_units(with_sums_of(200, 1, units=12)), POINTS, Bounds())
    assert found.advised == "portable"


def test_materials_of_one_decoder_keep_one():
    alone = with_sums_of(200, 1, units=5)
    layout = replace(alone.layout, materials=2)
    levels = [np.repeat(alone.level(level), 2, axis=0) for level in range(layout.levels)]
    latents = np.concatenate([level.reshape(-1, level.shape[-1]) for level in levels])
    both = order_units(replace(alone, layout=layout, latents=latents))
    np.testing.assert_array_equal(both.decoder, order_units(alone).decoder)
    np.testing.assert_array_equal(both.of_material(1).latents, alone.latents)


def test_a_single_hidden_layer_has_no_order():
    parameters = lively_parameters(NetworkSpec(16, 1, "silu"))
    after = order_units(parameters)
    np.testing.assert_array_equal(after.decoder, parameters.decoder)
