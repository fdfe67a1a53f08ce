"""The client of a worker: starts it, exchanges messages, and detects when it does not respond.

No call blocks: reading and writing have their own threads, and `poll` returns what arrived. CPU
time tells a worker that works from one that stands still. The client needs only Python and numpy,
so that it runs in any host.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from subprocess import PIPE
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.process.vitals import Vitals
from verdigris.core.base.process.worker_environment import require_worker_command, start_process
from verdigris.core.worker.client.hosted import HostedWorker, find_hosted
from verdigris.core.worker.client.set_up import describe_unfit
from verdigris.core.worker.protocol.commands import Command, Hello, Quit, command_line
from verdigris.core.worker.protocol.messages import VERSION, Decoder, Fault, Message, encode
from verdigris.core.worker.protocol.streams import IDLE_PATIENCE, INTERVAL, PATIENCE, REST_PATIENCE

_CHUNK = 1 << 16
_LOG_LINES = 12
_PIXEL_TYPES = ("|u1", "<u2", "<f4")
_MODULE = "verdigris.core.worker"
STARTING = "starting"
WELL = "well"
SILENT = "silent"
GONE = "gone"


def worker_command() -> list[str]:
    """The command of a panel's worker, which bakes for the command, too, while it is free."""
    return [*require_worker_command(), "-m", _MODULE, "lends"]


@dataclass(frozen=True)
class Health:
    """The condition of the worker."""

    state: str
    """`starting`, `well`, `silent` (running without a response or progress), or `gone`."""
    reason: str = ""
    """Why the worker is not well, in words for people."""
    is_unfit: bool = False
    """Whether its Python cannot run it."""


