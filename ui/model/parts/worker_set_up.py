"""The set-up of the worker, as the panel offers and shows it."""

from __future__ import annotations

from collections import deque

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.process.worker_environment import (
    BOOTSTRAP_PROGRAM,
    NoWorkerError,
    WorkerEnvironmentError,
    find_set_up_program,
    older_version,
)
from verdigris.core.base.text import version
from verdigris.core.worker.client.set_up import FAILED, FINISHED, SetUp
from verdigris.ui.signals import Signal

HIDDEN, OFFERED, RUNNING = "hidden", "offered", "running"
_UNPACKS = (
    "Bakes run in a worker, which is not set up here. The set-up unpacks 0.6 GB from the plug-in's "
    "own folder, takes about a minute, and needs no network. You can continue to work meanwhile."
)
_DOWNLOADS = (
    "Bakes run in their own Python, which is not set up here. The set-up downloads about 200 MB of "
    "packages and takes a few minutes. You can continue to work meanwhile."
)
_MOST_LINES = 200


class WorkerSetUp:
    """Call `poll` a few times a second. No method waits."""

    def __init__(self) -> None:
        self._process: SetUp | None = None
        self.state = HIDDEN
        self.failure = ""
        """Why the last set-up failed."""
        self.part: float | None = None
        """The completed part, 0 to 1; None if it is not known."""
        self.lines: deque[str] = deque(maxlen=_MOST_LINES)
        self.is_cancelling = False
        self.older = ""
        """The version of a worker that is renewed without a question."""
        self.changed = Signal()
        self.finished = Signal()

    def offer(self) -> bool:
        """Offers the set-up, if this copy of Verdigris has the program for it. After an update of
        the plug-in it starts at once, as its user has agreed to it before."""
        if self.state == HIDDEN and find_set_up_program() is not None:
            self.older = older_version()
            self._show(OFFERED)
            if self.older:
                self.start()
        return self.state != HIDDEN

    def describe(self) -> str:
        """What the set-up does, or is doing."""
        if self.state == RUNNING and self.older:
            return f"The worker has version {self.older}, the plug-in {version()}. It is renewed."
        if self.state == RUNNING:
            return "The worker is being set up."
        program = find_set_up_program()
        is_checkout = program is not None and program.name == BOOTSTRAP_PROGRAM
        return _DOWNLOADS if is_checkout else _UNPACKS

    def offers_remedy(self, failure: VerdigrisError) -> bool:
        """Offers the set-up if a worker cannot be started without it. Returns whether the offer is
        all that there is to say: a setting that names a wrong file must be corrected."""
        is_offered = isinstance(failure, WorkerEnvironmentError) and self.offer()
        return is_offered and isinstance(failure, NoWorkerError)

    def hide(self) -> None:
        """Takes the offer back: a worker was found."""
        if self.state == OFFERED:
            self.failure = ""
            self._show(HIDDEN)

    def start(self) -> None:
        if self.state != OFFERED:
            return
        self.lines.clear()
        self.failure, self.part, self.is_cancelling = "", None, False
        self._process = SetUp()
        self._show(RUNNING)

    def cancel(self) -> None:
        if self._process is not None and not self.is_cancelling:
            self.is_cancelling = True
            self._process.cancel()
            self.changed.emit()

    def poll(self) -> None:
        """Handles the new lines."""
        events = self._process.poll() if self._process is not None else []
        for event in events:
            if event.kind == FAILED:
                # a set-up that was cancelled did not fail
                self.failure = "" if self.is_cancelling else event.text
                self._process = None
                self._show(OFFERED)
            elif event.kind == FINISHED:
                self._process = None
                self._show(HIDDEN)
                self.finished.emit()
            else:
                self.lines.append(event.text)
                self.part = self.part if event.part is None else event.part
        if events and self.state == RUNNING:
            self.changed.emit()

    def _show(self, state: str) -> None:
        self.state = state
        self.changed.emit()
