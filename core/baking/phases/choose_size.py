"""Chooses the size of the latent texture: the smallest whose error meets the target.

In the middle of training the largest texture is cut down to smaller ones. Each is a box filter of
the largest, some with fewer latent channels. All of them train for a moment with falling rates, so
that their errors are those of textures tuned for their size. They are measured against the same
reference: the material averaged over a texel of the largest. The chosen one trains on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.baking.measure.bundle_size import compressed_sources
from verdigris.core.baking.measure.measure import (
    measure_pictures,
    measure_student,
    sphere_to_compare,
)
from verdigris.core.baking.state.sizes import (
    Errors,
    Size,
    SizeChoice,
    largest_that_fit,
    search_size,
    shrunk_to,
)
from verdigris.core.baking.state.trainers import open_trainer
from verdigris.core.base.process.profile import Phases
from verdigris.core.network.student import Student
from verdigris.core.pictures.compare.metrics import (
    INDISTINGUISHABLE_LOG_MAE,
    INDISTINGUISHABLE_PSNR,
)
from verdigris.core.progress import Event, SizeChosen, Step
from verdigris.core.settings.schedule import Quantisation
from verdigris.core.training.trainer import BufferOwner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run
    from verdigris.core.network.parameters import Parameters
    from verdigris.core.settings.bake_settings import BakeSettings
    from verdigris.core.settings.schedule import TrainingSettings

# Parts of the last stage's steps: the size is chosen after the first, and each size trains for the
# second.
_CHOICE_SHARE, _TRIAL_SHARE = 0.4, 0.02
# Below this multiple of the log MAE that no eye sees, the picture of a sphere counts, too.
_NEAR = 2
# Number of trials in most bakes.
_TRIALS = 5
# Runs of steps of a trial, between which the bake can be stopped.
_RUNS = 8
# Fewest moves to blocks of a trial.
_MOVES = 16


def choice_step(settings: BakeSettings) -> int:
    """The step of the last stage after which the size is chosen."""
    return max(1, round(_CHOICE_SHARE * settings.iterations))


def trial_share(settings: BakeSettings) -> float:
    """Steps of all trials, as a part of the bake's steps."""
    return _TRIALS * _TRIAL_SHARE if settings.size.is_open else 0.0


def trial_moves(settings: BakeSettings) -> float:
    """Moves to blocks during the trials of most bakes: of the largest size, of half of both its
    sides, and of half of each side, counted in moves of the largest."""
    return _MOVES * (1 + 1 / 4 + 2 / 2) if settings.size.is_open else 0.0


def choose_size(run: Run) -> Iterator[Event]:
    """Continues with the chosen size. If a stop of the bake is requested, nothing is chosen."""
    learner = run.learner
    parameters, state = learner.trainer.parameters(), learner.trainer.state()
    largest = _size_of(parameters)
    # for pictures during the trials
    learner.live_student()
    learner.trainer.close()
    size_settings = run.settings.size
    gives_way = not size_settings.most_bytes
    channels = size_settings.channels
    sizes = search_size(largest, channels, _limit(run), size_settings.tolerance, gives_way)
    choice: SizeChoice | None = None
    try:
        wanted = next(sizes)
        while (errors := (yield from _try(run, parameters, state, wanted))) is not None:
            wanted = sizes.send(errors)
    except StopIteration as end:
        choice = end.value
    size = choice.size if choice else largest
    _continue_with(run, parameters, state, size)
    if choice:
        run.size_choice = choice
        yield _event(run, choice)


def fit_bytes(run: Run) -> None:
    """Cuts the texture down to the limit of bytes without trials, in a bake that was stopped before
    the choice."""
    parameters, state = run.learner.trainer.parameters(), run.learner.trainer.state()
    size = trained = _size_of(parameters)
    fits = _limit(run)
    if run.settings.size.most_bytes and not fits(size):
        size = largest_that_fit(size, run.settings.size.channels, fits)[0]
    if size != trained:
        run.learner.trainer.close()
        _continue_with(run, parameters, state, size)


def _size_of(parameters: Parameters) -> Size:
    layout = parameters.layout
    return Size(layout.width, layout.height, parameters.spec.latent_channels)


def _most_bytes(run: Run) -> int:
    """The limit of a bundle's bytes, 0 for none: as requested, or fewer than the material's own
    images take, as long as no eye sees it."""
    requested = run.settings.size.most_bytes
    return requested or max(0, compressed_sources(run.teachers) - 1)


def _limit(run: Run) -> Callable[[Size], bool]:
    """A function that tells whether a bundle with a size stays within the limit of bytes."""
    most = _most_bytes(run)
    return lambda size: not most or run.bundle_bytes(size) <= most


