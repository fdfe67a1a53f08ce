"""The end of a process that works for another: told by a signal, or because nobody is there any
more, it lets go of what it holds, so that no lock is left behind."""

from __future__ import annotations

import _thread
import contextlib
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

# What has not let go by then ends by force, and is told as often until then.
UNWIND_SECONDS = 0.8
_WAKE_SECONDS = 0.1


class Terminated(BaseException):
    """This process is to end: raised in its main thread, wherever that is."""


def termination_signals() -> list[signal.Signals]:
    """Those that ask a process to end, without those that it was begun deaf to, as by `nohup`."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    there = [signal.Signals[name] for name in names if hasattr(signal, name)]
    return [each for each in there if signal.getsignal(each) != signal.SIG_IGN]


@contextlib.contextmanager
def handled(signals: Iterable[int], handle: Callable[[int, object], None]) -> Iterator[None]:
    """Has signals handled for a while. Elsewhere than in the main thread, where they cannot be,
    whoever runs this has ways of its own."""
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {each: signal.signal(each, handle) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class Termination:
    """Listens, in the main thread, for what ends the process."""

    def __init__(self, code: int = 0) -> None:
        self._code = code
        self._signal: int | None = None
        self._is_called_off = False
        self._is_settled = False
        # the only one that a handler may fill, whatever it interrupts
        self._asked: queue.SimpleQueue[None] = queue.SimpleQueue()
        threading.Thread(target=self._force_end, name="end", daemon=True).start()
        for each in termination_signals():
            signal.signal(each, self._handle)

    def request_end(self, grace: float = 0.0) -> None:
        """Ends the process from another thread, after some seconds in which it may end itself."""
        time.sleep(grace)
        self._is_called_off = True
        _wake_main_thread()
        self.end_by_force()

    def settle(self) -> None:
        """From here on nothing is interrupted: the process is about to end."""
        self._is_settled = True

    def end_by_force(self) -> None:
        """Whatever hangs from here on leaves no process behind."""
        self._asked.put(None)

    def leave(self, code: int | None = None) -> NoReturn:
        """Ends the process as what has told it to; not by way of the interpreter's end, where a
        driver may hang."""
        if self._signal is not None:
            signal.signal(self._signal, signal.SIG_DFL)
            signal.raise_signal(self._signal)
        os._exit(self._code if code is None else code)

    def _handle(self, number: int, _frame: object) -> None:
        if not self._is_called_off:
            self._signal = self._signal or number
        self.end_by_force()
        if not self._is_settled:
            raise Terminated

    def _force_end(self) -> None:
        """Ends the process by force; until then it is told again, since libraries in C swallow what
        is raised while they import others."""
        self._asked.get()
        end = time.monotonic() + UNWIND_SECONDS
        while time.monotonic() < end:
            time.sleep(_WAKE_SECONDS)
            if not self._is_settled:
                _wake_main_thread()
        os._exit(self._code if self._signal is None else 128 + self._signal)


def _wake_main_thread() -> None:
    main = threading.main_thread().ident
    if sys.platform != "win32" and main is not None:
        # also out of what it waits for
        signal.pthread_kill(main, signal.SIGTERM)
    else:
        _thread.interrupt_main(signal.SIGTERM)
