"""Tells the other side that the worker lives, and how long its work has stood still."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from verdigris.core.worker.protocol.worker_events import Alive

INTERVAL = 0.4
# What the other side lets pass in silence before it calls the worker hung.
PATIENCE = 2.0
# Compilers, and a device that measures a whole result, hold Python's interpreter for as long.
LONG_PATIENCE = 120.0
# But not if the process uses no processor time meanwhile: then it waits for what never comes.
IDLE_PATIENCE = 8.0


class Heartbeat:
    """Beats on a thread of its own. The worker's loop touches it whenever it gets on."""

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
