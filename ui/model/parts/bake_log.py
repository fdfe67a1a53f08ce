"""The progress, losses and errors of the current or the last bake, as the worker reports them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.hosts.host import BakedResult
from verdigris.core.progress import FLATTENING, ROUNDING, SMALL_TEXTURE, TRAINING
from verdigris.ui.signals import Signal

Doubles = NDArray[np.float64]

# In these phases the loss is that of the texture in the pictures.
_LOSS_PHASES = (SMALL_TEXTURE, TRAINING, ROUNDING)
_MAX_POINTS = 2000
# The weight of a new point in the smoothed loss.
_SMOOTHING = 0.25


@dataclass(frozen=True)
class Part:
    """A phase of the plan and the steps that it covers."""

    name: str
    first: int
    last: int

    @property
    def steps(self) -> int:
        return max(0, self.last - self.first)


@dataclass(frozen=True)
class Progress:
    """The step, the phase and the time of a bake."""

    phase: str = ""
    step: int = 0
    steps: int = 0
    seconds: float = 0.0
    seconds_left: float | None = None
    samples_per_second: float = 0.0
    plan: tuple[Part, ...] = ()
    closing: tuple[int, int] = (0, 0)
    """Parts of measuring and writing that are done, and all of them."""

    @property
    def number(self) -> int | None:
        """The number of the phase in the plan, from 1. None if the plan does not have it."""
        names = [part.name for part in self.plan]
        return names.index(self.phase) + 1 if self.phase in names else None

    @property
    def phase_share(self) -> float:
        """The completed share of the phase, 0 to 1."""
        if self.number is None:
            return 0.0
        part = self.plan[self.number - 1]
        return _clamp((self.step - part.first) / part.steps) if part.steps else 1.0

    @property
    def share(self) -> float:
        """The completed share of the bake, 0 to 1. It never decreases when a phase begins."""
        total = sum(part.steps for part in self.plan)
        if self.number is None or not total:
            share = _clamp(self.step / self.steps) if self.steps else 0.0
            # measuring and writing come before flattening and have no steps
            after = sum(part.steps for part in self.plan if part.name == FLATTENING)
            return share * (1 - after / total) if total else share
        before = sum(part.steps for part in self.plan[: self.number - 1])
        return (before + self.phase_share * self.plan[self.number - 1].steps) / total


class History:
    """Losses and errors by step, for the plot. Old losses are thinned out."""

    def __init__(self) -> None:
        self._losses: list[tuple[float, float, float]] = []
        self._errors: list[tuple[float, float]] = []

    def clear(self) -> None:
        self._losses.clear()
        self._errors.clear()

    def add_loss(self, step: int, loss: float | None) -> None:
        """Adds a loss. Values that a log scale cannot show are ignored."""
        if loss is None or not loss > 0:
            return
        before = self._losses[-1][2] if self._losses else loss
        # smoothed in log space, as plotted: one spike does not lift the line for long
        smooth = float(np.exp(np.log(before) + _SMOOTHING * (np.log(loss) - np.log(before))))
        self._losses.append((step, loss, smooth))
        if len(self._losses) > _MAX_POINTS:
            self._losses = self._losses[::2]

    def add_error(self, step: int, error: float | None) -> None:
        """Adds an error on held-out samples. Values that a log scale cannot show are ignored."""
        if error is not None and error > 0:
            self._errors.append((step, error))

    def losses(self) -> tuple[Doubles, Doubles, Doubles]:
        """Steps, losses and smoothed losses."""
        table = np.array(self._losses, np.float64).reshape(-1, 3)
        return table[:, 0], table[:, 1], table[:, 2]

    def errors(self) -> tuple[Doubles, Doubles]:
        """Steps, and the log MAE on held-out samples."""
        table = np.array(self._errors, np.float64).reshape(-1, 2)
        return table[:, 0], table[:, 1]


class BakeLog:
    """Collects the events of a bake."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.history = History()
        self.errors: Mapping[str, float] = {}
        self.checkpoint_step: int | None = None
        self.resolution = 0
        self.stopped_by = ""
        self.warnings: list[str] = []
        self.hints: tuple[str, ...] = ()
        self.measured: Mapping[str, Mapping[str, Any]] = {}
        """The errors of the result, in the tables of a bundle's manifest."""
        self.result: BakedResult | None = None
        self.progress_changed = Signal()
        self.history_changed = Signal()
        self.errors_changed = Signal()

    def clear(self) -> None:
        """Forgets the last bake."""
        self.progress = Progress()
        self.history.clear()
        self.errors = {}
        self.checkpoint_step = None
        self.stopped_by = ""
        self.warnings = []
        self.hints, self.measured = (), {}
        self.result = None
        self.history_changed.emit()
        self.progress_changed.emit()

    def handle(self, event: Mapping[str, Any]) -> None:
        """Handles an event of the worker. Events that do not concern a bake are ignored."""
        handler = {
            "started": self._handle_started,
            "plan": self._handle_plan,
            "sizechosen": self._handle_size,
            "errors": self._handle_errors,
            "phase": self._handle_phase,
            "step": self._handle_step,
            "metrics": self._handle_metrics,
            "checkpointed": self._handle_checkpoint,
            "warning": self._handle_warning,
            "closing": self._handle_closing,
            "kept": self._handle_kept,
            "finished": self._handle_finished,
        }.get(str(event.get("event")))
        if handler is not None:
            handler(event)

    def _set_progress(self, progress: Progress) -> None:
        self.progress = progress
        self.progress_changed.emit()

    def _handle_started(self, event: Mapping[str, Any]) -> None:
        self.resolution = int(event.get("resolution") or 0)
        self._set_progress(Progress("starting", event.get("step", 0), event.get("steps", 0)))

    def _handle_plan(self, event: Mapping[str, Any]) -> None:
        parts = [each for each in event.get("parts", ()) if isinstance(each, dict)]
        plan = tuple(Part(each["name"], each["first"], each["last"]) for each in parts)
        self._set_progress(replace(self.progress, plan=plan))

    def _handle_size(self, event: Mapping[str, Any]) -> None:
        self.resolution = max(int(event.get("width") or 0), int(event.get("height") or 0))

    def _handle_errors(self, event: Mapping[str, Any]) -> None:
        figures = {name: event.get(name) for name in ("log_mae", "relative_l1", "smape")}
        self.errors = {**self.errors, **figures}
        self.errors_changed.emit()

    def _handle_phase(self, event: Mapping[str, Any]) -> None:
        phase = str(event.get("name", ""))
        # the other phases have schedules of their own
        left = None if phase not in _LOSS_PHASES else self.progress.seconds_left
        self._set_progress(replace(self.progress, phase=phase, seconds_left=left))

    def _handle_step(self, event: Mapping[str, Any]) -> None:
        self.progress = Progress(
            self.progress.phase,
            event.get("step", 0),
            event.get("steps", 0),
            event.get("seconds", 0.0),
            event.get("seconds_left"),
            event.get("samples_per_second") or 0.0,
            self.progress.plan,
        )
        if self.progress.phase in _LOSS_PHASES:
            self.history.add_loss(self.progress.step, event.get("loss"))
            self.history_changed.emit()
        self.progress_changed.emit()

    def _handle_metrics(self, event: Mapping[str, Any]) -> None:
        samples = event.get("samples") or ()
        if samples:
            self.errors = {**self.errors, **samples[0]}
            self.history.add_error(event.get("step", 0), samples[0].get("log_mae"))
            self.history_changed.emit()

    def _handle_checkpoint(self, event: Mapping[str, Any]) -> None:
        self.checkpoint_step = int(event.get("step", 0))

    def _handle_warning(self, event: Mapping[str, Any]) -> None:
        text = str(event.get("text", ""))
        if text not in self.warnings:
            self.warnings.append(text)

    def _handle_closing(self, event: Mapping[str, Any]) -> None:
        done, parts = int(event.get("done") or 0), int(event.get("parts") or 0)
        self._set_progress(replace(self.progress, closing=(done, parts)))

    def _handle_kept(self, event: Mapping[str, Any]) -> None:
        """The bundle of a stopped bake is written; its figures follow."""
        results = event.get("results") or ()
        self.stopped_by = "request"
        if results:
            self.result = BakedResult(Path(str(results[0])), {})
        self._set_progress(replace(self.progress, closing=(0, 0), seconds_left=0.0))

    def _handle_finished(self, event: Mapping[str, Any]) -> None:
        self._handle_metrics(event)
        pictures, skies = event.get("pictures") or (), event.get("skies") or ()
        tables = {"samples": event.get("samples"), "sphere": pictures, "sky": skies}
        self.measured = {name: table[0] for name, table in tables.items() if table}
        if pictures:
            self.errors = {**self.errors, **pictures[0]}
            self.history_changed.emit()
        if skies:
            self.errors = {**self.errors, **{f"sky_{name}": skies[0][name] for name in skies[0]}}
            self.history_changed.emit()
        self.hints = tuple(str(hint) for hint in event.get("hints") or ())
        self.stopped_by = str(event.get("stopped_by", ""))
        results = event.get("results") or ()
        if results:
            textures = next(iter(event.get("textures") or ()), {})
            files = {name: Path(file) for name, file in textures.items()}
            self.result = BakedResult(Path(str(results[0])), files)
        self._set_progress(replace(self.progress, step=event.get("step", 0), seconds_left=0.0))


def _clamp(share: float) -> float:
    return min(1.0, max(0.0, share))
