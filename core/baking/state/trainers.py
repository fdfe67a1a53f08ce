"""The trainer of a bake: opened for a device, run in short runs of steps, watched for failures."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from verdigris.core.baking.state.learner import Learner
from verdigris.core.base.errors import DeviceError, SettingsError
from verdigris.core.base.process.processor import single_threaded_blas
from verdigris.core.base.process.profile import Phases, profiled
from verdigris.core.network.parameters import Parameters, initialise
from verdigris.core.progress import Event, Phase
from verdigris.core.sampling.draw_samples import DrawnSamples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.choices import Stage
    from verdigris.core.baking.state.run import Run
    from verdigris.core.base.device import Device
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.bake_settings import BakeSettings
    from verdigris.core.settings.schedule import TrainingSettings
    from verdigris.core.training.trainer import StepReport, Trainer

T = TypeVar("T")

# Steps of a run before their duration is known.
FIRST_RUN = 20


def choose_trainer(device: Device) -> str:
    """`numpy` where the device is the CPU itself, otherwise `tensor`."""
    return "numpy" if device.is_software else "tensor"


def index_of_students(teachers: Sequence[Teacher]) -> float:
    """The index of the transmitted side of a decoder that these teachers share; 0 without such a
    side. Opaque ones among them are dark there."""
    found = {teacher.index_below: teacher.material.name for teacher in teachers}
    found.pop(0.0, None)
    if len(found) > 1:
        listed = ", ".join(f"{name} has {index:g}" for index, name in sorted(found.items()))
        raise SettingsError(
            "materials that share a decoder and transmit light need the same index (1 for thin "
            f"walls), and {listed}: bake them one by one"
        )
    return next(iter(found), 0.0)


def fresh_parameters(
    stage: Stage, teachers: Sequence[Teacher], seed: int, index_below: float = 0.0
) -> Parameters:
    """The numbers of one start. Live inputs have the first material's values by default."""
    fresh = initialise(stage.settings.spec, stage.layout(len(teachers)), seed, index_below)
    return replace(fresh, live=teachers[0].live)


@profiled("open trainer")
def open_trainer(
    teachers: Sequence[Teacher],
    stage: Stage,
    importance: NDArray[Any] | None,
    kind: str,
    parameters: Parameters | None = None,
    training: TrainingSettings | None = None,
) -> tuple[Trainer, DrawnSamples]:
    """A trainer at step 0 with these parameters, by default those of the first start, and the
    samples that it draws. `training` replaces the settings of the stage."""
    settings, device = stage.settings, teachers[0].device
    if parameters is None:
        index = index_of_students(teachers)
        parameters = fresh_parameters(stage, teachers, settings.seed, index)
    source = DrawnSamples(
        teachers,
        parameters.layout,
        settings.seed,
        settings.draw,
        importance,
        parameters.index_below,
    )
    return make_trainer(kind, parameters, source, training or stage.training(), device), source


def open_learner(
    teachers: Sequence[Teacher],
    settings: BakeSettings,
    stage: Stage,
    importance: NDArray[Any] | None,
    kind: str,
) -> Learner:
    """A learner at the beginning of a stage, with the first start."""
    trainer, source = open_trainer(teachers, stage, importance, kind)
    return Learner(teachers, settings, trainer, source, stage, importance)


def make_trainer(
    kind: str,
    parameters: Parameters,
    source: DrawnSamples,
    settings: TrainingSettings,
    device: Device,
) -> Trainer:
    if kind == "numpy":
        from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer

        return NumpyTrainer(parameters, source, settings, device.threads)
    if kind == "tensor" and device.is_software:
        raise SettingsError(
            f"trainer 'tensor' needs a GPU, and {device} is the CPU, where it takes minutes to "
            "start: use numpy"
        )
    if kind == "tensor":
        from verdigris.core.training.tensor.tensor_trainer import TensorTrainer

        return TensorTrainer(parameters, source, settings, device)
    raise SettingsError(f"trainer {kind!r} is not known: use tensor or numpy")


def step_in_runs(
    run: Run, steps: int, guarded: bool = False
) -> Iterator[tuple[int, StepReport, float]]:
    """Trains this number of steps in short runs, so that the caller can act between them. Yields
    the steps, report and seconds of each run. Ends early if a stop of the bake is requested. With
    `guarded`, runs also end where the guard decides."""
    trainer, guard = run.learner.trainer, run.guard
    size, end = FIRST_RUN, trainer.step + steps
    while trainer.step < end and not run.control.stop_requested:
        run.take_importance()
        count = min(size, end - trainer.step)
        if guarded and (window := guard.window_at(trainer.step)):
            count = min(count, window - trainer.step % window)
        begun = time.monotonic()
        report = trainer.step_many(count)
        seconds = max(time.monotonic() - begun, 1e-9)
        run.clock.loss = report.loss
        size = max(1, min(4 * size, int(count * run.options.run_seconds / seconds) or 1))
        yield count, report, seconds


def report_events(run: Run, events: Generator[Event, None, None]) -> Iterator[Event]:
    """The events of a bake. Closes its trainer, and explains failures of its device."""
    phases = Phases()
    try:
        # the caller's own exceptions are raised here: the device did not cause them
        while event := _explain_failure(run, lambda: _next(run, events)):
            if isinstance(event, Phase):
                phases.begin(event.name)
            yield event
    finally:
        phases.begin("")
        events.close()
        _explain_failure(run, lambda: run.learner.trainer.close())


def _next(run: Run, events: Iterator[Event]) -> Event | None:
    """The next event. The matrices beside a GPU are small: on a machine with 64 processors, BLAS
    with threads took ten times the CPU time and no less wall time."""
    with single_threaded_blas() if run.trainer_kind == "tensor" else nullcontext():
        return next(events, None)


def _explain_failure(run: Run, do: Callable[[], T]) -> T:
    """The result. If the device fails, the error says how to continue."""
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
        else f"the checkpoint of step {step} is complete: resume the bake to continue from it"
    )
    return DeviceError(
        f"{run.teachers[0].device}: the device failed at step {run.reported_step} ({failure}); "
        f"{remedy}, or choose another device"
    )
