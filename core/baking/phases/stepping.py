"""Opens a start of a bake, and does its steps a moment's worth at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from verdigris.core.baking.phases.trainers import open_trainer
from verdigris.core.baking.state.options import BakeOptions
from verdigris.core.baking.state.run import Run
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import Parameters, initialise
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.training.protocols import SideBySide

if TYPE_CHECKING:
    from verdigris.core.training.protocols import StepReport, Trainer

# Steps that are done before it is known how long they take.
FIRST_RUN = 20
# Far enough apart that neighbouring seeds of bakes try different starts.
_SEED_STEP = 7919


def fresh_parameters(settings: BakeSettings, materials: int, seed: int) -> Parameters:
    """What a start begins with."""
    return initialise(settings.spec, settings.layout(materials), seed)


def open_start(
    teachers: Sequence[Teacher],
    settings: BakeSettings,
    options: BakeOptions,
    kind: str,
    seed: int,
) -> tuple[Trainer, DrawnSamples]:
    """A trainer with fresh parameters; its samples are those of every start of the bake."""
    parameters = fresh_parameters(settings, len(teachers), seed)
    return open_trained(teachers, settings, options, kind, parameters)


def open_trained(
    teachers: Sequence[Teacher],
    settings: BakeSettings,
    options: BakeOptions,
    kind: str,
    parameters: Parameters,
) -> tuple[Trainer, DrawnSamples]:
    """A trainer that begins with these parameters."""
    layout = parameters.layout
    source = DrawnSamples(
        teachers,
        layout,
        settings.seed,
        settings.sampling,
        options.importance,
        settings.horizon_step,
    )
    device = teachers[0].device
    trainer = open_trainer(
        kind, parameters, source, settings.training(), device, settings.most_abreast
    )
    return trainer, source


def begin_starts(trainer: Trainer, settings: BakeSettings, materials: int, first: int) -> int:
    """Begins a start, with those that train beside it; tells how many."""
    most = trainer.most_tracks if isinstance(trainer, SideBySide) else 1
    seeds = range(first, min(first + most, settings.candidates))
    starts = [
        fresh_parameters(settings, materials, settings.seed + _SEED_STEP * seed) for seed in seeds
    ]
    trainer.restart(*starts)
    return len(starts)


def in_runs(run: Run, steps: int) -> Iterator[tuple[int, StepReport, float]]:
    """Does some steps, a moment's worth at a time, so that whoever drives the bake can act: how
    many, what they did, how long they took. Ends early if the bake is asked to stop."""
    size, end = FIRST_RUN, run.trainer.step + steps
    while run.trainer.step < end and not run.control.stop_requested:
        run.take_importance()
        count = min(size, end - run.trainer.step)
        begun = time.monotonic()
        report = run.trainer.step_many(count)
        took = max(time.monotonic() - begun, 1e-9)
        run.loss = report.loss
        size = max(1, min(4 * size, int(count * run.options.run_seconds / took) or 1))
        yield count, report, took
