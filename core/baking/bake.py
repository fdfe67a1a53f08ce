"""The bake: fits one student to the materials of a scene and reports its progress.

A bake is a generator of events. It can be closed at any point: its memory is freed, and the last
checkpoint stays. It knows no command line, no panel and no process.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence

from verdigris.core.baking.finish.finish import finish, keep_first
from verdigris.core.baking.finish.heads import fitting_heads
from verdigris.core.baking.finish.notices import (
    kept_heights,
    notices,
    risen_loss,
    unlearnt_places,
    varying_maps,
    wasted_steps,
)
from verdigris.core.baking.finish.store import measure_before_rounding, report_rounding
from verdigris.core.baking.phases.choose_size import choice_step, choose_size, fit_bytes
from verdigris.core.baking.phases.enlarge import enlarge
from verdigris.core.baking.phases.open_run import opened_run
from verdigris.core.baking.phases.train import (
    choose_start,
    skip_to_last_phase,
    train_checked,
    train_to,
)
from verdigris.core.baking.state.options import BakeControl, BakeOptions
from verdigris.core.baking.state.resume import SavedState, claim_name, other_weights, restore
from verdigris.core.baking.state.run import Run
from verdigris.core.baking.state.trainers import report_events
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.progress import (
    ENCODING,
    MEASURING,
    ROUNDING,
    SMALL_TEXTURE,
    STARTS,
    TRAINING,
    Event,
    Phase,
    Started,
)
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import Recipe

__all__ = ["BakeControl", "BakeOptions", "bake"]

PHASES = (STARTS, TRAINING, ROUNDING, MEASURING)
PHASES_OF_TWO_STAGES = (STARTS, SMALL_TEXTURE, ENCODING, TRAINING, ROUNDING, MEASURING)


def bake(
    teachers: Sequence[Teacher],
    settings: BakeSettings | Recipe,
    options: BakeOptions,
    control: BakeControl | None = None,
) -> Generator[Event, None, None]:
    """Trains one decoder, and a latent texture for each teacher. The results are bundles. A recipe
    has settings for each kind of material; plain settings apply to every kind."""
    with opened_run(teachers, settings, options, control or BakeControl()) as (run, saved):
        told = saved is not None and saved.has_other_weights
        weights = other_weights(run, options.importance) if told else ()
        yield from report_events(run, _bake(run, saved, weights))


def _bake(
    run: Run, saved: SavedState | None, weights: Iterable[Event]
) -> Generator[Event, None, None]:
    """The phases in their order. `weights`: a line on the weights of a resumed bake."""
    if saved:
        restore(run, saved)
    yield _started(run)
    yield from claim_name(run, saved)
    yield from weights
    for teacher, name in zip(run.teachers, run.names, strict=True):
        yield from notices(teacher, name)
    yield from unlearnt_places(run.options.importance)
    run.draw_held_out()
    run.clock.started = time.monotonic()
    if run.start_choice or (saved is None and run.settings.starts > 1):
        yield _phase(run, STARTS)
        yield from choose_start(run)
    if not run.learner.stage.is_last:
        yield from _train_small(run)
    yield from _train(run)
    run.clock.ended = time.monotonic()
    yield _phase(run, MEASURING)
    if run.clock.stopped_by == "request":
        yield from _keep_if_stopped(run)
    yield from wasted_steps(run.clock.skipped, run.step - run.steps_saved)
    yield from risen_loss(run.clock.watch)
    with fitting_heads(run) as heads:
        decoders = yield from report_rounding(run)
        for teacher, name in zip(run.teachers, run.names, strict=True):
            yield from varying_maps(teacher, name)
            yield from kept_heights(teacher, name)
        yield from finish(run, decoders, heads)


def _train_small(run: Run) -> Iterator[Event]:
    """Trains the small texture, and encodes the large one. A bake that is stopped meanwhile still
    gets its full resolution."""
    yield from run.preview()
    yield _phase(run, SMALL_TEXTURE)
    yield from train_to(run, run.learner.stage.settings.iterations)
    yield from _keep_if_stopped(run)
    yield _phase(run, ENCODING)
    for event in enlarge(run):
        yield event
        yield from _keep_if_stopped(run)


def _train(run: Run) -> Iterator[Event]:
    """Trains the last stage until it is good enough or its last phase is due, then that phase."""
    settings, clock = run.learner.stage.settings, run.clock
    yield from run.preview()
    if run.learner.trainer.step < settings.last_phase_step:
        yield _phase(run, TRAINING)
        yield from _train_until_good(run)
    if run.may_choose_size:
        fit_bytes(run)
    if run.learner.trainer.step < settings.iterations and not clock.stopped_by:
        if settings.training().quantisation:
            if not run.rounding:
                measure_before_rounding(run)
            yield _phase(run, ROUNDING)
        # a measurement rounds all latents, which takes longer than a short phase
        clock.metrics.restart()
        yield from train_to(run, settings.iterations)
    if not clock.stopped_by and run.has_untried_starts:
        # the checkpoint was written while starts were compared: a resumed bake tries the others
        clock.stopped_by = "request"
    if not clock.stopped_by:
        whole = "time limit" if run.is_limited else "steps"
        clock.stopped_by = run.stopped_early_by or whole


def _train_until_good(run: Run) -> Iterator[Event]:
    """Trains up to the last phase, and chooses the size on the way. Skips to the last phase as soon
    as the result is good enough."""
    settings, clock, is_good = run.learner.stage.settings, run.clock, False
    end = settings.last_phase_step
    if run.may_choose_size:
        is_good = yield from train_checked(run, min(end, choice_step(settings)))
        if not clock.stopped_by:
            yield from choose_size(run)
    if not is_good and not clock.stopped_by:
        is_good = yield from train_checked(run, end)
    if is_good and not clock.stopped_by:
        skip_to_last_phase(run, end)


def _keep_if_stopped(run: Run) -> Iterator[Event]:
    """Writes the present state of a bake that was stopped, before the work that takes longer."""
    if run.must_keep_first:
        yield from keep_first(run)


def _phase(run: Run, name: str) -> Phase:
    names = PHASES_OF_TWO_STAGES if run.settings.has_two_stages else PHASES
    return Phase(name, names.index(name) + 1, len(names))


def _started(run: Run) -> Started:
    settings = run.settings
    return Started(
        materials=run.names,
        device=str(run.teachers[0].device),
        trainer=run.trainer_kind,
        network=settings.network,
        resolution=settings.resolution,
        steps=settings.iterations,
        step=run.reported_step,
    )
