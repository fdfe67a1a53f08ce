"""Heartbeats of the worker, with the time since its last progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from verdigris.core.worker.protocol.worker_events import Alive

INTERVAL = 0.4
# Seconds of silence after which the other side reports the worker as silent.
PATIENCE = 2.0
# The same while nothing trains: a part of a large picture takes seconds on a busy machine, and a
# worker that stands still is found by its processor time.
REST_PATIENCE = 60.0
# The same while compilers, or the measurement of a result, hold the interpreter.
LONG_PATIENCE = 120.0
# But a process without processor time for this long is reported earlier.
IDLE_PATIENCE = 8.0


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
