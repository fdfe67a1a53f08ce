"""Shows the progress of a batch on the standard error: one line that is updated on a terminal,
lines every few seconds elsewhere, or lines for the session of a farm."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from verdigris.core.base.text import format_seconds, format_share, printable
from verdigris.core.batch.farm import openjd
from verdigris.plugins.common.batch.summary import BAKED, FAILED, UP_TO_DATE, Outcome

SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BETWEEN_UPDATES = 0.2
READING, PREPARING = "reading the material", "preparing"


@dataclass
class BakeState:
    """The progress of one bake, from its events."""

    number: int
    total: int
    name: str
    phase: str = READING
    step: dict[str, Any] = field(default_factory=dict)
    log_mae: float | None = None
    began: float = 0.0

    def note(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "phase":
            self.phase, self.step = str(event.get("name")), {}
        elif kind == "step":
            self.step = event
        elif kind == "metrics":
            found = [each.get("log_mae") for each in event.get("samples") or ()]
            self.log_mae = found[0] if found else None

    @property
    def title(self) -> str:
        return f"[{self.number}/{self.total}] {printable(self.name)}"

    @property
    def share(self) -> float:
        """The trained share of this bake."""
        return self.step.get("step", 0) / max(self.step.get("steps", 0), 1)

    @property
    def line(self) -> str:
        parts = [self.title, printable(self.phase)]
        if self.step:
            parts[-1] += f" {format_share(self.share)}"
            for name, value in (("loss", self.step.get("loss")), ("log MAE", self.log_mae)):
                parts += [f"{name} {value:.4f}"] if isinstance(value, float) else []
            parts.append(f"{format_seconds(self.step.get('seconds_left') or 0)} left")
        else:
            spent = time.monotonic() - self.began
            parts[-1] += f", {format_seconds(spent)} so far" if spent >= 1 else ""
        return "  ".join(parts)


class Progress:
    """Shows nothing; the base class of progress that is shown."""

    _bake: BakeState | None = None

    def begin(self, number: int, total: int, name: str) -> None:
        """A material begins."""
        self._bake = BakeState(number, total, name, began=time.monotonic())
        self._show(is_new=True)

    def happened(self, event: dict[str, Any] | None) -> None:
        """Takes an event of its bake, or None while there is none."""
        if self._bake is None:
            return
        before = self._bake.phase, bool(self._bake.step)
        if self._bake.phase == READING:
            self._bake.phase = PREPARING
        if event is not None:
            self._bake.note(event)
            if event["event"] == "warning":
                self.note(f"{self._bake.title}: warning: {printable(event.get('text'))}")
        self._show(is_new=before != (self._bake.phase, bool(self._bake.step)))

    def end(self, outcome: Outcome) -> None:
        """Takes its outcome."""
        if self._bake is not None:
            self.note(f"{self._bake.title}: {describe(outcome)}")
        self._bake = None

    def note(self, text: str) -> None:
        """Shows a line that stays."""

    def fail(self, text: str) -> None:
        """The batch ends with this error, which its program prints."""

    def _show(self, is_new: bool) -> None:
        """Shows the present state. A new phase and its first step are shown at once."""


class Lines(Progress):
    """Prints lines."""

    _next = 0.0

    def note(self, text: str) -> None:
        # the terminal may be closed
        with contextlib.suppress(OSError, ValueError):
            print(text, file=sys.stderr, flush=True)

    def _show(self, is_new: bool) -> None:
        now = time.monotonic()
        if self._bake is not None and (is_new or now >= self._next):
            self._next = now + SECONDS_BETWEEN_LINES
            self.note(self._bake.line)


class LiveLine(Lines):
    """Updates one line of a terminal."""

    _shown = 0

    def note(self, text: str) -> None:
        self.clear()
        super().note(text)

    def fail(self, text: str) -> None:
        self.clear()

    def clear(self) -> None:
        """Removes the line before another one is printed."""
        self._put("")

    def _show(self, is_new: bool) -> None:
        now = time.monotonic()
        if self._bake is not None and (is_new or now >= self._next):
            self._next = now + _SECONDS_BETWEEN_UPDATES
            self._put(self._bake.line)

    def _put(self, text: str) -> None:
        # a line as long as the terminal is wide would wrap
        text = text[: shutil.get_terminal_size().columns - 1]
        # spaces instead of escape sequences, which some terminals of Windows print
        blank = " " * max(0, self._shown - len(text))
        end = "" if text else "\r"
        with contextlib.suppress(OSError, ValueError):
            if text or self._shown:
                print(f"\r{text}{blank}", end=end, file=sys.stderr, flush=True)
        self._shown = len(text)


class FarmLines(Lines):
    """Prints progress and status for the session of a farm."""

    def end(self, outcome: Outcome) -> None:
        bake = self._bake
        super().end(outcome)
        if bake is not None:
            if outcome.status == FAILED:
                self.note(openjd.failure(f"{outcome.name}: {outcome.error}"))
            self.note(openjd.progress(100 * bake.number / bake.total))

    def fail(self, text: str) -> None:
        self.note(openjd.failure(text))

    def _show(self, is_new: bool) -> None:
        now = time.monotonic()
        if self._bake is not None and (is_new or now >= self._next):
            self._next = now + SECONDS_BETWEEN_LINES
            done = self._bake.number - 1 + 0.99 * self._bake.share
            self.note(openjd.status(self._bake.line))
            self.note(openjd.progress(100 * done / self._bake.total))


def describe(outcome: Outcome) -> str:
    """An outcome on one line."""
    text = outcome.status
    if outcome.status == BAKED:
        early = ", ended early" if outcome.stopped_by == "request" else ""
        text = f"baked in {format_seconds(outcome.seconds)}{early}: {outcome.bundle}"
    elif outcome.status == UP_TO_DATE:
        text = f"up to date: {outcome.bundle}"
    elif outcome.error:
        text = f"{outcome.status}: {outcome.error}"
    return printable(text)


def open_progress(quiet: bool, farm: bool) -> Progress:
    """The progress for this standard error."""
    if sys.stderr is None:
        return Progress()
    if farm:
        return FarmLines()
    if quiet:
        return Progress()
    try:
        return LiveLine() if sys.stderr.isatty() else Lines()
    except ValueError:
        # closed
        return Progress()
