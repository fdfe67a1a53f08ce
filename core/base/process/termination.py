"""Orderly termination of a worker process by a signal, or when its parent has ended. The process
releases its locks before it ends."""

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

from verdigris.core.base.process.profile import write_profile

# Seconds until the process is ended by force, and between two attempts to interrupt its main
# thread.
UNWIND_SECONDS = 0.8
_WAKE_SECONDS = 0.1


class Terminated(BaseException):
    """Raised in the main thread to end the process."""


def termination_signals() -> list[signal.Signals]:
    """Signals that end a process, without those that it ignores since its start, as with
    `nohup`."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    there = [signal.Signals[name] for name in names if hasattr(signal, name)]
    return [each for each in there if signal.getsignal(each) != signal.SIG_IGN]


@contextlib.contextmanager
def handled(signals: Iterable[int], handle: Callable[[int, object], None]) -> Iterator[None]:
    """Handles signals inside the context, in the main thread. In other threads it does nothing."""
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        before = {each: signal.signal(each, handle) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class Termination:
    """Ends the process by a signal, a request or force."""

    def __init__(self, code: int = 0) -> None:
        self.code = code
        """The exit code without a signal."""
        self._signal: int | None = None
        self._is_requested = False
        self._is_settled = False
        # the only queue that signal handlers may use
        self._forced: queue.SimpleQueue[None] = queue.SimpleQueue()
        threading.Thread(target=self._force_end, name="end", daemon=True).start()
        for each in termination_signals():
            signal.signal(each, self._handle)

    def request_end(self, grace: float = 0.0) -> None:
        """Ends the process from another thread, after a grace period."""
        time.sleep(grace)
        self._is_requested = True
        _wake_main_thread()
        self.end_by_force()

    def settle(self) -> None:
        """Stops interruptions: the process is about to end."""
        self._is_settled = True

    def end_by_force(self) -> None:
        """Ends the process by force if it has not ended soon."""
        self._forced.put(None)

    def leave(self, code: int | None = None) -> NoReturn:
        """Ends the process by its signal or with an exit code. This skips the interpreter's
        clean-up, in which a driver can hang."""
        write_profile()
        if self._signal is not None:
            signal.signal(self._signal, signal.SIG_DFL)
            signal.raise_signal(self._signal)
        os._exit(self.code if code is None else code)

    def _handle(self, number: int, _frame: object) -> None:
        if not self._is_requested:
            self._signal = self._signal or number
        self.end_by_force()
        if not self._is_settled:
            raise Terminated

    def _force_end(self) -> None:
        """Ends the process by force after a while. Until then it repeats the interruption, because
        C libraries drop exceptions during imports."""
        self._forced.get()
        end = time.monotonic() + UNWIND_SECONDS
        while time.monotonic() < end:
            time.sleep(_WAKE_SECONDS)
            if not self._is_settled:
                _wake_main_thread()
        os._exit(self.code if self._signal is None else 128 + self._signal)


def _wake_main_thread() -> None:
    main = threading.main_thread().ident
    if sys.platform != "win32" and main is not None:
        # also interrupts system calls
        signal.pthread_kill(main, signal.SIGTERM)
    else:
        _thread.interrupt_main(signal.SIGTERM)
