"""What a bake makes of signals: it ends early, and keeps what there is."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from verdigris.core.errors import EndedError, NothingLearntError
from verdigris.core.training.events import Checkpointed, Event, Finished
from verdigris.core.worker.ending import ending_signals, handled

if TYPE_CHECKING:
    from verdigris.core.training.bake import BakeControl

# Where there is one: a terminal that is closed.
_HANG_UP = getattr(signal, "SIGHUP", None)


class Ending:
    """Asks a bake to end when a signal comes, and knows what came of it.

    Ctrl-C is an artist who has seen enough: the result counts as made. SIGTERM is a machine that
    is wanted for something else, and SIGHUP a terminal that is closed: the result is there, and
    the command has not done its work.
    """

    def __init__(self, control: BakeControl) -> None:
        self._control = control
        self._signal: signal.Signals | None = None
        self._cut_off: Finished | None = None
        self._kept_step: int | None = None
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
            if self._signal is None:
                raise
            raise EndedError(str(failure), self._signal) from None
        if self._signal and self._signal != signal.SIGINT and self._cut_off:
            raise EndedError(self._told(self._cut_off, self._signal), self._signal)

    def noting(self, events: Iterable[Event]) -> Iterator[Event]:
        """The same events, of which the last ones are remembered."""
        for event in events:
            if isinstance(event, Checkpointed):
                self._kept_step = event.step
            elif isinstance(event, Finished):
                self._cut_off = event if event.stopped_by == "request" else None
            yield event

    def _handle(self, number: int, _frame: object) -> None:
        # programs that end a whole group send SIGTERM twice
        if self._control.stop_requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._signal = self._signal or signal.Signals(number)
        self._control.stop()
        if number == _HANG_UP:
            # to write to a terminal that is gone would fail before the result is written
            nowhere = os.open(os.devnull, os.O_WRONLY)
            for terminal in self._terminals:
                os.dup2(nowhere, terminal)
            os.close(nowhere)

    def _told(self, cut_off: Finished, ended_by: signal.Signals) -> str:
        results = ", ".join(cut_off.results)
        at = f"{ended_by.name} ended the bake at step {cut_off.step}"
        text = f"{at}: {results} is what it had learnt by then"
        if self._kept_step is None:
            return text
        where = "there" if self._kept_step == cut_off.step else f"step {self._kept_step}"
        return f"{text}; start it again with --resume to go on from {where}"
