"""Tries a few starts for a while, and goes on with the one whose loss is lowest; or trains each to
its end, and keeps the one whose pictures are nearest to the material's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from verdigris.core.baking.phases.picture_error import PictureJudge
from verdigris.core.baking.phases.stepping import begin_starts, in_runs
from verdigris.core.baking.state.resume import keep_state
from verdigris.core.baking.state.run import Run
from verdigris.core.baking.state.trial import Best, Trial
from verdigris.core.progress.events import Event, Step
from verdigris.core.progress.pace import Pace
from verdigris.core.training.protocols import SideBySide

# The last part of a start's steps, whose losses count.
_JUDGED = 0.25


def choose_candidate(run: Run) -> Iterator[Event]:
    """Leaves the best start in the run's trainer; goes on with the run's trial if there is one."""
    settings, share = run.settings, run.stage.settings.candidate_steps
    trial = run.trial = run.trial or Trial()
    done = trial.number * share
    judge = PictureJudge(run.teachers) if settings.has_whole_candidates else None
    if isinstance(run.trainer, SideBySide) and not run.trainer.step:
        _begin(run, trial)
    while trial.number < settings.candidates and not run.control.stop_requested:
        yield from _try(run, trial)
        done = run.told_step
        has_ended = run.trainer.step == share
        if trial.best is not None and not has_ended:
            break
        _choose(run, trial, judge, has_ended)
        # the first of a bake comes after a second or two
        yield from run.preview()
        if judge and has_ended:
            found = replace(run.measure(), step=done)
            yield found
            if run.is_good_enough(found):
                run.stopped_by = "target error"
                break
        if trial.number < settings.candidates and has_ended:
            _begin(run, trial)
            if run.control.stop_requested:
                yield from keep_state(run)
    if trial.best is not None:
        run.trainer.restore(trial.best.parameters, trial.best.state)
    run.trial, run.has_untried_starts = None, trial.number < settings.candidates
    if judge:
        run.steps_of_others = done - run.trainer.step


def _begin(run: Run, trial: Trial) -> None:
    settings = run.stage.settings
    count = begin_starts(run.trainer, settings, len(run.teachers), trial.number)
    trial.losses = [0.0] * count


def _choose(run: Run, trial: Trial, judge: PictureJudge | None, has_ended: bool) -> None:
    """Keeps the best of those that were tried, and has the trainer tell of the best of these. Of
    starts that were cut off that is the first, with which a checkpoint goes on."""
    losses = trial.losses if has_ended else trial.losses[:1]
    if judge and has_ended:
        losses = []
        for track in range(trial.abreast):
            _tell_of(run, track)
            losses.append(judge.error(run))
    best = int(np.argmin(losses))
    _tell_of(run, best)
    if trial.best is None or losses[best] < trial.best.loss:
        trial.best = Best(losses[best], run.trainer.parameters(), run.trainer.state())
    trial.number, trial.losses = trial.number + len(losses), [0.0]


def _tell_of(run: Run, track: int) -> None:
    if isinstance(run.trainer, SideBySide):
        run.trainer.tell_of(track)


def _try(run: Run, trial: Trial) -> Iterator[Event]:
    """Trains the present start to the end of its share."""
    share = run.stage.settings.candidate_steps
    total = run.settings.iterations + (run.settings.candidates - 1) * share
    unjudged = share - max(1, int(share * _JUDGED))
    checkpoints = Pace(run.options.checkpoint_seconds)
    warm_up = in_runs(run, max(0, unjudged - run.trainer.step))
    judged = in_runs(run, share - max(unjudged, run.trainer.step))
    # as soon as if the first trained alone
    shown_at = share // trial.abreast if trial.number == 0 and trial.abreast > 1 else share
    for steps, report, took in chain(warm_up, judged):
        if run.trainer.step > unjudged:
            for track, loss in enumerate(report.losses or (report.loss,)):
                trial.losses[track] += loss * steps if np.isfinite(loss) else float("inf")
        done = run.told_step
        rate = report.samples / took
        rest = (total - done) * took / (steps * trial.abreast)
        yield Step(done, total, report.loss, rate, run.seconds, rest)
        if run.trainer.step - steps < shown_at <= run.trainer.step < share:
            yield from run.preview()
        if checkpoints.is_due:
            with checkpoints.taken():
                written = [*keep_state(run)]
            yield from written
    if 0 < run.trainer.step < share:
        # asked to stop: what goes on from here tries the rest
        yield from keep_state(run)
