"""Trains: compares starts, runs steps with their reports, and ends early when the result is good.

Starts are trained for a while, and the one with the lowest loss is trained on. Checks of the result
lie at fixed steps, so that equal bakes end equally. After two good checks in a row training skips
to its last phase, in which rates are low and latents are rounded.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.finish.notices import skipped_steps
from verdigris.core.baking.measure.measure import measure_pictures, sphere_to_compare
from verdigris.core.baking.state.choices import BestStart, StartChoice
from verdigris.core.baking.state.clock import QUALITY, TARGET_ERROR
from verdigris.core.baking.state.resume import save_checkpoint
from verdigris.core.baking.state.trainers import fresh_parameters, step_in_runs
from verdigris.core.base.errors import NothingLearntError
from verdigris.core.pictures.compare.verdict import INDISTINGUISHABLE, reaches
from verdigris.core.progress import Event, Metrics, Step, Warning

if TYPE_CHECKING:
    from verdigris.core.baking.state.run import Run
    from verdigris.core.pictures.compare.metrics import SampleMetrics

# The losses of this last part of a start's steps count.
_JUDGED_SHARE = 0.25
# Far enough apart that bakes with neighbouring seeds have different starts.
_SEED_STEP = 7919
# Interval of checks, as a part of the last stage's steps.
_INTERVAL = 1 / 16
# Before this part of the steps, rates are too high for an indistinguishable result.
_FIRST_CHECK = 0.4
_GOOD_CHECKS = 2
# Two checks take a GPU as long as this many steps.
_STEPS_OF_CHECKS = 10_000


def choose_start(run: Run) -> Iterator[Event]:
    """Leaves the best start in the trainer. Continues the run's comparison if there is one."""
    learner, settings = run.learner, run.learner.stage.settings
    choice = run.start_choice = run.start_choice or StartChoice()
    while choice.number < settings.starts and not run.control.stop_requested:
        yield from _train_start(run, choice)
        has_ended = learner.trainer.step == settings.start_steps
        if choice.best is not None and not has_ended:
            break
        if choice.best is None or choice.loss < choice.best.loss:
            choice.best = BestStart(
                choice.loss, learner.trainer.parameters(), learner.trainer.state()
            )
        choice.number, choice.loss = choice.number + 1, 0.0
        # the first picture of a bake, after a second or two
        yield from run.preview()
        if choice.number < settings.starts and has_ended:
            seed = settings.seed + _SEED_STEP * choice.number
            index = learner.source.index_below
            fresh = fresh_parameters(learner.stage, run.teachers, seed, index)
            learner.trainer.restart(fresh)
            if run.control.stop_requested:
                yield from save_checkpoint(run)
    if choice.best is not None:
        learner.trainer.restore(choice.best.parameters, choice.best.state)
    run.start_choice, run.has_untried_starts = None, choice.number < settings.starts


def _train_start(run: Run, choice: StartChoice) -> Iterator[Event]:
    """Trains the present start for its share of the steps."""
    trainer, share = run.learner.trainer, run.learner.stage.settings.start_steps
    total = run.settings.iterations + (run.settings.starts - 1) * share
    unjudged = share - max(1, int(share * _JUDGED_SHARE))
    first = step_in_runs(run, max(0, unjudged - trainer.step))
    judged = step_in_runs(run, share - max(unjudged, trainer.step))
    for steps, report, seconds in chain(first, judged):
        if trainer.step > unjudged:
            choice.loss += report.loss * steps if np.isfinite(report.loss) else float("inf")
        done = run.reported_step
        rate = report.samples / seconds
        left = (total - done) * seconds / steps
        yield Step(done, total, report.loss, rate, run.clock.seconds, left)
        if run.clock.checkpoints.is_due:
            with run.clock.checkpoints.taken():
                written = [*save_checkpoint(run)]
            yield from written
    if 0 < trainer.step < share:
        # the bake was stopped: a resumed one compares the other starts
        yield from save_checkpoint(run)


