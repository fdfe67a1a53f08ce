"""The bake: fits one student to the materials of a scene and reports its progress.

A bake is a generator of events. It can be closed at any point: its memory is freed, and the last
checkpoint stays. It knows no command line, no panel and no process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TypeVar

from verdigris.core.baking.finish.finish import (
    finish,
    keep_first,
    preparing_finish,
)
from verdigris.core.baking.finish.heads import fitting_heads
from verdigris.core.baking.finish.notices import (
    notices,
    risen_loss,
    skipped_steps,
    unique_names,
    unlearnt_places,
    varying_maps,
    wasted_steps,
)
from verdigris.core.baking.finish.outputs import (
    bundle_paths,
    check_names,
    check_paths,
    check_textures,
    document_facts,
)
from verdigris.core.baking.measure.bundle_size import check_bytes
from verdigris.core.baking.measure.classify import classify
from verdigris.core.baking.measure.measure import draw_held_out, texel_footprint
from verdigris.core.baking.measure.memory import check_memory
from verdigris.core.baking.phases.choose_size import (
    choice_step,
    choose_size,
    fit_bytes,
)
from verdigris.core.baking.phases.early_stopping import (
    check_steps,
    has_checks,
    is_good_enough,
    skip_to_last_phase,
)
from verdigris.core.baking.phases.enlarge import enlarge
from verdigris.core.baking.phases.starts import choose_start
from verdigris.core.baking.phases.stepping import open_start, step_in_runs
from verdigris.core.baking.phases.time_limit import fit_to_time
from verdigris.core.baking.state.checkpoint import clear_leftovers, state_path
from verdigris.core.baking.state.clock import start_clock
from verdigris.core.baking.state.learner import Learner
from verdigris.core.baking.state.options import BakeControl, BakeOptions, result_folder
from verdigris.core.baking.state.resume import (
    SavedState,
    claim_name,
    find_state,
    restore,
    save_checkpoint,
)
from verdigris.core.baking.state.rounding import measure_before_rounding, report_rounding
from verdigris.core.baking.state.run import Run, saved_progress
from verdigris.core.baking.state.stages import stages_of
from verdigris.core.baking.state.trainers import choose_trainer
from verdigris.core.base.errors import DeviceError, NothingLearntError, SettingsError
from verdigris.core.base.lock import locked
from verdigris.core.base.process.processor import single_threaded_blas
from verdigris.core.base.process.profile import Phases
from verdigris.core.bundle.files.arithmetic import PORTABLE
from verdigris.core.bundle.runtime.runtime_files import compiling_ahead
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.material.use_material import compile_material
from verdigris.core.progress import (
    ENCODING,
    MEASURING,
    ROUNDING,
    SMALL_TEXTURE,
    STARTS,
    TRAINING,
    Event,
    Metrics,
    Phase,
    Started,
    Step,
)
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.recipe import Kind, Recipe

__all__ = ["BakeControl", "BakeOptions", "bake"]

T = TypeVar("T")

PHASES = (STARTS, TRAINING, ROUNDING, MEASURING)
PHASES_OF_TWO_STAGES = (STARTS, SMALL_TEXTURE, ENCODING, TRAINING, ROUNDING, MEASURING)
# Held-out samples that a running bake is measured on; software devices are slower.
_QUICK_SAMPLES, _QUICK_SAMPLES_ON_SOFTWARE = 1 << 15, 1 << 13


def bake(
    teachers: Sequence[Teacher],
    settings: BakeSettings | Recipe,
    options: BakeOptions,
    control: BakeControl | None = None,
) -> Generator[Event, None, None]:
    """Trains one decoder, and a latent texture for each teacher; the results are bundles. A recipe
    gives the settings for the kind of the materials; plain settings apply to any kind."""
    control = control or BakeControl()
    if not teachers:
        raise SettingsError("there is nothing to bake: name at least one material")
    for teacher in teachers:
        compile_material(teacher)
    trainer_kind = options.trainer or choose_trainer(teachers[0].device)
    recipe = with_live_inputs(Recipe.of(settings), teachers)
    kind = classify(teachers, recipe)
    requested = recipe[kind]
    check_memory(teachers[0].device, requested, len(teachers), trainer_kind)
    check_bytes(requested)
    paths = bundle_paths(options, teachers)
    check_names(paths, teachers)
    with ExitStack() as opened:
        _claim_folder(opened, teachers, paths, options)
        saved = find_state(teachers, requested, options, trainer_kind)
        run = _open_run(teachers, kind, requested, saved, options, control, trainer_kind)
        # those of cooperative vectors depend on the trained numbers
        opened.enter_context(compiling_ahead(run.settings.spec, PORTABLE))
        opened.enter_context(preparing_finish(teachers, run.settings))
        yield from _report(run, saved)


def _claim_folder(
    opened: ExitStack, teachers: Sequence[Teacher], paths: Sequence[Path], options: BakeOptions
) -> None:
    """Makes the folder, locks the names of the results, and checks that they can be written."""
    opened.enter_context(result_folder(options.folder))
    for name in sorted({options.name, *(path.stem for path in paths)}):
        opened.enter_context(locked(options.folder, name))
    check_paths(paths, state_path(options.folder, options.name))
    if options.viewport_textures:
        check_textures(paths, teachers)
    clear_leftovers(options.folder, options.name)


def _open_run(
    teachers: Sequence[Teacher],
    kind: Kind,
    requested: BakeSettings,
    saved: SavedState | None,
    options: BakeOptions,
    control: BakeControl,
    trainer_kind: str,
) -> Run:
    """Opens the trainer for the first stage, or for that of the checkpoint."""
    chosen = saved.settings if saved else requested
    if options.time_limit and not saved:
        chosen = fit_to_time(teachers, chosen, options.time_limit, options, trainer_kind)
    stage = saved.stage if saved else stages_of(chosen)[0]
    trainer, source = open_start(teachers, stage, options, trainer_kind)
    run = Run(
        teachers=teachers,
        kind=kind,
        settings=chosen,
        options=options,
        control=control,
        trainer_kind=trainer_kind,
        names=unique_names([teacher.material.name for teacher in teachers]),
        learner=Learner(teachers, chosen, trainer, source, stage, options.importance),
        clock=start_clock(stage.settings.iterations, options),
        saved=saved_progress(options),
        requested_steps=requested.iterations,
        documents=[document_facts(teacher) for teacher in teachers],
    )
    run.update_digests()
    if control.watch:
        control.watch(run)
    return run


def _report(run: Run, saved: SavedState | None) -> Iterator[Event]:
    """The events of the bake; closes its trainer."""
    events, phases = _bake(run, saved), Phases()
    try:
        # exceptions that the caller throws in are raised here, and are not the device's
        while event := _explain_device_failure(run, lambda: _next(run, events)):
            if isinstance(event, Phase):
                phases.begin(event.name)
            yield event
    finally:
        phases.begin("")
        events.close()
        _explain_device_failure(run, lambda: run.learner.trainer.close())


def with_live_inputs(recipe: Recipe, teachers: Sequence[Teacher]) -> Recipe:
    """With as many live inputs as the materials have, which share a decoder."""
    counts = {teacher.material.name: len(teacher.live_inputs) for teacher in teachers}
    if len({*counts.values()}) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise SettingsError(
            f"materials of one decoder have the same number of live inputs: {listed}: bake them "
            "one by one"
        )
    (count,) = {*counts.values()}
    return recipe.map(lambda each: each.with_live_inputs(count)) if count else recipe


def _next(run: Run, events: Iterator[Event]) -> Event | None:
    """The next event. Beside a graphics card matrices are small: on a machine of 64 processors,
    threads of BLAS took ten times the processor time, and no less wall time."""
    with single_threaded_blas() if run.trainer_kind == "tensor" else nullcontext():
        return next(events, None)


def _explain_device_failure(run: Run, do: Callable[[], T]) -> T:
    """The result; where the device fails, an error that says how to continue."""
    try:
        return do()
    except (RecursionError, NotImplementedError):
        # bugs, which are RuntimeErrors in Python
        raise
    except DeviceError as failure:
        if run.saved.step is None:
            raise
        raise _device_error(run, failure.__cause__ or failure) from failure
    except RuntimeError as failure:
        raise _device_error(run, failure) from failure


def _device_error(run: Run, failure: BaseException) -> DeviceError:
    step = run.saved.step
    remedy = (
        "there is no checkpoint yet: start the bake again"
        if step is None
        else f"the checkpoint of step {step} is complete: continue from it with --resume"
    )
    return DeviceError(
        f"{run.teachers[0].device}: the device failed at step {run.reported_step} ({failure}); "
        f"{remedy}, or choose another --device"
    )


def _bake(run: Run, saved: SavedState | None) -> Generator[Event, None, None]:
    settings = run.settings
    if saved:
        restore(run, saved)
    yield _started(run)
    yield from claim_name(run, saved)
    for teacher, name in zip(run.teachers, run.names, strict=True):
        yield from notices(teacher, name)
    yield from unlearnt_places(run.options.importance)
    is_software = run.teachers[0].device.is_software
    samples = _QUICK_SAMPLES_ON_SOFTWARE if is_software else _QUICK_SAMPLES
    footprint = texel_footprint(settings.resolution)
    run.held_out = [
        draw_held_out(teacher, samples, footprint=footprint) for teacher in run.teachers
    ]
    run.clock.started = time.monotonic()
    if run.start_choice or (saved is None and settings.starts > 1):
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
        decoder = yield from report_rounding(run)
        for teacher, name in zip(run.teachers, run.names, strict=True):
            yield from varying_maps(teacher, name)
        yield from finish(run, decoder, heads)


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


def _train_small(run: Run) -> Iterator[Event]:
    """Trains the small texture and encodes the large one. A bake that is stopped here still gets
    its full resolution."""
    yield from run.preview()
    yield _phase(run, SMALL_TEXTURE)
    yield from _train_to(run, run.learner.stage.settings.iterations)
    yield from _keep_if_stopped(run)
    yield _phase(run, ENCODING)
    for event in enlarge(run):
        yield event
        yield from _keep_if_stopped(run)


def _keep_if_stopped(run: Run) -> Iterator[Event]:
    """Writes the present state of a bake that was stopped, before all that takes longer."""
    if run.must_keep_first:
        yield from keep_first(run)


def _train(run: Run) -> Iterator[Event]:
    """Trains the last stage: until it is good enough or its last phase is due, then that phase."""
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
        yield from _train_to(run, settings.iterations)
    if not clock.stopped_by and run.has_untried_starts:
        # the checkpoint was written while starts were compared, and continues with the others
        clock.stopped_by = "request"
    if not clock.stopped_by:
        whole = "time limit" if run.is_limited else "steps"
        clock.stopped_by = run.stopped_early_by or whole


def _train_until_good(run: Run) -> Iterator[Event]:
    """Trains up to the last phase, and chooses the size on the way; skips to that phase as soon as
    the result is good enough."""
    settings, clock, is_good = run.learner.stage.settings, run.clock, False
    end = settings.last_phase_step
    if run.may_choose_size:
        is_good = yield from _train_checked(run, min(end, choice_step(settings)))
        if not clock.stopped_by:
            yield from choose_size(run)
    if not is_good and not clock.stopped_by:
        is_good = yield from _train_checked(run, end)
    if is_good and not clock.stopped_by:
        skip_to_last_phase(run, end)


def _train_checked(run: Run, end: int) -> Generator[Event, None, bool]:
    """Trains up to a step; ends earlier, with True, if the result is good enough."""
    steps, has_target = run.learner.stage.settings.iterations, run.options.has_target
    for step in check_steps(steps, end, has_target) if has_checks(run) else ():
        # a checkpoint may have been written at this step, before the check
        if step < run.learner.trainer.step or step <= run.checked_step:
            continue
        yield from _train_to(run, step)
        if run.clock.stopped_by:
            return False
        run.checked_step = step
        found = run.learner.measure_live(run.held_out)
        yield Metrics(run.step, found)
        if is_good_enough(run, found):
            return True
    yield from _train_to(run, end)
    return False


def _train_to(run: Run, end: int) -> Iterator[Event]:
    """Trains up to a step of the stage, or until the bake is requested to stop."""
    settings, options, clock = run.settings, run.options, run.clock
    trainer = run.learner.trainer
    for steps, report, seconds in step_in_runs(run, end - trainer.step):
        left = (settings.iterations - run.step) * seconds / steps
        rate = report.samples / seconds
        yield Step(run.step, settings.iterations, report.loss, rate, clock.seconds, left)
        if not run.rounding:
            clock.watch.add(report.loss, steps)
        if report.skipped:
            yield from skipped_steps(clock.skipped, clock.skipped + report.skipped)
            clock.skipped += report.skipped
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
        # a checkpoint that was written while starts were compared continues with the others
        if run.saved.trainer_step != run.step and not run.has_untried_starts:
            yield from save_checkpoint(run)
        clock.stopped_by = "request"
