"""Compares starts: trains each for a while, and continues with the one of the lowest loss."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from verdigris.core.baking.phases.stepping import fresh_parameters, step_in_runs
from verdigris.core.baking.state.resume import save_checkpoint
from verdigris.core.baking.state.run import Run
from verdigris.core.baking.state.start_choice import BestStart, StartChoice
from verdigris.core.progress import Event, Step

# The last part of a start's steps, whose losses count.
_JUDGED_SHARE = 0.25
# Far enough apart that bakes with neighbouring seeds have different starts.
_SEED_STEP = 7919


def choose_start(run: Run) -> Iterator[Event]:
    """Leaves the best start in the trainer. Continues with the run's choice if there is one."""
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
            learner.trainer.restart(fresh_parameters(learner.stage, run.teachers, seed))
            if run.control.stop_requested:
                yield from save_checkpoint(run)
    if choice.best is not None:
        learner.trainer.restore(choice.best.parameters, choice.best.state)
    run.start_choice, run.has_untried_starts = None, choice.number < settings.starts


def _train_start(run: Run, choice: StartChoice) -> Iterator[Event]:
    """Trains the present start to the end of its share."""
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