def train_to(run: Run, end: int) -> Iterator[Event]:
    """Trains up to a step of the stage, or until the bake is requested to stop."""
    settings, options, clock = run.settings, run.options, run.clock
    trainer = run.learner.trainer
    for steps, report, seconds in step_in_runs(run, end - trainer.step, guarded=True):
        left = (settings.iterations - run.step) * seconds / steps
        rate = report.samples / seconds
        yield Step(run.step, settings.iterations, report.loss, rate, clock.seconds, left)
        if not run.rounding:
            clock.watch.add(report.loss, steps)
        if report.skipped:
            yield from skipped_steps(clock.skipped, clock.skipped + report.skipped)
            clock.skipped += report.skipped
        if returned := run.guard.watch(trainer, report.loss, steps):
            yield Warning(returned)
        if clock.metrics.is_due:
            with clock.metrics.taken():
                found = run.measure()
            yield found
        if options.preview_seconds is not None and clock.previews.is_due:
            with clock.previews.taken():
                pictures = [*run.preview()]
            yield from pictures
        if clock.checkpoints.is_due:
            with clock.checkpoints.taken():
                written = [*save_checkpoint(run)]
            yield from written
    if trainer.step < end:
        if not run.step:
            raise NothingLearntError(
                "the bake was stopped before its first step: nothing was learnt or written"
            )
        # a checkpoint that was written while starts were compared stays: it tries the others
        if run.saved.trainer_step != run.step and not run.has_untried_starts:
            yield from save_checkpoint(run)
        clock.stopped_by = "request"


def train_checked(run: Run, end: int) -> Generator[Event, None, bool]:
    """Trains up to a step. Ends earlier, and returns True, if the result is good enough."""
    steps, has_target = run.learner.stage.settings.iterations, run.options.has_target
    for step in check_steps(steps, end, has_target) if has_checks(run) else ():
        # a checkpoint may have been written at this step, before the check
        if step < run.learner.trainer.step or step <= run.checked_step:
            continue
        yield from train_to(run, step)
        if run.clock.stopped_by:
            return False
        run.checked_step = step
        found = run.learner.measure_live(run.held_out)
        yield Metrics(run.step, found)
        if is_good_enough(run, found):
            return True
    yield from train_to(run, end)
    return False


def check_steps(steps: int, end: int, has_target: bool) -> Iterator[int]:
    """The steps of a stage below `end` after which quality is checked. A target may be reached at
    any time."""
    interval = max(1, round(_INTERVAL * steps))
    first = 0 if has_target else _FIRST_CHECK * steps
    yield from (step for step in range(interval, end, interval) if step >= first)


def has_checks(run: Run) -> bool:
    """Whether the last stage is checked: a short one ends before checks pay."""
    is_short = run.learner.stage.settings.iterations <= _STEPS_OF_CHECKS
    return run.options.has_target or run.trainer_kind != "tensor" or not is_short


def is_good_enough(run: Run, samples: tuple[SampleMetrics, ...]) -> bool:
    """Whether enough checks in a row have reached the target error, or without one the target: by
    default a result that is indistinguishable from its material."""
    error, target = run.options.target_error, run.options.target or INDISTINGUISHABLE
    if error is not None:
        is_good = sum(each.log_mae for each in samples) <= error * len(samples)
    else:
        found = [{"samples": vars(each), "sky": {"bias": each.bias}} for each in samples]
        is_good = all(reaches(target, each) for each in found) and _look_good(run, target)
    run.good_checks = run.good_checks + 1 if is_good else 0
    return run.good_checks >= _GOOD_CHECKS


def skip_to_last_phase(run: Run, step: int) -> None:
    """Continues at a later step of the stage."""
    trainer = run.learner.trainer
    run.stopped_early_by = QUALITY if run.options.target_error is None else TARGET_ERROR
    run.steps_saved = step - trainer.step
    trainer.restore(trainer.parameters(), {**trainer.state(), "step": np.array(step)})


def _look_good(run: Run, target: str) -> bool:
    """Whether pictures of all materials reach the target."""
    student, view = run.learner.live_student(), sphere_to_compare()
    try:
        for student.material, teacher in enumerate(run.teachers):
            if not reaches(target, {"sphere": vars(measure_pictures(teacher, student, view))}):
                return False
        return True
    finally:
        student.material = 0
