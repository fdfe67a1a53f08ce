"""Opens trainers, and trains in short runs of steps."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.baking.state.options import BakeOptions
from verdigris.core.baking.state.run import Run
from verdigris.core.baking.state.stages import Stage
from verdigris.core.baking.state.trainers import open_trainer
from verdigris.core.base.process.profile import profiled
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import Parameters, initialise
from verdigris.core.sampling.draw_samples import DrawnSamples

if TYPE_CHECKING:
    from verdigris.core.training.trainer import StepReport, Trainer

# Steps of a run before their duration is known.
FIRST_RUN = 20


def fresh_parameters(stage: Stage, teachers: Sequence[Teacher], seed: int) -> Parameters:
    """Live inputs have the first material's values where an evaluation is given none."""
    fresh = initialise(stage.settings.spec, stage.layout(len(teachers)), seed)
    return replace(fresh, live=teachers[0].live)


@profiled("open trainer")
def open_start(
    teachers: Sequence[Teacher], stage: Stage, options: BakeOptions, kind: str
) -> tuple[Trainer, DrawnSamples]:
    """A trainer of the first start, and the samples of all starts."""
    parameters = fresh_parameters(stage, teachers, stage.settings.seed)
    return open_with_parameters(teachers, stage, options, kind, parameters)


def open_with_parameters(
    teachers: Sequence[Teacher],
    stage: Stage,
    options: BakeOptions,
    kind: str,
    parameters: Parameters,
) -> tuple[Trainer, DrawnSamples]:
    settings = stage.settings
    source = DrawnSamples(
        teachers, parameters.layout, settings.seed, settings.draw, options.importance
    )
    trainer = open_trainer(kind, parameters, source, stage.training(), teachers[0].device)
    return trainer, source


def step_in_runs(run: Run, steps: int) -> Iterator[tuple[int, StepReport, float]]:
    """Trains so many steps in short runs, so that the caller can act between them; yields steps,
    report and seconds of each. Ends early if the bake is requested to stop."""
    trainer = run.learner.trainer
    size, end = FIRST_RUN, trainer.step + steps
    while trainer.step < end and not run.control.stop_requested:
        run.take_importance()
        count = min(size, end - trainer.step)
        begun = time.monotonic()
        report = trainer.step_many(count)
        seconds = max(time.monotonic() - begun, 1e-9)
        run.clock.loss = report.loss
        size = max(1, min(4 * size, int(count * run.options.run_seconds / seconds) or 1))
        yield count, report, seconds
