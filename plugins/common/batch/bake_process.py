"""Runs one `verdigris bake` in the worker's Python and reports its events.

The first signal ends the running bake, which keeps its result; a second Ctrl-C ends the batch at
once.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from subprocess import PIPE
from typing import IO, Any

from verdigris.core.base.errors import HostError
from verdigris.core.base.json_fields import find_json
from verdigris.core.base.process.termination import handled, termination_signals
from verdigris.core.base.process.worker_environment import start_process

Event = dict[str, Any]
Report = Callable[[Event | None], None]
"""Takes each event, and None from time to time while there is none."""
RESULTS = ("finished", "up_to_date")
_POLL = 0.5
_TAIL_LINES = 20
_READ_SECONDS = 5.0


class Interruption:
    """The signals of a batch, and its running bake."""

    def __init__(self) -> None:
        self.number = 0
        """The first signal; 0 if there was none."""
        self._running: subprocess.Popen[bytes] | None = None

    @property
    def is_requested(self) -> bool:
        return self.number != 0

    @property
    def exit_code(self) -> int:
        return 128 + self.number

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Handles signals. It begins after the application has started, which may replace
        handlers."""
        with handled({signal.SIGINT, signal.SIGTERM, *termination_signals()}, self._handle):
            yield

    @contextlib.contextmanager
    def ends(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """Ends this process on a signal, and at the latest at the end of the context."""
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
            # its own group, with all processes that it has started
            os.killpg(process.pid, signal.SIGKILL)


@dataclass(frozen=True)
class Ended:
    """The end of a bake."""

    code: int
    result: Event | None = None
    """The event with the bundles; None if the bake wrote none."""
    error: str = ""
    """The last line of its errors."""
    warnings: tuple[str, ...] = ()
    """What the artist should know about the bake."""


def run_bake(command: list[str], report: Report, interruption: Interruption) -> Ended:
    """Runs a bake to its end."""
    try:
        # Ctrl-C goes to the batch only, which ends the bake
        process = start_process(command, stdout=PIPE, stderr=PIPE, is_apart=True)
    except OSError as failure:
        raise HostError(f"{command[0]}: cannot be started: {failure.strerror}") from None
    lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    errors: deque[str] = deque(maxlen=_TAIL_LINES)
    assert process.stdout and process.stderr
    readers = (
        threading.Thread(target=_read, args=(process.stdout, lines.put), daemon=True),
        threading.Thread(target=_read, args=(process.stderr, _appending(errors)), daemon=True),
    )
    with process.stdout, process.stderr, interruption.ends(process):
        for reader in readers:
            reader.start()
        result, warnings = _follow(lines, report)
        process.wait()
        for reader in readers:
            reader.join(_READ_SECONDS)
    error = errors[-1].removeprefix("verdigris: ") if errors else ""
    return Ended(process.returncode, result, error, tuple(dict.fromkeys(warnings)))


def _follow(
    lines: queue.SimpleQueue[bytes | None], report: Report
) -> tuple[Event | None, list[str]]:
    """Reports events until the output ends. Returns the event with the result, and the warnings."""
    result, warnings = None, []
    while True:
        try:
            line = lines.get(timeout=_POLL)
        except queue.Empty:
            report(None)
            continue
        if line is None:
            return result, warnings
        event = _parse(line)
        if event is not None:
            report(event)
            if event["event"] in RESULTS:
                result = event
            elif event["event"] == "warning":
                warnings.append(str(event.get("text")))


def _parse(line: bytes) -> Event | None:
    event = find_json(line)
    is_event = isinstance(event, dict) and isinstance(event.get("event"), str)
    return event if is_event else None


def _read(stream: IO[bytes], take: Callable[[bytes | None], None]) -> None:
    with contextlib.suppress(OSError, ValueError):
        for line in stream:
            take(line)
    take(None)


def _appending(errors: deque[str]) -> Callable[[bytes | None], None]:
    def take(line: bytes | None) -> None:
        text = (line or b"").decode("utf-8", "replace").strip()
        if text:
            errors.append(text)

    return take
