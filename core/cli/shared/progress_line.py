"""One line on a terminal that shows the current work."""

from __future__ import annotations

import sys
import time

_LINE_SECONDS = 0.2


class ProgressLine:
    """Shows nothing where the error output is no terminal."""

    def __init__(self) -> None:
        self._last = 0.0

    def show(self, what: str, part: float) -> None:
        now = time.monotonic()
        if now - self._last < _LINE_SECONDS or not sys.stderr.isatty():
            return
        self._last = now
        print(f"\r\x1b[K{what}: {part:.0%}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._last:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
