"""Bakes that end early because their result is good enough."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from verdigris.core.baking import bake as bake_of_training
from verdigris.core.baking.bake import BakeControl, BakeOptions
from verdigris.core.baking.measure.measure import sphere_to_compare
from verdigris.core.baking.phases import train
from verdigris.core.baking.phases.train import check_steps
from verdigris.core.baking.state import checkpoint, trainers
from verdigris.core.baking.state.learner import Learner
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.network.parameters import CheckpointError
from verdigris.core.pictures.compare.metrics import PictureMetrics, SampleMetrics
from verdigris.core.progress import Finished, Metrics, Step
from verdigris.core.settings.bake_settings import BakeSettings

from ..bakes import (
    TINY,
    assert_same,
    baked,
    chalk_teacher,
    cut_off,
    of_kind,
    phases_of,
    run,
    stop_at,
)

# Of 120 steps: a check at every 8th from 48 on, and 12 steps of rounding from 108 on.
CHECKS = (48, 56, 64, 72, 80, 88, 96, 104)
LAST_PHASE, LAST_STEPS = 108, 12
STATE = "out.bake.npz"
GOOD = SampleMetrics(log_mae=2e-4, relative_l1=0.01, smape=0.01, bias=0.004)
BAD = replace(GOOD, log_mae=4e-4)
GOOD_PICTURE = PictureMetrics(psnr=60.0, ldr_flip=0.001)


@pytest.fixture(scope="module")
def chalk():
    return chalk_teacher()


def finish_briefly(run, _decoder, _heads):
    yield Finished((), run.step - run.steps_saved, 0.0, run.clock.stopped_by, (), ())


@pytest.fixture
def no_bundle(monkeypatch):
    """For bakes whose last event alone is looked at."""
    monkeypatch.setattr(bake_of_training, "finish", finish_briefly)


class Quality:
    """What checks find, in the place of measurements of a student that was hardly trained."""

    def __init__(self):
        self.samples = {}
        """By step; samples at other steps are bad."""
        self.picture = GOOD_PICTURE
        self.checked = []
        """Steps of checks."""

    def measure(self, learner, held_out):
        self.checked.append(learner.step)
        return tuple(self.samples.get(learner.step, BAD) for _ in held_out)


@pytest.fixture
def quality(monkeypatch):
    found = Quality()
    monkeypatch.setattr(Learner, "measure_live", lambda *given: found.measure(*given))
    monkeypatch.setattr(train, "measure_pictures", lambda *_: found.picture)
    monkeypatch.setattr(train, "sphere_to_compare", partial(sphere_to_compare, 16))
    return found


def be_good_at(quality, *steps, samples=GOOD):
    quality.samples = dict.fromkeys(steps, samples)


def assert_whole(events):
    assert (events[-1].stopped_by, events[-1].step) == ("steps", TINY.iterations)


def test_checks_lie_at_fixed_steps_of_the_last_six_tenths():
    assert tuple(check_steps(120, LAST_PHASE, has_target=False)) == CHECKS
    assert [*check_steps(1600, 1440, has_target=False)] == [*range(700, 1440, 100)]


def test_a_target_error_is_checked_from_the_beginning():
    assert [*check_steps(120, LAST_PHASE, has_target=True)] == [8, 16, 24, 32, 40, *CHECKS]


@pytest.mark.parametrize("steps", [1, 2, 3, 17])
def test_short_bakes_are_checked_at_whole_steps_before_the_last_phase(steps):
    checks = [*check_steps(steps, steps - 1, has_target=True)]
    assert checks == [*range(1, steps - 1)]


@pytest.mark.usefixtures("no_bundle")
def test_a_bake_without_good_checks_trains_all_steps(chalk, quality, tmp_path):
    events = run([chalk], tmp_path, TINY)
    assert_whole(events)
    assert tuple(quality.checked) == CHECKS


def test_two_good_checks_in_a_row_skip_to_the_rounding_phase(chalk, quality, tmp_path):
    be_good_at(quality, 64, 72)
    runs = []
    events = run([chalk], tmp_path, TINY, BakeControl(watch=runs.append))
    assert quality.checked == [48, 56, 64, 72]
    assert phases_of(events) == ["training", "rounding", "measuring"]
    # a single run, of the last steps of the schedule
    steps = [event.step for event in of_kind(events, Step)]
    assert [step for step in steps if step > 72] == [TINY.iterations]
    trainer = runs[0].learner.trainer
    assert trainer.step == TINY.iterations and trainer.latent_ranges() is not None
    assert runs[0].steps_saved == LAST_PHASE - 72
    finished = events[-1]
    assert (finished.stopped_by, finished.step) == ("quality", 72 + LAST_STEPS)
    source = open_bundle(tmp_path / "out.vdg").manifest.source
    assert (source["stopped_by"], source["step"]) == ("quality", 72 + LAST_STEPS)
    assert not (tmp_path / STATE).exists()


@pytest.mark.usefixtures("no_bundle")
def test_latents_of_half_floats_take_the_last_steps_too(chalk, quality, tmp_path):
    be_good_at(quality, 48, 56)
    events = run([chalk], tmp_path, replace(TINY, latent_format="half"))
    assert phases_of(events) == ["training", "measuring"]
    assert (events[-1].stopped_by, events[-1].step) == ("quality", 56 + LAST_STEPS)


@pytest.mark.usefixtures("no_bundle")
def test_a_good_check_before_a_bad_one_does_not_count(chalk, quality, tmp_path):
    be_good_at(quality, 48, 64, 80, 96)
    assert_whole(run([chalk], tmp_path, TINY))
    be_good_at(quality, 48, 64, 72)
    finished = run([chalk], tmp_path, TINY)[-1]
    assert (finished.stopped_by, finished.step) == ("quality", 72 + LAST_STEPS)


@pytest.mark.usefixtures("no_bundle")
@pytest.mark.parametrize(
    ("bias", "stopped_by"), [(0.0051, "steps"), (-0.0051, "steps"), (-0.0049, "quality")]
)
def test_a_biased_result_is_not_good_enough(chalk, quality, tmp_path, bias, stopped_by):
    be_good_at(quality, *CHECKS, samples=replace(GOOD, bias=bias))
    assert run([chalk], tmp_path, TINY)[-1].stopped_by == stopped_by


@pytest.mark.usefixtures("no_bundle")
@pytest.mark.parametrize("change", [{"psnr": 54.0}, {"ldr_flip": 0.006}])
def test_a_result_with_visible_differences_is_not_good_enough(chalk, quality, tmp_path, change):
    be_good_at(quality, *CHECKS)
    quality.picture = replace(GOOD_PICTURE, **change)
    assert_whole(run([chalk], tmp_path, TINY))


@pytest.mark.usefixtures("no_bundle")
def test_every_material_must_be_good_enough(chalk, quality, tmp_path, monkeypatch):
    be_good_at(quality, *CHECKS)
    both = [chalk, chalk_teacher("other")]
    seen = []

    def is_bad_of_the_second(teacher, student, _):
        seen.append((teacher.material.name, student.material))
        return replace(GOOD_PICTURE, psnr=60.0 if teacher is chalk else 40.0)

    monkeypatch.setattr(train, "measure_pictures", is_bad_of_the_second)
    assert_whole(run(both, tmp_path, TINY, name="both"))
    assert seen[:2] == [("chalk", 0), ("other", 1)]


@pytest.mark.usefixtures("no_bundle")
def test_a_target_error_ends_training_at_any_time(chalk, quality, tmp_path):
    be_good_at(quality, *range(0, 120, 8), samples=replace(BAD, bias=0.5))
    quality.picture = replace(GOOD_PICTURE, psnr=20.0)
    events = run([chalk], tmp_path, TINY, target_error=4.5e-4)
    assert quality.checked == [8, 16]
    assert phases_of(events) == ["training", "rounding", "measuring"]
    assert (events[-1].stopped_by, events[-1].step) == ("target error", 16 + LAST_STEPS)


@pytest.mark.usefixtures("no_bundle")
def test_a_target_error_that_is_not_reached_ends_nothing(chalk, quality, tmp_path):
    # indistinguishable, but not what was requested
    be_good_at(quality, *range(0, 120, 8))
    assert_whole(run([chalk], tmp_path, TINY, target_error=1e-4))


@pytest.mark.usefixtures("no_bundle")
@pytest.mark.parametrize(
    ("target", "error", "step"),
    [("very good", 9e-4, 16), ("very good", 1.1e-3, None), ("good", 2.9e-3, 16)],
)
def test_a_target_in_words_ends_a_bake_at_any_time(target, error, step, chalk, quality, tmp_path):
    quality.picture = PictureMetrics(psnr=47.0, ldr_flip=0.009)
    be_good_at(quality, *range(0, 120, 8), samples=replace(GOOD, log_mae=error))
    events = run([chalk], tmp_path, TINY, target=target)
    if step is None:
        assert_whole(events)
    else:
        assert (events[-1].stopped_by, events[-1].step) == ("quality", step + LAST_STEPS)


@pytest.mark.usefixtures("no_bundle")
def test_checks_report_the_metrics_that_they_measure(chalk, tmp_path, monkeypatch):
    monkeypatch.setattr(train, "reaches", lambda *_: True)
    found = of_kind(run([chalk], tmp_path, TINY, metrics_seconds=1e9), Metrics)
    assert [event.step for event in found] == [48, 56]
    assert all(0 < event.samples[0].log_mae < 0.5 for event in found)


def patch_early_stop(monkeypatch):
    """Counts every check as good: training skips from step 56 to 108."""
    monkeypatch.setattr(train, "reaches", lambda *_: True)
    monkeypatch.setattr(train, "sphere_to_compare", partial(sphere_to_compare, 16))


@pytest.fixture
def single_steps(monkeypatch):
    """Runs of one step, so that a bake can be interrupted after any."""
    monkeypatch.setattr(trainers, "FIRST_RUN", 1)
    return {"run_seconds": 1e-9}


@pytest.fixture(scope="module")
def early(chalk, tmp_path_factory):
    """Parameters of a bake without interruption that ended early."""
    folder = tmp_path_factory.mktemp("early")
    with pytest.MonkeyPatch.context() as monkeypatch:
        patch_early_stop(monkeypatch)
        events = run([chalk], folder, TINY, run_seconds=1.0)
    assert (events[-1].stopped_by, events[-1].step) == ("quality", 56 + LAST_STEPS)
    return baked(folder)


def test_equal_bakes_end_equally_however_fast_they_are(
    chalk, early, single_steps, tmp_path, monkeypatch
):
    patch_early_stop(monkeypatch)
    events = run([chalk], tmp_path, TINY, metrics_seconds=0.0, **single_steps)
    assert events[-1].step == 56 + LAST_STEPS
    assert_same(baked(tmp_path), early)


# A checkpoint is written before the check of its step: at the first and the second check, and after
# the skip.
@pytest.mark.parametrize(("after", "good_checks"), [(48, 0), (56, 1), (LAST_PHASE + 1, 2)])
def test_a_bake_that_is_killed_near_the_skip_resumes_exactly(
    chalk, early, single_steps, tmp_path, monkeypatch, after, good_checks
):
    patch_early_stop(monkeypatch)
    last, _ = cut_off([chalk], tmp_path, TINY, after=after, **single_steps)
    assert last.step == after
    saved = checkpoint.load(tmp_path / STATE).facts["early"]
    assert saved["good_checks"] == good_checks
    assert saved["stopped_by"] == ("quality" if after > LAST_PHASE else "")
    started, *_, finished = run([chalk], tmp_path, TINY, resume=True)
    assert started.step == after
    assert (finished.stopped_by, finished.step) == ("quality", 56 + LAST_STEPS)
    assert_same(baked(tmp_path), early)


@pytest.mark.parametrize("stops_at", [52, 56, 110])
def test_a_bake_that_is_stopped_near_the_skip_resumes_exactly(
    chalk, early, single_steps, tmp_path, monkeypatch, stops_at
):
    patch_early_stop(monkeypatch)

    def is_due(event):
        return isinstance(event, Step) and event.step == stops_at

    rarely = {"checkpoint_seconds": 1e9, **single_steps}
    *_, stopped = stop_at(is_due, [chalk], tmp_path, TINY, **rarely)
    # steps that were left out do not count
    trained = stops_at - (LAST_PHASE - 56) if stops_at > LAST_PHASE else stops_at
    assert (stopped.stopped_by, stopped.step) == ("request", trained)
    finished = run([chalk], tmp_path, TINY, resume=True)[-1]
    assert (finished.stopped_by, finished.step) == ("quality", 56 + LAST_STEPS)
    assert_same(baked(tmp_path), early)


def test_damaged_progress_of_checks_is_refused(chalk, tmp_path):
    cut_off([chalk], tmp_path, TINY)
    path = tmp_path / STATE
    saved = checkpoint.load(path)
    for name, value in (("good_checks", -1), ("checked_step", "8"), ("steps_saved", True)):
        facts = {**saved.facts, "early": {**saved.facts["early"], name: value}}
        checkpoint.save(path, saved.parameters, facts, saved.state)
        message = f"{name} is {value!r}: it must be a whole number"
        with pytest.raises(CheckpointError, match=message):
            run([chalk], tmp_path, TINY, resume=True)


@pytest.mark.parametrize(
    ("trainer", "steps", "target", "checks"),
    [
        ("tensor", 10_000, "", False),
        ("tensor", 20_000, "", True),
        ("tensor", 10_000, "good", True),
        ("numpy", 2_500, "", True),
    ],
)
def test_short_stages_on_a_card_are_checked_for_a_requested_target_alone(
    trainer, steps, target, checks
):
    stage = SimpleNamespace(settings=BakeSettings(iterations=steps))
    run = SimpleNamespace(
        trainer_kind=trainer,
        options=BakeOptions("x", Path(), target=target),
        learner=SimpleNamespace(stage=stage),
    )
    assert train.has_checks(run) is checks
