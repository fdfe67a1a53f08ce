"""Work that is too long for the thread of the panel, and must come back to it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from verdigris.core.base.errors import VerdigrisError


class Background:
    """Runs functions on threads of their own; `poll` hands their results over, on its caller's."""

    def __init__(self) -> None:
        self._done: deque[Callable[[], None]] = deque()
        self._running = 0

    @property
    def is_busy(self) -> bool:
        return self._running > 0

    def run(
        self,
        work: Callable[[], Any],
        then: Callable[[Any], None],
        failed: Callable[[VerdigrisError], None],
    ) -> None:
        """`work` must touch nothing that belongs to the host's scene."""
        self._running += 1

        def act() -> None:
            try:
                result = work()
            except VerdigrisError as failure:
                self._done.append(lambda told=failure: failed(told))
            except Exception as failure:  # noqa: BLE001 - the panel must hear of it
                told = VerdigrisError(f"internal error: {failure!r}")
                self._done.append(lambda: failed(told))
            else:
                self._done.append(lambda: then(result))

        threading.Thread(target=act, name="panel work", daemon=True).start()

    def poll(self) -> None:
        while self._done:
            self._running -= 1
            self._done.popleft()()
