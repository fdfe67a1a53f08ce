"""When something that a bake does now and then is due again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# The part of all time that it may take: a large texture takes seconds to copy and to write.
_SHARE = 0.05


class Pace:
    """Not sooner than wanted, and not so often that it takes more than its share of the time."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`seconds` from one to the next; 0 is as often as can be, whatever it takes."""
        self._seconds, self._clock = seconds, clock
        self._since, self._took = clock(), 0.0
        self._is_first = True

    @property
    def is_due(self) -> bool:
        wait = max(self._seconds, self._took / _SHARE) if self._seconds else 0.0
        return self._clock() - self._since > wait

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Around what is done; the wait for the next one begins behind it."""
        begun = self._clock()
        yield
        self._since = self._clock()
        # the first one may have compiled something
        self._took = 0.0 if self._is_first else self._since - begun
        self._is_first = False
