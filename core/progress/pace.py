"""Schedules what a bake repeats: checkpoints, measurements, pictures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Largest part of the time that it may take: copying and writing a large texture takes seconds.
_SHARE = 0.05


class Pace:
    """An interval in seconds, which grows if the action takes more than its share of the time."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`seconds` is the interval; 0 repeats the action as often as possible."""
        self._seconds, self._clock = seconds, clock
        self._since, self._took = clock(), 0.0
        self._is_first = True

    @property
    def is_due(self) -> bool:
        wait = max(self._seconds, self._took / _SHARE) if self._seconds else 0.0
        return self._clock() - self._since > wait

    def restart(self) -> None:
        """Begins an interval now."""
        self._since = self._clock()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Encloses the action; the next interval begins at its end."""
        begun = self._clock()
        yield
        self._since = self._clock()
        # the first action may include compilation
        self._took = 0.0 if self._is_first else self._since - begun
        self._is_first = False