class WorkerClient:
    """One worker process: a new one, or a resident one that is free."""

    def __init__(self, command: Sequence[str] | None = None) -> None:
        hosted = None if command else find_hosted()
        chosen = [] if hosted is not None else list(command or worker_command())
        self._process: subprocess.Popen[bytes] | HostedWorker = hosted or _start(chosen)
        self._arrived: deque[Message | Fault] = deque()
        self._leaving: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._log_tail: deque[str] = deque(maxlen=_LOG_LINES)
        self._last_heard = time.monotonic()
        self._patience = PATIENCE
        self._stalled = 0.0
        self._vitals = Vitals(self._process.pid)
        self._greeted = False
        self._is_closing = False
        self._output_ended = False
        # a command of a test need not be a Python
        self._examined = [] if command else chosen
        self._is_examined = not self._examined
        self._unfit = ""
        for name, work in (
            ("read", self._read),
            ("write", self._write),
            ("log", self._log),
            ("examine", self._examine),
        ):
            threading.Thread(target=work, name=f"worker {name}", daemon=True).start()
        self.send(Hello(VERSION))

    def send(self, command: Command) -> None:
        """Sends a command; returns at once."""
        header, payload = command_line(command)
        with self._changed:
            self._leaving.append(encode(header, payload))
            self._changed.notify_all()

    def poll(self) -> list[Message]:
        """The messages since the last call. Invalid input comes as an `error` event."""
        found: list[Message] = []
        while self._arrived:
            item = self._arrived.popleft()
            if isinstance(item, Fault):
                text = f"invalid output of the worker: {item.text}"
                item = Message({"event": "error", "text": text, "kind": "ProtocolError"})
            found.append(item)
        return found

    def health(self) -> Health:
        """The present condition; returns at once."""
        code = self._process.poll()
        if code is not None and not self._is_examined:
            return Health(STARTING)
        if code is not None:
            return Health(GONE, self._unfit or self._describe_exit(code), bool(self._unfit))
        silence = time.monotonic() - self._last_heard
        quiet = max(silence, self._stalled)
        if quiet <= 2 * INTERVAL:
            self._vitals.reset()
            return Health(WELL if self._greeted else STARTING)
        idle = self._vitals.idle_seconds()
        # on a busy machine, one that computes gets little done in a minute
        busy = idle is not None and idle <= PATIENCE
        waited = min(quiet, self._vitals.worked_seconds()) if busy else quiet
        if waited > self._patience_for(idle):
            what = "has not responded" if self._greeted else "has not started"
            if silence < self._stalled:
                what = "has made no progress"
            return Health(SILENT, f"The worker {what} for {quiet:.0f} s.")
        if idle is not None and quiet > PATIENCE and idle > IDLE_PATIENCE:
            # it requested patience and uses no CPU time
            return Health(SILENT, f"The worker has used no CPU time for {idle:.0f} s.")
        return Health(WELL if self._greeted else STARTING)

    def _patience_for(self, idle: float | None) -> float:
        """How long this worker may be quiet. One that uses CPU time lives: on a busy machine, the
        thread of its heartbeat may not run for seconds."""
        if idle is None:
            return max(self._patience, IDLE_PATIENCE)
        return self._patience if idle > PATIENCE else max(self._patience, REST_PATIENCE)

    @property
    def log(self) -> str:
        """The last lines of its standard error."""
        return "\n".join(tuple(self._log_tail))

    def close(self) -> None:
        """Ends the worker in the background."""
        with self._changed:
            if self._is_closing:
                return
            self._leaving.append(encode(command_line(Quit())[0]))
            self._is_closing = True
            self._changed.notify_all()
        threading.Thread(target=self._end, name="worker end", daemon=True).start()

    def kill(self) -> None:
        """Kills the worker. Files on disk stay complete."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._process.kill()

    def wait(self, seconds: float) -> bool:
        """Whether the worker ends within this time."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _end(self, grace: float = 1.0) -> None:
        for end in (self._process.terminate, self._process.kill):
            if self.wait(grace / 2):
                return
            end()

    def _read(self) -> None:
        decoder = Decoder()
        stream = _stream(self._process.stdout)
        while data := _read_chunk(stream):
            self._last_heard = time.monotonic()
            for found in decoder.feed(data):
                if isinstance(found, Message) and not self._note(found.header):
                    continue
                self._arrived.append(found)
        left = decoder.end()
        if left is not None:
            self._arrived.append(left)
        self._output_ended = True

    def _note(self, header: dict[str, Any]) -> bool:
        """Records signs of life. Returns whether others need the message."""
        event = header.get("event")
        if event == "alive":
            self._stalled = _number(header.get("stalled"), 0.0)
            return False
        if event == "hello":
            self._greeted = True
        if event == "state":
            self._stalled = 0.0
            self._patience = _number(header.get("patience"), PATIENCE)
        return True

    def _write(self) -> None:
        stream = _stream(self._process.stdin)
        try:
            while True:
                with self._changed:
                    while not self._leaving:
                        if self._is_closing:
                            return
                        self._changed.wait()
                    view = memoryview(self._leaving.popleft())
                while view:
                    view = view[stream.write(view) or 0 :]
        except (OSError, ValueError):
            return
        finally:
            # the end of its input ends the worker
            with contextlib.suppress(OSError):
                stream.close()

    def _log(self) -> None:
        for line in iter(_stream(self._process.stderr).readline, b""):
            self._log_tail.append(line.decode(errors="replace").rstrip())

    def _examine(self) -> None:
        """Finds out why a worker ended before it responded."""
        code = self._process.wait()
        if code and self._examined and not self._greeted and not self._is_closing:
            self._unfit = describe_unfit(self._examined)
        self._is_examined = True

    def _describe_exit(self, code: int) -> str:
        lines = [line for line in self._log_tail if line.strip()]
        last = f": {lines[-1][:300]}" if lines else "."
        if self._is_closing and code == 0:
            return "The worker has ended."
        if code < 0:
            import signal

            names = {each.value: each.name for each in signal.Signals}
            return f"The worker was killed ({names.get(-code, -code)}){last}"
        return f"The worker has ended (code {code}){last}"


class LaunchError(VerdigrisError):
    """The worker cannot be started."""


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    try:
        return start_process(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, bufsize=0)
    except OSError as failure:
        raise LaunchError(f"{command[0]}: cannot be started: {failure.strerror}") from None


def pixels_of(message: Message) -> NDArray[Any]:
    """The array of a message; empty if its header does not fit its bytes."""
    kind, shape = message.header.get("type"), message.header.get("shape")
    if kind not in _PIXEL_TYPES or not isinstance(shape, list):
        return np.zeros((0, 0), np.uint8)
    try:
        return np.frombuffer(message.payload, kind).reshape([int(side) for side in shape])
    except (TypeError, ValueError):
        return np.zeros((0, 0), np.uint8)


def _number(value: Any, default: float) -> float:
    return float(value) if isinstance(value, int | float) else default


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _read_chunk(stream: IO[bytes]) -> bytes:
    try:
        return stream.read(_CHUNK)
    except (OSError, ValueError):
        return b""
