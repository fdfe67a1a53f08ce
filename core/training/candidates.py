"""Tries a few starts for a while, and goes on with the one whose loss is lowest; or trains each to
its end, and keeps the one whose pictures are nearest to the material's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from verdigris.core.training.events import Event, Step
from verdigris.core.training.pace import Pace
from verdigris.core.training.picture_error import PictureJudge
from verdigris.core.training.resume import keep_state
from verdigris.core.training.run import Run
from verdigris.core.training.stepping import fresh_parameters, in_runs
from verdigris.core.training.trial import Best, Trial

# The last part of a start's steps, whose losses count.
_JUDGED = 0.25
# Far enough apart that neighbouring seeds of bakes try different starts.
_SEED_STEP = 7919


def choose_candidate(run: Run) -> Iterator[Event]:
    """Leaves the best start in the run's trainer; goes on with the run's trial if there is one."""
    settings, share = run.settings, run.stage.settings.candidate_steps
    trial = run.trial = run.trial or Trial()
    done = trial.number * share
    judge = PictureJudge(run.teachers) if settings.has_whole_candidates else None
    while trial.number < settings.candidates and not run.control.stop_requested:
        yield from _try(run, trial)
        done = run.told_step
        has_ended = run.trainer.step == share
        if trial.best is not None and not has_ended:
            break
        if judge and has_ended:
            trial.loss = judge.error(run)
        if trial.best is None or trial.loss < trial.best.loss:
            trial.best = Best(trial.loss, run.trainer.parameters(), run.trainer.state())
        trial.number, trial.loss = trial.number + 1, 0.0
        # the first of a bake comes after a second or two
        yield from run.preview()
        if judge and has_ended:
            found = replace(run.measure(), step=done)
            yield found
            if run.is_good_enough(found):
                run.stopped_by = "target error"
                break
        if trial.number < settings.candidates and has_ended:
            _begin_next(run, trial.number)
            if run.control.stop_requested:
                yield from keep_state(run)
    if trial.best is not None:
        run.trainer.restore(trial.best.parameters, trial.best.state)
    run.trial, run.has_untried_starts = None, trial.number < settings.candidates
    if judge:
        run.steps_of_others = done - run.trainer.step


def _begin_next(run: Run, number: int) -> None:
    seed = run.settings.seed + _SEED_STEP * number
    run.trainer.restart(fresh_parameters(run.stage.settings, len(run.teachers), seed))


def _try(run: Run, trial: Trial) -> Iterator[Event]:
    """Trains the present start to the end of its share."""
    share = run.stage.settings.candidate_steps
    total = run.settings.iterations + (run.settings.candidates - 1) * share
    unjudged = share - max(1, int(share * _JUDGED))
    checkpoints = Pace(run.options.checkpoint_seconds)
    warm_up = in_runs(run, max(0, unjudged - run.trainer.step))
    judged = in_runs(run, share - max(unjudged, run.trainer.step))
    for steps, report, took in chain(warm_up, judged):
        if run.trainer.step > unjudged:
            trial.loss += report.loss * steps if np.isfinite(report.loss) else float("inf")
        done = run.told_step
        rate, rest = report.samples / took, (total - done) * took / steps
        yield Step(done, total, report.loss, rate, run.seconds, rest)
        if checkpoints.is_due:
            with checkpoints.taken():
                written = [*keep_state(run)]
            yield from written
    if 0 < run.trainer.step < share:
        # asked to stop: what goes on from here tries the rest
        yield from keep_state(run)
