"""Ends a bake early on a signal or a lost output, so that its result is still written."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import BROKEN_PIPE, EndedError, NothingLearntError
from verdigris.core.base.outputs import redirect_to_null
from verdigris.core.base.process.termination import handled, termination_signals
from verdigris.core.cli.shared.event_output import LostOutputError
from verdigris.core.progress import Checkpointed, Event, Finished

if TYPE_CHECKING:
    from verdigris.core.baking.bake import BakeControl

# Windows has no SIGHUP.
_HANG_UP = getattr(signal, "SIGHUP", None)


class BakeEnding:
    """Stops a bake on the first signal, or when its output is lost, and decides the exit code.

    After Ctrl-C the command has succeeded: the artist is satisfied with the result. After SIGTERM,
    SIGHUP or a lost output the bundle is written too, but the command fails with EndedError,
    because training was not finished.
    """

    def __init__(self, control: BakeControl) -> None:
        self._control = control
        self._signal: signal.Signals | None = None
        self._why_lost = ""
        self._finished: Finished | None = None
        self._kept: Checkpointed | None = None
        self._terminals: list[int] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handles signals: the first stops the bake, a Ctrl-C after it ends the program."""
        self._terminals = [each for each in (1, 2) if os.isatty(each)]
        try:
            # a shell lets background processes ignore Ctrl-C; a bake handles it anyway
            with handled({signal.SIGINT, signal.SIGTERM, *termination_signals()}, self._handle):
                yield
        except NothingLearntError as failure:
            if number := self._number:
                raise EndedError(str(failure), number) from None
            raise
        if self._why_lost or (self._signal != signal.SIGINT and self._is_cut_off):
            raise EndedError(self._message(), self._number)

    def show(self, show: Callable[[Iterable[Event]], None], events: Iterable[Event]) -> None:
        """Shows events. When the output is lost, stops the bake and reads the events silently."""
        noted = self._noting(events)
        try:
            show(noted)
        except LostOutputError as lost:
            self._why_lost = str(lost)
            self._control.stop()
            # in tests the output is not a file and has no descriptor
            with contextlib.suppress(OSError, ValueError):
                redirect_to_null([sys.stdout.fileno()])
            for _ in noted:
                pass

    def _noting(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if isinstance(event, Checkpointed):
                self._kept = event
            elif isinstance(event, Finished):
                self._finished = event
            yield event

    @property
    def _number(self) -> int:
        """The signal number for the exit code; 0 without a signal."""
        return self._signal or (BROKEN_PIPE if self._why_lost else 0)

    @property
    def _is_cut_off(self) -> bool:
        return self._finished is not None and self._finished.stopped_by == "request"

    def _handle(self, number: int, _frame: object) -> None:
        # a program that ends a process group may send SIGTERM twice
        if self._control.stop_requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._signal = self._signal or signal.Signals(number)
        self._control.stop()
        if number == _HANG_UP:
            # writing to a closed terminal would fail before the result is written
            redirect_to_null(self._terminals)

    def _message(self) -> str:
        why = self._signal.name if self._signal else f"the output was lost ({self._why_lost})"
        finished = self._finished
        if finished is None:
            return why
        results = ", ".join(finished.results)
        if not self._is_cut_off:
            return f"{why}: {results} was written"
        by = f"{why} ended the bake" if self._signal else f"{why}, so the bake was ended"
        text = f"{by} at step {finished.step}: {results} was written as trained until then"
        # the folder may have been deleted
        if self._kept is None or not Path(self._kept.path).is_file():
            return text
        where = "there" if self._kept.step == finished.step else f"step {self._kept.step}"
        return f"{text}; run again with --resume to continue from {where}"
