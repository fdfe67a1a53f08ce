"""The bake: fits one student to the materials of a scene and tells how it goes.

A bake is a generator of events. It can be closed at any point: what it holds is freed, and the last
checkpoint stays. It knows no command line, no panel and no process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from operator import itemgetter
from typing import TypeVar

from verdigris.core.baking.finish.finish import (
    bundle_paths,
    check_names,
    check_paths,
    check_textures,
    document_facts,
    finish,
)
from verdigris.core.baking.finish.notices import (
    notices,
    risen_loss,
    skipped_steps,
    unique_names,
    unlearnt_places,
    varying_maps,
    wasted_steps,
)
from verdigris.core.baking.measure.fitted import with_places, with_texels
from verdigris.core.baking.measure.measure import draw_held_out, texel_footprint
from verdigris.core.baking.measure.memory import check_memory
from verdigris.core.baking.phases.candidates import choose_candidate
from verdigris.core.baking.phases.coarse_levels import average_levels
from verdigris.core.baking.phases.error_weights import draw_by_errors
from verdigris.core.baking.phases.growth import grow, seconds_to_encode
from verdigris.core.baking.phases.mending import mend
from verdigris.core.baking.phases.stepping import FIRST_RUN, begin_starts, in_runs, open_start
from verdigris.core.baking.phases.trainers import choose_trainer
from verdigris.core.baking.state.checkpoint import clear_leftovers, state_path
from verdigris.core.baking.state.options import BakeControl, BakeOptions, made_for_result
from verdigris.core.baking.state.resume import (
    SavedState,
    find_state,
    keep_state,
    restore,
    take_name,
)
from verdigris.core.baking.state.rounding import note_error_before, tell_cost
from verdigris.core.baking.state.run import Run
from verdigris.core.baking.state.stages import stages_of
from verdigris.core.base.errors import DeviceError, NothingLearntError, SettingsError
from verdigris.core.base.lock import locked
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.progress.events import (
    ENCODING,
    ROUNDING,
    SMALL_TEXTURE,
    Event,
    Phase,
    Started,
    Step,
)
from verdigris.core.progress.pace import Pace
from verdigris.core.settings.bake_settings import BakeSettings

__all__ = ["BakeControl", "BakeOptions", "bake"]

T = TypeVar("T")

# Those that a bake does not need are left out, and but for large textures the two in the middle.
_PHASES = ("candidates", "training", ROUNDING, "measuring")
_PHASES_OF_LARGE = ("candidates", SMALL_TEXTURE, ENCODING, "training", ROUNDING, "measuring")
# Held-out samples that a running bake is measured on; software devices take a fraction of them.
_QUICK_SAMPLES, _QUICK_SAMPLES_ON_SOFTWARE = 1 << 15, 1 << 13
_CALIBRATION_SECONDS = 1.0
# Of a time limit, that encoding may take: what it leaves teaches more than all of it without.
_MOST_OF_LIMIT = 0.75


def bake(
    teachers: Sequence[Teacher],
    settings: BakeSettings,
    options: BakeOptions,
    control: BakeControl | None = None,
) -> Generator[Event, None, None]:
    """Trains one decoder, and a latent texture for each teacher; the results are bundles."""
    control = control or BakeControl()
    if not teachers:
        raise SettingsError("there is nothing to bake: name at least one material")
    kind = options.trainer or choose_trainer(teachers[0].device)
    settings = with_texels(teachers, settings)
    check_memory(teachers[0].device, settings, len(teachers), kind)
    paths = bundle_paths(options, teachers)
    check_names(paths, teachers)
    with ExitStack() as locks:
        locks.enter_context(made_for_result(options.folder))
        for name in sorted({options.name, *(path.stem for path in paths)}):
            locks.enter_context(locked(options.folder, name))
        check_paths(paths, state_path(options.folder, options.name))
        if options.viewport_textures:
            check_textures(paths, teachers)
        clear_leftovers(options.folder, options.name)
        saved = find_state(teachers, settings, options, kind)
        if saved:
            found = saved.settings
            wanted = settings.with_places(found.draw.finest_places, found.is_crowded)
            settings = found
        else:
            wanted = with_places(teachers, settings)
            if wanted.batch != settings.batch:
                check_memory(teachers[0].device, wanted, len(teachers), kind)
            settings = wanted
            if options.time_limit:
                settings = _fit_to_time(teachers, settings, options, kind)
        stage = saved.stage if saved else stages_of(settings)[0]
        trainer, source = open_start(teachers, stage.settings, options, kind, settings.seed)
        names = unique_names([teacher.material.name for teacher in teachers])
        run = Run(
            teachers=teachers,
            settings=settings,
            options=options,
            control=control,
            trainer_kind=kind,
            trainer=trainer,
            source=source,
            names=names,
            held_out=[],
            stage=stage,
        )
        run.wanted_steps = wanted.iterations
        run.note_sources()
        run.documents = [document_facts(teacher) for teacher in teachers]
        if control.watch:
            control.watch(run)
        events = _bake_and_tell(run, saved)
        try:
            # what a caller throws in is raised here, and is none of the device's failures
            while event := _ask_device(run, lambda: next(events, None)):
                yield event
        finally:
            events.close()
            _ask_device(run, lambda: run.trainer.close())


def _ask_device(run: Run, do: Callable[[], T]) -> T:
    """What comes of it; where the device fails, an error that says how to go on."""
    try:
        return do()
    except (RecursionError, NotImplementedError):
        # faults of ours, which are RuntimeErrors by kin
        raise
    except DeviceError as failure:
        if run.checkpoint_step is None:
            raise
        raise _device_failed(run, failure.__cause__ or failure) from failure
    except RuntimeError as failure:
        raise _device_failed(run, failure) from failure


def _bake_and_tell(run: Run, saved: SavedState | None) -> Generator[Event, None, None]:
    settings = run.settings
    if saved:
        restore(run, saved)
    yield _started(run)
    yield from take_name(run, saved)
    for teacher, name in zip(run.teachers, run.names, strict=True):
        yield from notices(teacher, name)
    yield from unlearnt_places(run.options.importance)
    footprint = texel_footprint(settings.resolution)
    is_software = run.teachers[0].device.is_software
    quick_samples = _QUICK_SAMPLES_ON_SOFTWARE if is_software else _QUICK_SAMPLES
    run.held_out = [
        draw_held_out(teacher, quick_samples, footprint=footprint) for teacher in run.teachers
    ]
    run.started = time.monotonic()
    if run.trial or (saved is None and settings.candidates > 1):
        yield _phase(run, "training" if settings.has_whole_candidates else "candidates")
        yield from choose_candidate(run)
    if not run.stage.is_last:
        yield from _train_small(run)
    yield from _train(run)
    run.ended = time.monotonic()
    yield _phase(run, "measuring")
    yield from wasted_steps(run.skipped, run.step)
    yield from risen_loss(run.watch)
    yield from tell_cost(run)
    for teacher, name in zip(run.teachers, run.names, strict=True):
        yield from varying_maps(teacher, name)
    yield from finish(run)


def _phase(run: Run, name: str) -> Phase:
    names = _PHASES_OF_LARGE if run.settings.is_encoded else _PHASES
    return Phase(name, names.index(name) + 1, len(names))


def _device_failed(run: Run, failure: BaseException) -> DeviceError:
    step = run.checkpoint_step
    remedy = (
        "no checkpoint was written yet: start the bake again"
        if step is None
        else f"the checkpoint at step {step} is whole: start again with --resume to go on from it"
    )
    return DeviceError(
        f"{run.teachers[0].device}: was lost or failed at step {run.told_step} ({failure}); "
        f"{remedy}, or choose another --device"
    )


def _started(run: Run) -> Started:
    settings = run.settings
    return Started(
        materials=run.names,
        device=str(run.teachers[0].device),
        trainer=run.trainer_kind,
        network=settings.network,
        resolution=settings.resolution,
        steps=settings.iterations,
        step=run.told_step,
    )


def _fit_to_time(
    teachers: Sequence[Teacher], settings: BakeSettings, options: BakeOptions, kind: str
) -> BakeSettings:
    """As many steps as the time allows, so that the rates fall to their end within it."""
    assert options.time_limit is not None
    encoding = seconds_to_encode(teachers, settings)
    if encoding > _MOST_OF_LIMIT * options.time_limit:
        settings, encoding = replace(settings, encode_from=0), 0.0
    trainer, _ = open_start(teachers, settings, options, kind, settings.seed)
    try:
        if settings.has_whole_candidates:
            begin_starts(trainer, settings, len(teachers), 0)
        trainer.step_many(FIRST_RUN)
        begun, steps = time.monotonic(), 0
        while time.monotonic() - begun < min(_CALIBRATION_SECONDS, options.time_limit / 10):
            steps += trainer.step_many(FIRST_RUN).samples // settings.batch
        rate = steps / (time.monotonic() - begun)
    finally:
        trainer.close()
    steps = int(rate * (options.time_limit - encoding) / (1 + settings.share_in_vain))
    return replace(settings, iterations=max(1, min(settings.iterations, steps)))


def _train_small(run: Run) -> Iterator[Event]:
    """Trains the texture that the large one is made of; a bake that is asked to stop in it still
    has the size that it was meant to have."""
    yield from run.preview()
    yield _phase(run, SMALL_TEXTURE)
    yield from _train_to(run, run.stage.settings.iterations)
    yield _phase(run, ENCODING)
    yield from grow(run)


def _train(run: Run) -> Iterator[Event]:
    settings, step = run.stage.settings, run.trainer.step
    phase = settings.training().quantisation
    first_rounded = phase.first_step if phase else settings.iterations
    yield from run.preview()
    if step < first_rounded or (phase is None and step < settings.iterations):
        yield _phase(run, "training")
        yield from _train_and_mend(run, first_rounded)
    if phase and step < settings.iterations and not run.stopped_by:
        if not run.rounding:
            note_error_before(run)
        yield _phase(run, ROUNDING)
        yield from _train_to(run, settings.iterations)
    if not run.stopped_by and run.has_untried_starts:
        # what was kept while they were tried goes on with the others
        run.stopped_by = "request"
    if not run.stopped_by:
        run.stopped_by = "time limit" if run.is_limited else "steps"


def _train_and_mend(run: Run, end: int) -> Iterator[Event]:
    """Trains up to a step. At those that the settings say it replaces stray texels and poor levels,
    and looks where errors are, unless time is short; a checkpoint of such a step is always from
    before."""
    settings = run.stage.settings
    repairs: list[tuple[float, Callable[[Run], object]]]
    repairs = [(share, mend) for share in settings.mended_at]
    repairs += [(share, draw_by_errors) for share in settings.errors_drawn_at]
    if settings.average_at:
        repairs.append((settings.average_at, average_levels))
    for share, repair in () if run.is_limited else sorted(repairs, key=itemgetter(0)):
        step = round(share * settings.iterations)
        if run.trainer.step <= step < end:
            yield from _train_to(run, step)
            if run.stopped_by:
                return
            if run.control.stop_requested:
                # whoever resumes begins with the repair
                break
            repair(run)
    yield from _train_to(run, end)


def _train_to(run: Run, end: int) -> Iterator[Event]:
    """Trains up to a step of the stage, or until something ends the bake sooner."""
    settings, options = run.settings, run.options
    metrics, checkpoints = Pace(options.metrics_seconds), Pace(options.checkpoint_seconds)
    previews = Pace(options.preview_seconds or 0.0)
    for steps, report, took in in_runs(run, end - run.trainer.step):
        left = (settings.iterations - run.step) * took / steps
        rate = report.samples / took
        yield Step(run.step, settings.iterations, report.loss, rate, run.seconds, left)
        if not run.rounding:
            run.watch.add(report.loss, steps)
        if report.skipped:
            yield from skipped_steps(run.skipped, run.skipped + report.skipped)
            run.skipped += report.skipped
        if metrics.is_due:
            with metrics.taken():
                found = run.measure()
            yield found
            if run.is_good_enough(found):
                # a small texture that is good enough is followed by the large one
                if run.stage.is_last:
                    run.stopped_by = "target error"
                return
        if options.preview_seconds is not None and previews.is_due:
            with previews.taken():
                pictures = [*run.preview()]
            yield from pictures
        if checkpoints.is_due:
            with checkpoints.taken():
                written = [*keep_state(run)]
            yield from written
    if run.trainer.step < end:
        if not run.step:
            raise NothingLearntError(
                "the bake was ended before its first step: nothing has been learnt, and nothing "
                "was written"
            )
        # what was kept while starts were tried goes on with the others
        if run.kept_step != run.step and not run.has_untried_starts:
            yield from keep_state(run)
        run.stopped_by = "request"
