"""What a bake makes of signals: it ends early, and keeps what there is."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from verdigris.core.errors import EndedError, NothingLearntError
from verdigris.core.training.events import Checkpointed, Event, Finished

if TYPE_CHECKING:
    from verdigris.core.training.bake import BakeControl


class Ending:
    """Asks a bake to end when a signal comes, and knows what came of it.

    Ctrl-C is an artist who has seen enough: the result counts as made. SIGTERM is a machine that
    is wanted for something else: the result is there, and the command has not done its work.
    """

    def __init__(self, control: BakeControl) -> None:
        self._control = control
        self._signal: signal.Signals | None = None
        self._cut_off: Finished | None = None
        self._kept_step: int | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """The first signal asks the bake to end, a Ctrl-C after it ends the program."""
        both = signal.SIGINT, signal.SIGTERM
        before = {each: signal.signal(each, self._handle) for each in both}
        try:
            yield
        except NothingLearntError as failure:
            if self._signal is None:
                raise
            raise EndedError(str(failure), self._signal) from None
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
        if self._signal == signal.SIGTERM and self._cut_off:
            raise EndedError(self._told(self._cut_off), self._signal)

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

    def _told(self, cut_off: Finished) -> str:
        results = ", ".join(cut_off.results)
        at = f"SIGTERM ended the bake at step {cut_off.step}"
        text = f"{at}: {results} is what it had learnt by then"
        if self._kept_step is None:
            return text
        where = "there" if self._kept_step == cut_off.step else f"step {self._kept_step}"
        return f"{text}; start it again with --resume to go on from {where}"