def _continue_with(
    run: Run, parameters: Parameters, state: dict[str, NDArray[Any]], size: Size
) -> None:
    """Opens the trainer again, with a texture of this size."""
    stage = run.learner.stage.with_size(size)
    small, begin = shrunk_to(parameters, state, size)
    trainer, source = open_trainer(
        run.teachers, stage, run.options.importance, run.trainer_kind, small
    )
    begin(trainer)
    run.learner.begin_stage(stage, trainer, source)
    run.guard.resize(stage, len(run.teachers))


def _try(
    run: Run, parameters: Parameters, state: dict[str, NDArray[Any]], size: Size
) -> Generator[Event, None, Errors | None]:
    """Trains a size for a moment. Its errors, or None if a stop of the bake is requested."""
    settings = run.learner.stage.settings
    small, begin = shrunk_to(parameters, state, size)
    first = int(state["step"])
    steps = max(1, round(_TRIAL_SHARE * settings.iterations))
    training = _cooling(run.learner.stage.training(), first, steps)
    trainer, _ = open_trainer(
        run.teachers, run.learner.stage, run.options.importance, run.trainer_kind, small, training
    )
    phases = Phases()
    phases.begin("try a size")
    try:
        begin(trainer)
        while trainer.step < first + steps:
            if run.control.stop_requested:
                return None
            count = min(-(-steps // _RUNS), first + steps - trainer.step)
            begun = time.monotonic()
            report = trainer.step_many(count)
            seconds = max(time.monotonic() - begun, 1e-9)
            left = (settings.iterations - first) * seconds / count
            rate = report.samples / seconds
            yield Step(
                run.step, run.settings.iterations, report.loss, rate, run.clock.seconds, left
            )
        buffers = trainer.shared_buffers() if isinstance(trainer, BufferOwner) else None
        student = Student(small if buffers else trainer.parameters(), run.teachers[0].device)
        if buffers:
            student.use_buffers(buffers)
        return tuple(visible_error(run, student, number) for number in range(len(run.teachers)))
    finally:
        phases.begin("")
        trainer.close()


def visible_error(run: Run, student: Student, number: int) -> float:
    """The log MAE of a material, or a log MAE that is as visible as the error of its picture."""
    student.material = number
    log_mae = measure_student(student, run.held_out[number]).log_mae
    if log_mae > _NEAR * INDISTINGUISHABLE_LOG_MAE:
        return log_mae
    picture = measure_pictures(run.teachers[number], student, sphere_to_compare())
    return max(log_mae, as_visible(picture.psnr))


def as_visible(psnr: float) -> float:
    """The log MAE that is as visible as the difference of a picture with this PSNR: both are
    proportional to the error."""
    return float(INDISTINGUISHABLE_LOG_MAE * 10 ** ((INDISTINGUISHABLE_PSNR - psnr) / 20))


def _cooling(training: TrainingSettings, first: int, steps: int) -> TrainingSettings:
    """Settings with rates that fall from those of step `first` to their end within `steps`. Latents
    are not rounded, but move to the lines of their blocks meanwhile: the last time before the last
    step, whose rate hardly moves them away again."""
    before = training.schedule
    factor = before.factor(first)
    schedule = replace(
        before,
        first=first,
        steps=first + steps,
        decoder_rate=factor * before.decoder_rate,
        latent_rate=factor * before.latent_rate,
    )
    last, quantisation = first + steps, training.quantisation
    if quantisation and quantisation.lines:
        lines = replace(
            # from the step of `first` on, latents would be rotated a second time
            quantisation.lines,
            first_step=max(0, first - 1),
            last_step=first + steps // 2,
            interval=min(quantisation.lines.interval, max(1, steps // _MOVES)),
        )
        quantisation = Quantisation(last + lines.interval - 1, 1, lines)
    else:
        quantisation = None
    return replace(training, schedule=schedule, quantisation=quantisation, light_step=None)


def _event(run: Run, choice: SizeChoice) -> SizeChosen:
    width, height, channels = choice.size
    most, taken = _most_bytes(run), run.bundle_bytes(choice.size)
    return SizeChosen(
        width=width,
        height=height,
        channels=channels,
        loaded_bytes=taken,
        target=choice.target,
        most_bytes=most if taken <= most else 0,
        images_bytes=0 if taken <= most else compressed_sources(run.teachers),
        tried=tuple(
            {
                **each._asdict(),
                "bytes": run.bundle_bytes(each),
                "log_mae": error if np.isfinite(error) else None,
            }
            for each, error in choice.tried.items()
        ),
    )
