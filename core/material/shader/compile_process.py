"""Asks a process of its own about shaders: an untrusted shader may hang or crash the compiler or
the device. The process starts when it is first needed, and again after its end.
"""

from __future__ import annotations

import atexit
import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from subprocess import PIPE
from typing import IO, Any

from verdigris.core.base.errors import DocumentError
from verdigris.core.base.json_fields import load_json
from verdigris.core.base.process.worker_environment import require_worker_command, start_process

MODULE = "verdigris.core.material.trial.answer"
# Seconds that a phase may take. A shader that compiles for longer would delay each bake.
LIMITS = {"start": 120.0, "compile": 90.0, "run": 20.0}
# Seconds after which a process without a question ends.
MOST_IDLE = 30.0
# Seconds that the process takes at most to end by itself.
_TO_END = 5.0
_TOO_LONG = {
    "start": "the process that compiles shaders has not started after {0:.0f} s: try again",
    "compile": "it does not compile within {0:.0f} s: make loops, arrays and includes smaller",
    "run": "64 evaluations have not ended after {0:.0f} s: does a loop never end?",
}
_CRASHED = {
    "start": "the process that compiles shaders does not start",
    "compile": "the compiler crashed: make the shader simpler, step by step",
    "run": "the device failed while it evaluated the shader: check loops and indices",
}


class CompileProcess:
    """The process, with one question at a time. It ends when it has been idle."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._one_at_a_time = threading.Lock()
        self._rest = threading.Timer(0, self.close)

    def ask(self, question: Mapping[str, Any], name: str) -> dict[str, Any]:
        """The answer. Raises DocumentError for what is wrong with the shader called `name`."""
        with self._one_at_a_time:
            self._rest.cancel()
            try:
                return self._ask(json.dumps(question).encode(), name)
            finally:
                self._rest = threading.Timer(MOST_IDLE, self._close_idle)
                self._rest.daemon = True
                self._rest.start()

    def _close_idle(self) -> None:
        """Ends the process, which holds a device, unless it has a question."""
        if self._one_at_a_time.acquire(blocking=False):
            try:
                self.close()
            finally:
                self._one_at_a_time.release()

    def _ask(self, question: bytes, name: str) -> dict[str, Any]:
        process = self._started()
        assert process.stdin is not None
        try:
            process.stdin.write(question + b"\n")
            process.stdin.flush()
        except OSError:
            self.close()
            raise DocumentError(f"{name}: {_CRASHED['start']}") from None
        phase = "start"
        while True:
            found = self._next(phase, name)
            if "phase" not in found:
                break
            phase = str(found["phase"])
        if "error" in found:
            raise DocumentError(str(found["error"]))
        return found

    def _next(self, phase: str, name: str) -> dict[str, Any]:
        limit = LIMITS[phase]
        end = time.monotonic() + limit
        try:
            line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            self.close(is_stuck=True)
            raise DocumentError(f"{name}: {_TOO_LONG[phase].format(limit)}") from None
        if not line:
            self.close()
            raise DocumentError(f"{name}: {_CRASHED[phase]}")
        found: dict[str, Any] = load_json(line, name, DocumentError)
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        command = [*require_worker_command(), "-m", MODULE]
        self._lines = queue.Queue()
        self._process = start_process(command, stdin=PIPE, stdout=PIPE)
        assert self._process.stdout is not None
        reader = (self._process.stdout, self._lines)
        threading.Thread(target=_read, args=reader, name="shaders", daemon=True).start()
        return self._process

    @property
    def is_running(self) -> bool:
        """Whether there is a process now."""
        return self._process is not None

    def close(self, is_stuck: bool = False) -> None:
        """Ends the process: by the end of its input, unless it is stuck. A killed process would
        keep its place in the cache of compiled kernels, which has few."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(0 if is_stuck else _TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _read(stream: IO[bytes], lines: queue.Queue[bytes]) -> None:
    try:
        for line in stream:
            lines.put(line)
    except (OSError, ValueError):
        pass
    lines.put(b"")


COMPILE_PROCESS = CompileProcess()
atexit.register(COMPILE_PROCESS.close)
