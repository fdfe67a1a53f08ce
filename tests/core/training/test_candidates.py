"""Several starts of a bake, cut off while they are tried."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.state import checkpoint
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.progress.events import Checkpointed, Phase, Preview, Step

from .bakes import LIGHT, TINY, baked, run

# sixty steps of each start, in three runs
SETTINGS = replace(TINY, candidates=2, candidate_share=0.5)
RUNS = 3


def cut_off(teacher, folder, checkpoints):
    """A bake that was killed after so many checkpoints."""
    options = BakeOptions("out", folder, "numpy", checkpoint_seconds=0.0)
    events = bake([teacher], SETTINGS, options)
    written = (event for event in events if isinstance(event, Checkpointed))
    for _ in range(checkpoints):
        last = next(written)
    events.close()
    return last


@pytest.fixture(scope="module")
def whole(clay, tmp_path_factory):
    """Parameters of a bake that was not cut off."""
    folder = tmp_path_factory.mktemp("whole")
    run([clay], folder, SETTINGS)
    return open_bundle(folder / "out.vdg").parameters()


@pytest.mark.parametrize(
    ("checkpoints", "step"), [(1, 20), (RUNS, 60), (RUNS + 1, 80), (2 * RUNS, 120)]
)
def test_a_bake_cut_off_while_it_tries_starts_ends_as_an_uninterrupted_one(
    clay, whole, tmp_path, checkpoints, step
):
    last = cut_off(clay, tmp_path, checkpoints)
    facts = checkpoint.load(tmp_path / "out.bake.npz").facts
    assert facts["trial"]["number"] == (checkpoints - 1) // RUNS
    assert last.step == step
    events = run([clay], tmp_path, SETTINGS, resume=True)
    assert events[0].step == last.step
    assert next(event.name for event in events if isinstance(event, Phase)) == "candidates"
    cut = open_bundle(tmp_path / "out.vdg").parameters()
    np.testing.assert_array_equal(whole.decoder, cut.decoder)
    np.testing.assert_array_equal(whole.latents, cut.latents)


def test_a_bake_asked_to_stop_while_it_tries_starts_goes_on_trying_them(clay, whole, tmp_path):
    control = BakeControl()
    for event in bake([clay], SETTINGS, BakeOptions("out", tmp_path, "numpy"), control):
        if isinstance(event, Step):
            control.stop()
    assert event.stopped_by == "request"
    started = run([clay], tmp_path, SETTINGS, resume=True)[0]
    assert started.step == event.step > 0
    resumed = open_bundle(tmp_path / "out.vdg").parameters()
    np.testing.assert_array_equal(whole.latents, resumed.latents)


def test_a_bake_asked_to_stop_as_a_start_is_done_goes_on_with_the_next(clay, whole, tmp_path):
    control, options = BakeControl(), BakeOptions("out", tmp_path, "numpy", checkpoint_seconds=1e6)
    for event in bake([clay], SETTINGS, options, control):
        if isinstance(event, Step) and event.step == SETTINGS.candidate_steps:
            control.stop()
    assert event.stopped_by == "request"
    assert checkpoint.load(tmp_path / "out.bake.npz").facts["trial"]["number"] == 1
    run([clay], tmp_path, SETTINGS, resume=True)
    resumed = open_bundle(tmp_path / "out.vdg").parameters()
    np.testing.assert_array_equal(whole.latents, resumed.latents)


def test_each_start_is_seen_once_it_was_tried(clay, tmp_path):
    events = run([clay], tmp_path, SETTINGS, preview_seconds=1000.0, preview_size=32)
    begun = next(n for n, event in enumerate(events) if getattr(event, "name", "") == "training")
    pictures = [event.picture for event in events[:begun] if isinstance(event, Preview)]
    # the two starts, and the better one, from which training goes on
    first, second, chosen = (picture[..., :3] for picture in pictures)
    assert first.shape == (32, 32, 3) and (first != second).any()
    assert min(np.abs(chosen - each).max() for each in (first, second)) < 1e-6
    # clay is not black where the light falls on it
    assert first.max() > 0.05


def test_once_a_start_is_chosen_the_others_are_forgotten(clay, tmp_path):
    cut_off(clay, tmp_path, 2 * RUNS + 1)
    saved = checkpoint.load(tmp_path / "out.bake.npz")
    assert "trial" not in saved.facts
    assert not [name for name in saved.state if name.startswith("best_")]


def test_side_by_side_starts_are_chosen_from_as_one_after_another(clay, abreast, tmp_path):
    encoded = replace(LIGHT, resolution=32, encode_from=32, small_resolution=16, small_share=0.5)
    settings = replace(encoded, candidates=3, candidate_share=0.3)
    results = {}
    for most in (1, 2):
        abreast(most)
        events = run([clay], tmp_path / str(most), settings)
        results[most] = baked(tmp_path / str(most))
        steps = [event.step for event in events if isinstance(event, Step)]
        assert steps[-1] == TINY.iterations
    np.testing.assert_array_equal(results[1].latents, results[2].latents)
    np.testing.assert_array_equal(results[1].decoder, results[2].decoder)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"number": 2}, "start 2.0 of 2"),
        ({"number": 0.5}, "start 0.5"),
        ({"number": "one"}, "number of the trial of starts is 'one'"),
        ({"loss": None}, "loss of the trial of starts is None"),
        ({"best_loss": True}, "best_loss of the trial"),
    ],
)
def test_a_trial_that_no_bake_has_written_is_refused_by_name(clay, tmp_path, change, told):
    cut_off(clay, tmp_path, RUNS + 1)
    path = tmp_path / "out.bake.npz"
    saved = checkpoint.load(path)
    facts = {**saved.facts, "trial": {**saved.facts["trial"], **change}}
    checkpoint.save(path, saved.parameters, facts, saved.state)
    with pytest.raises(VerdigrisError, match=told) as caught:
        run([clay], tmp_path, SETTINGS, resume=True)
    assert str(path) in str(caught.value)


def test_a_best_start_without_its_latents_is_refused(clay, tmp_path):
    cut_off(clay, tmp_path, RUNS + 1)
    path = tmp_path / "out.bake.npz"
    saved = checkpoint.load(path)
    for state in (
        {name: array for name, array in saved.state.items() if name != "best_latents"},
        {**saved.state, "best_latents": saved.state["best_latents"][1:]},
    ):
        checkpoint.save(path, saved.parameters, saved.facts, state)
        with pytest.raises(VerdigrisError, match="the best start is damaged"):
            run([clay], tmp_path, SETTINGS, resume=True)


@pytest.mark.parametrize(("iterations", "encode_from"), [(1, 0), (2, 0), (1, 8), (2, 8), (3, 8)])
def test_few_steps_are_no_more_for_many_starts(clay, tmp_path, iterations, encode_from):
    settings = replace(SETTINGS, iterations=iterations, candidates=3)
    settings = replace(settings, resolution=8, small_resolution=4, encode_from=encode_from)
    events = run([clay], tmp_path, settings)
    assert events[-1].step == iterations
    steps = [(event.step, event.steps) for event in events if isinstance(event, Step)]
    assert all(done <= total for done, total in steps)
