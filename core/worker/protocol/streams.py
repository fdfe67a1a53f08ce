"""Messages of a worker: what it reads, what it writes, and its heartbeat.

Libraries that print, from Python or C, would corrupt messages. So the standard streams are moved:
prints go to standard error, and reads return nothing.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import BinaryIO

from verdigris.core.worker.protocol.commands import (
    Command,
    Quit,
    Range,
    SetImportance,
    SetView,
    parse,
)
from verdigris.core.worker.protocol.messages import (
    Decoder,
    Fault,
    Message,
    ProtocolError,
    command_named,
    encode,
)
from verdigris.core.worker.protocol.worker_events import Alive

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_CHUNK = 1 << 16
# Seconds of a wait for a command: a signal that comes just before a wait is handled after it.
_LONGEST_WAIT = 0.2
# If commands with one of these types follow each other, only the last is kept.
_REPLACEABLE = (SetView, SetImportance, Range)
# Seconds between heartbeats.
INTERVAL = 0.4
# Seconds of silence after which the other side reports the worker as silent.
PATIENCE = 2.0
# While nothing trains it is longer: a part of a large picture takes seconds on a busy machine, and
# a worker that stands still is found by its CPU time.
REST_PATIENCE = 60.0
# Compilers, and the measurement of a result, hold the interpreter for longer.
LONG_PATIENCE = 120.0
# But a process without CPU time for this long is reported earlier.
IDLE_PATIENCE = 8.0


def take_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """Moves standard input and output; returns them as files."""
    sys.stdout.flush()
    incoming, outgoing = os.dup(_STDIN), os.dup(_STDOUT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STDIN)
    os.close(nothing)
    os.dup2(_STDERR, _STDOUT)
    sys.stdout = sys.stderr
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(incoming, os.O_BINARY)
        msvcrt.setmode(outgoing, os.O_BINARY)
    return os.fdopen(incoming, "rb", buffering=0), os.fdopen(outgoing, "wb", buffering=0)


class Outbox:
    """Writes messages in its own thread, so that a slow reader does not slow the training. If
    several messages with the same `replaces` wait, only the newest is kept. When the reader closes
    the output, `on_closed` is called once, in that thread."""

    def __init__(self, stream: BinaryIO, on_closed: Callable[[], None]) -> None:
        self._stream = stream
        self._on_closed = on_closed
        self._waiting: deque[tuple[str, bytes]] = deque()
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(target=self._write, name="write", daemon=True)
        self._thread.start()

    def post(self, header: dict[str, object], payload: bytes = b"", replaces: str = "") -> None:
        data = encode(header, payload)
        with self._changed:
            if self._is_closed:
                return
            if replaces:
                self._waiting = deque(item for item in self._waiting if item[0] != replaces)
            self._waiting.append((replaces, data))
            self._changed.notify_all()

    def close(self, seconds: float) -> None:
        """Writes waiting messages for at most this many seconds."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._thread.join(seconds)

    def _write(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    if self._is_closed:
                        return
                    self._changed.wait()
                _, data = self._waiting.popleft()
            view = memoryview(data)
            try:
                while view:
                    view = view[self._stream.write(view) or 0 :]
            except OSError:
                with self._changed:
                    self._is_closed = True
                    self._waiting.clear()
                self._on_closed()
                return


class Inbox:
    """Received commands and faults, in order."""

    def __init__(self) -> None:
        self._items: deque[Command | Fault] = deque()
        self._changed = threading.Condition()
        self._is_woken = False

    def read(self, stream: BinaryIO) -> None:
        """Reads until the input ends or reading fails. Either ends the worker."""
        try:
            self._read(stream)
        finally:
            self.put(Quit())

    def _read(self, stream: BinaryIO) -> None:
        decoder = Decoder()
        while not decoder.is_broken:
            try:
                data = stream.read(_CHUNK)
            except OSError:
                break
            if not data:
                break
            for found in decoder.feed(data):
                self.put(found if isinstance(found, Fault) else _parsed(found))
        left = decoder.end()
        if left is not None:
            self.put(left)

    def put(self, item: Command | Fault) -> None:
        with self._changed:
            last = self._items[-1] if self._items else None
            if isinstance(item, _REPLACEABLE) and type(last) is type(item):
                self._items.pop()
            self._items.append(item)
            self._changed.notify_all()

    def wake(self) -> None:
        """Ends a wait: there is other work."""
        with self._changed:
            self._is_woken = True
            self._changed.notify_all()

    def take(self, waits: bool) -> Command | Fault | None:
        """The next item; None if there is none and `waits` is false, or after `wake`."""
        with self._changed:
            while waits and not self._items and not self._is_woken:
                self._changed.wait(_LONGEST_WAIT)
            self._is_woken = False
            return self._items.popleft() if self._items else None


def _parsed(message: Message) -> Command | Fault:
    try:
        return parse(message)
    except ProtocolError as failure:
        return Fault(str(failure), command=command_named(message.header))


class Heartbeat:
    """Posts heartbeats from its own thread. The worker's loop records progress."""

    def __init__(self, post: Callable[[Alive], None]) -> None:
        self._post = post
        self._touched = time.monotonic()
        self._ended = threading.Event()
        self.is_idle = True
        threading.Thread(target=self._beat, name="heartbeat", daemon=True).start()

    def touch(self, is_idle: bool = False) -> None:
        self._touched = time.monotonic()
        self.is_idle = is_idle

    def end(self) -> None:
        self._ended.set()

    def _beat(self) -> None:
        while not self._ended.wait(INTERVAL):
            stood = 0.0 if self.is_idle else time.monotonic() - self._touched
            self._post(Alive(round(stood, 2)))
