from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from verdigris.core.baking.finish import fit_sampler
from verdigris.core.baking.finish.fit_sampler import LARGE, effort_on, fit_head
from verdigris.core.baking.finish.sampler_examples import Effort, draw_examples, join
from verdigris.core.base.device import open_device
from verdigris.core.network.light.sampler import (
    above_horizon,
    ggx_density,
    local_halves,
    mixture,
    run_head,
    tilts_of,
    turn_by,
    turned,
)
from verdigris.core.network.student import Student
from verdigris.core.settings.presets import PRESETS, Kind

from ...bundle.bundles import lively_parameters

EFFORT = Effort(surfaces=96, directions=64, steps=60)


@pytest.fixture(scope="module")
def examples():
    parameters = lively_parameters()
    return draw_examples(parameters, Student(parameters, open_device("software")), EFFORT)


def density_of(spec, head, examples):
    weights, bias, last, last_bias = fit_sampler.head_views(spec, head)
    hidden = weights @ examples.inputs + bias[:, None]
    raw = last @ np.maximum(hidden, 0.1 * hidden) + last_bias[:, None]
    widths, share = mixture(spec, raw, examples.stretch)
    tilts = tilts_of(spec, raw, examples.towards)
    halves = [
        local_halves(turned(turn, examples.wi[:, :, frame]), above_horizon(turned(turn, wo), width))
        for frame, (turn, wo, width) in enumerate(
            zip(map(turn_by, tilts), np.moveaxis(examples.wo, 1, 0), widths, strict=True)
        )
    ]
    lobes = [ggx_density(*each) for each in zip(halves, widths**2, strict=True)]
    lobes += [examples.cosine / np.pi, (examples.cosine > 0) / (2 * np.pi)]
    return sum(weight * each for weight, each in zip(share, lobes, strict=True))


def loss_of(spec, head, examples):
    density = density_of(spec, head, examples) + 1e-12
    part = fit_sampler._VARIANCE
    each = part * examples.response / density - (1 - part) * np.log(density)
    return (examples.mass * each).sum(0).mean()


def doubled(examples):
    arrays = {
        name: getattr(examples, name).astype(np.float64)
        for name in ("inputs", "stretch", "towards", "wi", "wo", "cosine", "mass", "response")
    }
    return replace(examples, **arrays)


def test_the_slope_is_that_of_the_loss(examples, monkeypatch):
    """Finite differences, without the limits on single directions and surfaces."""
    monkeypatch.setattr(fit_sampler, "MOST_RATIO", np.inf)
    monkeypatch.setattr(fit_sampler, "MOST_SLOPE", np.inf)
    monkeypatch.setattr(fit_sampler, "MOST_TILTING", np.inf)
    spec = lively_parameters().spec
    own = doubled(examples)
    random = np.random.default_rng(2)
    head = 0.2 * random.standard_normal(spec.head_layers[-1].end)
    # slopes leave out the limit of the view at the horizon of a tilted frame
    raw = run_head(fit_sampler.head_views(spec, head), own.inputs)[2]
    tilts = tilts_of(spec, raw, own.towards)
    seen = turned(turn_by(np.moveaxis(tilts, 1, 0)), own.wo)[2]
    own = own.part(np.min(seen, axis=0) > 0.1)
    assert own.count > 20
    own_numbers = spec.head_layers[1].end  # those behind are of another head
    slope = np.zeros_like(head)
    found = fit_sampler._slopes(spec, fit_sampler.head_views(spec, head), own.inputs, own)
    for view, value in zip(fit_sampler.head_views(spec, slope), found, strict=True):
        view[:] = value
    for index in random.choice(own_numbers, 16, replace=False):
        step = np.zeros_like(head)
        step[index] = 1e-5
        difference = loss_of(spec, head + step, own) - loss_of(spec, head - step, own)
        assert difference / 2e-5 == pytest.approx(slope[index], rel=2e-3, abs=1e-5)


def test_a_fitted_head_draws_better_than_a_cosine_lobe(examples):
    spec = lively_parameters().spec
    head = fit_head(spec, examples, EFFORT.steps)
    np.testing.assert_array_equal(head, head.astype(np.float16))  # as bundles store it
    density = density_of(spec, head, examples)
    above = np.maximum(examples.cosine, 1e-6) / np.pi
    fitted, cosine = (
        (examples.mass * examples.response / np.maximum(each, 1e-9)).sum(0)
        for each in (density, above)
    )
    assert np.median(fitted) < 0.7 * np.median(cosine)


def test_effort_follows_the_bake_and_its_texels():
    card = SimpleNamespace(is_software=False)

    def effort(preset, kind):
        settings = PRESETS["tensor"][preset][kind]
        return effort_on(card, settings.iterations * settings.batch, settings.resolution**2)

    assert effort("draft", Kind.CONSTANT) == effort("draft", Kind.DETAILED) == fit_sampler.SMALL
    assert effort("standard", Kind.DETAILED) == effort("final", Kind.DETAILED) == LARGE
    # widths of mirrors take steps
    assert effort("standard", Kind.CONSTANT).steps > LARGE.steps
    assert effort_on(SimpleNamespace(is_software=True)) == fit_sampler.SMALL


def test_examples_of_several_materials_are_mixed(examples):
    both = join([examples, examples])
    assert both.count == 2 * examples.count
    halves = both.inputs[:, : examples.count], examples.inputs
    assert np.sort(both.inputs[0]) == pytest.approx(np.sort(np.tile(examples.inputs[0], 2)))
    assert not np.array_equal(*halves)


def test_a_second_round_goes_on_from_the_first(examples):
    spec = lively_parameters().spec
    first = fit_head(spec, examples, 20)
    # inputs are scaled for training, and back
    same = fit_head(spec, examples, 0, first)
    np.testing.assert_allclose(same, first, rtol=2e-3, atol=1e-4)
    losses = [
        loss_of(spec, head, examples)
        for head in (first, fit_head(spec, examples, 40, first), fit_head(spec, examples, 40))
    ]
    assert losses[1] < min(losses[0], losses[2])


def test_half_of_the_directions_come_from_a_given_head():
    parameters = lively_parameters()
    student = Student(parameters, open_device("software"))
    narrow = parameters.head.copy()
    _, _, last, bias = fit_sampler.head_views(parameters.spec, narrow)
    last[:] = 0
    # lobes of the least width, without tilts
    bias[:] = [-20] * 4 + [9, 9, 0, 0] + [0] * 6
    half = draw_examples(parameters, student, EFFORT, narrow)
    near = np.zeros(half.cosine.shape, bool)
    for frame in (0, 1):
        mirrored = half.wo[:, None, frame] * np.array([-1, -1, 1])[:, None, None]
        near |= (half.wi[:, :, frame] * mirrored).sum(0) > np.cos(0.1)
    assert 0.4 < near.mean() < 0.65
