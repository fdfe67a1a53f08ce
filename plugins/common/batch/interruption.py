"""Ends a batch on a signal: the first ends the running bake, which keeps its result, and a second
Ctrl-C ends all at once."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

from verdigris.core.base.process.termination import handled, termination_signals


class Interruption:
    """The signals of a batch, and its running bake."""

    def __init__(self) -> None:
        self.number = 0
        """The first signal; 0 without."""
        self._running: subprocess.Popen[bytes] | None = None

    @property
    def is_requested(self) -> bool:
        return self.number != 0

    @property
    def exit_code(self) -> int:
        return 128 + self.number

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Handles signals. The application may have replaced handlers when it was started, so this
        begins after it."""
        with handled({signal.SIGINT, signal.SIGTERM, *termination_signals()}, self._handle):
            yield

    @contextlib.contextmanager
    def ends(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """Ends this process on a signal, and at the latest with the context."""
        self._running = process
        try:
            if self.is_requested:
                self._end_running()
            yield
        finally:
            self._running = None
            if process.poll() is None:
                _kill(process)
            process.wait()

    def _handle(self, number: int, _frame: object) -> None:
        # a program that ends a process group may send SIGTERM twice
        if self.is_requested and number == signal.SIGINT:
            if self._running:
                _kill(self._running)
            raise KeyboardInterrupt
        if not self.is_requested:
            self.number = int(number)
            self._end_running()

    def _end_running(self) -> None:
        """Asks the bake to end. It writes what it has trained, and exits."""
        # on Windows, Ctrl-C reaches all processes of the terminal
        if self._running and sys.platform != "win32":
            self._running.send_signal(signal.SIGINT)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            # its own group, with all that it has started
            os.killpg(process.pid, signal.SIGKILL)
