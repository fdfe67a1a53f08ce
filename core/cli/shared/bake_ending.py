"""What a bake makes of signals, and of a reader that goes away: it ends early, and keeps what there
is."""

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
from verdigris.core.base.outputs import let_go_of
from verdigris.core.base.termination import ending_signals, handled
from verdigris.core.cli.shared.event_output import LostOutputError
from verdigris.core.progress.events import Checkpointed, Event, Finished

if TYPE_CHECKING:
    from verdigris.core.baking.bake import BakeControl

# Where there is one: a terminal that is closed.
_HANG_UP = getattr(signal, "SIGHUP", None)


class Ending:
    """Asks a bake to end when a signal comes, or nobody takes what it prints, and knows what came
    of it.

    Ctrl-C is an artist who has seen enough: the result counts as made. SIGTERM is a machine that
    is wanted for something else, SIGHUP a terminal that is closed, and an output that nobody takes
    a program that is gone: the result is there, and the command has not done its work.
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
        """The first signal asks the bake to end, a Ctrl-C after it ends the program."""
        self._terminals = [each for each in (1, 2) if os.isatty(each)]
        try:
            # the first two also where a shell has begun it in the background, deaf to Ctrl-C
            with handled({signal.SIGINT, signal.SIGTERM, *ending_signals()}, self._handle):
                yield
        except NothingLearntError as failure:
            if number := self._number:
                raise EndedError(str(failure), number) from None
            raise
        if self._why_lost or (self._signal != signal.SIGINT and self._is_cut_off):
            raise EndedError(self._told(), self._number)

    def show(self, show: Callable[[Iterable[Event]], None], events: Iterable[Event]) -> None:
        """Shows events, of which the last ones are remembered, for as long as they are taken."""
        noted = self._noting(events)
        try:
            show(noted)
        except LostOutputError as lost:
            self._why_lost = str(lost)
            self._control.stop()
            # an output that is no file, as of tests, has no number
            with contextlib.suppress(OSError, ValueError):
                let_go_of([sys.stdout.fileno()])
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
        """Of the signal that the command ends by; 0 if by none."""
        return self._signal or (BROKEN_PIPE if self._why_lost else 0)

    @property
    def _is_cut_off(self) -> bool:
        return self._finished is not None and self._finished.stopped_by == "request"

    def _handle(self, number: int, _frame: object) -> None:
        # programs that end a whole group send SIGTERM twice
        if self._control.stop_requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._signal = self._signal or signal.Signals(number)
        self._control.stop()
        if number == _HANG_UP:
            # to write to a terminal that is gone would fail before the result is written
            let_go_of(self._terminals)

    def _told(self) -> str:
        why = self._signal.name if self._signal else f"nobody takes the output ({self._why_lost})"
        finished = self._finished
        if finished is None:
            return why
        results = ", ".join(finished.results)
        if not self._is_cut_off:
            return f"{why}: {results} is written"
        by = f"{why} ended the bake" if self._signal else f"{why}: the bake was ended"
        text = f"{by} at step {finished.step}: {results} is what it had learnt by then"
        # somebody may have taken the folder away
        if self._kept is None or not Path(self._kept.path).is_file():
            return text
        where = "there" if self._kept.step == finished.step else f"step {self._kept.step}"
        return f"{text}; start it again with --resume to go on from {where}"
