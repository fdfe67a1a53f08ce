"""The comparison of starts, also of bakes that are stopped or killed during it."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.state import checkpoint
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.progress import Phase, Preview, Step

from ..bakes import TINY, assert_same, baked, cut_off, of_kind, phases_of, run, stop_at

# sixty steps of each start, in three runs
SETTINGS = replace(TINY, starts=2, start_share=0.5)
RUNS = 3
STATE = "out.bake.npz"


@pytest.fixture(scope="module")
def whole(clay, tmp_path_factory):
    """Parameters of a bake without interruption."""
    folder = tmp_path_factory.mktemp("whole")
    run([clay], folder, SETTINGS)
    return baked(folder)


@pytest.mark.parametrize(("checkpoints", "step"), [(RUNS, 60), (RUNS + 1, 80), (2 * RUNS, 120)])
def test_a_bake_that_is_killed_during_the_comparison_resumes_exactly(
    clay, whole, tmp_path, checkpoints, step
):
    last, _ = cut_off([clay], tmp_path, SETTINGS, checkpoints)
    facts = checkpoint.load(tmp_path / STATE).facts
    assert facts["start_choice"]["number"] == (checkpoints - 1) // RUNS
    assert last.step == step
    events = run([clay], tmp_path, SETTINGS, resume=True)
    assert events[0].step == last.step
    assert phases_of(events)[0] == "starts"
    assert_same(baked(tmp_path), whole)


def test_a_bake_that_is_stopped_during_the_comparison_resumes_exactly(clay, whole, tmp_path):
    *_, stopped = stop_at(lambda event: isinstance(event, Step), [clay], tmp_path, SETTINGS)
    assert stopped.stopped_by == "request"
    started, *_ = run([clay], tmp_path, SETTINGS, resume=True)
    assert started.step == stopped.step > 0
    assert_same(baked(tmp_path), whole)


def test_a_bake_that_is_stopped_at_the_end_of_a_start_resumes_with_the_next(clay, whole, tmp_path):
    def ends_a_start(event):
        return isinstance(event, Step) and event.step == SETTINGS.start_steps

    *_, stopped = stop_at(ends_a_start, [clay], tmp_path, SETTINGS, checkpoint_seconds=1e6)
    assert stopped.stopped_by == "request"
    assert checkpoint.load(tmp_path / STATE).facts["start_choice"]["number"] == 1
    run([clay], tmp_path, SETTINGS, resume=True)
    assert_same(baked(tmp_path), whole)


def test_each_start_has_a_picture_and_the_better_one_is_trained_on(clay, tmp_path):
    events = run([clay], tmp_path, SETTINGS, preview_seconds=1000.0, preview_size=32)
    begun = events.index(next(each for each in of_kind(events, Phase) if each.name == "training"))
    pictures = [event.picture for event in of_kind(events[:begun], Preview)]
    first, second, chosen = (picture[..., :3] for picture in pictures)
    assert first.shape == (32, 32, 3) and (first != second).any()
    assert min(np.abs(chosen - each).max() for each in (first, second)) < 1e-6
    # clay is not black where light falls on it
    assert first.max() > 0.05


def test_the_other_starts_are_dropped_after_the_choice(clay, tmp_path):
    cut_off([clay], tmp_path, SETTINGS, 2 * RUNS + 1)
    saved = checkpoint.load(tmp_path / STATE)
    assert "start_choice" not in saved.facts
    assert not [name for name in saved.state if name.startswith("best_")]


@pytest.fixture(scope="module")
def second_start(clay, tmp_path_factory):
    """The checkpoint of a bake that was killed in its second start."""
    folder = tmp_path_factory.mktemp("second_start")
    cut_off([clay], folder, SETTINGS, RUNS + 1)
    return checkpoint.load(folder / STATE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"number": 2}, "start 2.0 of 2"),
        ({"number": 0.5}, "start 0.5"),
        ({"number": "one"}, "number of the choice of starts is 'one'"),
        ({"loss": None}, "loss of the choice of starts is None"),
        ({"best_loss": True}, "best_loss of the choice of starts is True"),
    ],
)
def test_a_damaged_choice_is_refused(clay, second_start, tmp_path, change, message):
    facts = second_start.facts
    facts = {**facts, "start_choice": {**facts["start_choice"], **change}}
    path = tmp_path / STATE
    checkpoint.save(path, second_start.parameters, facts, second_start.state)
    with pytest.raises(VerdigrisError, match=message) as caught:
        run([clay], tmp_path, SETTINGS, resume=True)
    assert str(path) in str(caught.value)


def test_a_best_start_without_its_latents_is_refused(clay, second_start, tmp_path):
    latents = second_start.state["best_latents"]
    others = {name: each for name, each in second_start.state.items() if name != "best_latents"}
    for state in (others, {**others, "best_latents": latents[1:]}):
        checkpoint.save(tmp_path / STATE, second_start.parameters, second_start.facts, state)
        with pytest.raises(VerdigrisError, match="the best start is damaged"):
            run([clay], tmp_path, SETTINGS, resume=True)


@pytest.mark.parametrize(("iterations", "encode_from"), [(1, 0), (2, 0), (1, 8), (2, 8), (3, 8)])
def test_a_bake_of_few_steps_takes_no_more_for_many_starts(clay, tmp_path, iterations, encode_from):
    settings = replace(SETTINGS, iterations=iterations, starts=3)
    settings = replace(settings, resolution=8, small_resolution=4, encode_from=encode_from)
    events = run([clay], tmp_path, settings)
    assert events[-1].step == iterations
    steps = [(event.step, event.steps) for event in of_kind(events, Step)]
    assert all(done <= total for done, total in steps)
