from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from verdigris.core.baking.finish import fit_split as module
from verdigris.core.baking.finish.fit_split import (
    SmallLights,
    SplitEffort,
    SplitExamples,
    draw_split_examples,
    fit_split,
    join_split,
    split_effort_on,
)
from verdigris.core.base.device import open_device
from verdigris.core.network.light.environment_light import split_factors
from verdigris.core.network.light.sampler import all_head_views, run_head
from verdigris.core.network.student import Student
from verdigris.core.settings.presets import PRESETS, Kind

from ...bundle.bundles import lively_parameters

EFFORT = SplitEffort(surfaces=256, steps=150)


@pytest.fixture(scope="module")
def examples():
    parameters = lively_parameters()
    return draw_split_examples(parameters, Student(parameters, open_device("software")), EFFORT)


def errors_of(spec, head, examples):
    """Of each surface, less a constant."""
    raw = run_head(all_head_views(spec, head)[4:], examples.inputs)[2]
    factors = split_factors(raw)
    square = np.einsum("jN,jkN,kN->N", factors, examples.square, factors)
    return square - 2 * np.einsum("jN,jN->N", examples.side, factors)


def test_the_slope_is_that_of_the_error(examples, monkeypatch):
    monkeypatch.setattr(module, "MOST_SLOPE", np.inf)
    spec = lively_parameters().spec
    double = SplitExamples(
        *(getattr(examples, name).astype(float) for name in ("inputs", "square", "side"))
    )
    random = np.random.default_rng(2)
    head = 0.05 * random.standard_normal(spec.head_layers[-1].end)
    slope = np.zeros_like(head)
    found = module._slopes(all_head_views(spec, head)[4:], double.inputs, double, slice(None))
    for view, value in zip(all_head_views(spec, slope)[4:], found, strict=True):
        view[:] = value
    own = np.arange(spec.head_layers[2].weight_offset, len(head))
    for index in random.choice(own, 40, replace=False):
        step = np.zeros_like(head)
        step[index] = 1e-6
        after, before = (errors_of(spec, head + sign * step, double).mean() for sign in (1, -1))
        assert (after - before) / 4e-6 == pytest.approx(slope[index], rel=2e-3, abs=1e-5)


def test_a_fit_lowers_the_error_and_leaves_the_sampler(examples):
    parameters = lively_parameters()
    spec, end = parameters.spec, parameters.spec.head_layers[1].end
    head = fit_split(spec, parameters.head, examples, EFFORT)
    np.testing.assert_array_equal(head, head.astype(np.float16))  # as bundles store it
    np.testing.assert_array_equal(head[:end], parameters.head[:end])
    first = module._first_guess(spec, len(head))
    # the least that any factors could reach, of either sign
    square = np.moveaxis(examples.square, -1, 0) + 1e-6 * np.eye(spec.split_parts)
    best = np.linalg.solve(square, examples.side.T[..., None])[..., 0]
    least = -(best * examples.side.T).sum(1)
    over = [np.mean(errors_of(spec, each, examples) - least) for each in (first, head)]
    assert over[1] < 0.5 * over[0]


def test_small_lights_are_what_quadrature_says():
    """Irradiance and filtered radiance, summed over directions that are evenly spread."""
    lights = SmallLights()
    count = 20_000
    index = np.arange(count)
    cosine, turn = 1 - (2 * index + 1) / count, np.pi * (3 - np.sqrt(5)) * index
    sine = np.sqrt(1 - cosine**2)
    around = np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine])
    light = np.exp(lights.sharpness * (lights.towards @ around - 1))
    normal = np.array([[0.6], [0.0], [0.8]])
    wanted = light @ np.maximum(around.T @ normal, 0) * 4 * np.pi / count
    np.testing.assert_allclose(lights.irradiance(normal), wanted, rtol=0.02, atol=2e-3)
    # a filter moves light, but keeps its sum
    filtered = lights.radiance(around, np.full(count, 0.5))
    np.testing.assert_allclose(filtered.mean(1), light.mean(1), rtol=0.01)
    # and is wider than the light
    assert (filtered.max(1) <= 1.001).all()
    assert (filtered.max(1)[lights.sharpness[:, 0] > 100] < 0.3).all()


def test_materials_without_detail_get_more_steps():
    card, standard = SimpleNamespace(is_software=False), PRESETS["tensor"]["standard"]

    def effort(kind, samples=1.0):
        settings = standard[kind]
        trained = samples * settings.iterations * settings.batch
        return split_effort_on(card, trained, settings.resolution**2)

    assert effort(Kind.CONSTANT).steps > effort(Kind.DETAILED).steps
    assert effort(Kind.CONSTANT, 0.5) == module.SMALL


def test_examples_of_several_materials_are_mixed(examples):
    both = join_split([examples, replace(examples)])
    assert both.inputs.shape[1] == 2 * examples.inputs.shape[1]
    assert np.sort(both.side[0]) == pytest.approx(np.sort(np.tile(examples.side[0], 2)))
