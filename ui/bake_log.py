"""What the worker has told of the bake that runs, or that ran last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from verdigris.core.hosts.host import BakedResult
from verdigris.core.progress.events import ROUNDING, SMALL_TEXTURE
from verdigris.ui.history import History
from verdigris.ui.progress import Part, Progress
from verdigris.ui.signal import Signal

# Phases whose loss is that of the texture which is shown.
_LEARNING = (SMALL_TEXTURE, "training", ROUNDING)


class BakeLog:
    """Its progress, its losses and errors, and what came of it."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.history = History()
        self.errors: Mapping[str, float] = {}
        self.checkpoint_step: int | None = None
        self.stopped_by = ""
        self.warnings: list[str] = []
        self.result: BakedResult | None = None
        self.progress_changed = Signal()
        self.history_changed = Signal()
        self.errors_changed = Signal()

    def clear(self) -> None:
        """Nothing has been told yet."""
        self.progress = Progress()
        self.history.clear()
        self.errors = {}
        self.checkpoint_step = None
        self.stopped_by = ""
        self.warnings = []
        self.result = None
        self.history_changed.emit()
        self.progress_changed.emit()

    def take(self, said: Mapping[str, Any]) -> None:
        """An event of the worker; those of other things are left alone."""
        reaction = {
            "started": self._take_started,
            "plan": self._take_plan,
            "errors": self._take_errors,
            "phase": self._take_phase,
            "step": self._take_step,
            "metrics": self._take_metrics,
            "checkpointed": self._take_checkpoint,
            "warning": self._take_warning,
            "finished": self._take_finished,
        }.get(str(said.get("event")))
        if reaction is not None:
            reaction(said)

    def _set_progress(self, progress: Progress) -> None:
        self.progress = progress
        self.progress_changed.emit()

    def _take_started(self, said: Mapping[str, Any]) -> None:
        self._set_progress(Progress("starting", said.get("step", 0), said.get("steps", 0)))

    def _take_plan(self, said: Mapping[str, Any]) -> None:
        parts = [each for each in said.get("parts", ()) if isinstance(each, dict)]
        plan = tuple(Part(each["name"], each["first"], each["last"]) for each in parts)
        self._set_progress(replace(self.progress, plan=plan))

    def _take_errors(self, said: Mapping[str, Any]) -> None:
        figures = {name: said.get(name) for name in ("log_mae", "relative_l1", "smape")}
        self.errors = {**self.errors, **figures}
        self.errors_changed.emit()

    def _take_phase(self, said: Mapping[str, Any]) -> None:
        phase = str(said.get("name", ""))
        # a start that is tried has a schedule of its own
        left = None if phase not in _LEARNING else self.progress.seconds_left
        self._set_progress(replace(self.progress, phase=phase, seconds_left=left))

    def _take_step(self, said: Mapping[str, Any]) -> None:
        self.progress = Progress(
            self.progress.phase,
            said.get("step", 0),
            said.get("steps", 0),
            said.get("seconds", 0.0),
            said.get("seconds_left"),
            said.get("samples_per_second") or 0.0,
            self.progress.plan,
        )
        if self.progress.phase in _LEARNING:
            self.history.add_loss(self.progress.step, said.get("loss"))
            self.history_changed.emit()
        self.progress_changed.emit()

    def _take_metrics(self, said: Mapping[str, Any]) -> None:
        samples = said.get("samples") or ()
        if samples:
            self.errors = {**self.errors, **samples[0]}
            self.history.add_error(said.get("step", 0), samples[0].get("log_mae"))
            self.history_changed.emit()

    def _take_checkpoint(self, said: Mapping[str, Any]) -> None:
        self.checkpoint_step = int(said.get("step", 0))

    def _take_warning(self, said: Mapping[str, Any]) -> None:
        text = str(said.get("text", ""))
        if text not in self.warnings:
            self.warnings.append(text)

    def _take_finished(self, said: Mapping[str, Any]) -> None:
        self._take_metrics(said)
        pictures = said.get("pictures") or ()
        if pictures:
            self.errors = {**self.errors, **pictures[0]}
            self.history_changed.emit()
        self.stopped_by = str(said.get("stopped_by", ""))
        results = said.get("results") or ()
        if results:
            textures = next(iter(said.get("textures") or ()), {})
            files = {name: Path(file) for name, file in textures.items()}
            self.result = BakedResult(Path(str(results[0])), files)
        self._set_progress(replace(self.progress, step=said.get("step", 0), seconds_left=0.0))
