"""How much of the time pictures may take from the training."""

from __future__ import annotations

import time
from collections.abc import Callable

# A little under the tenth that the panel promises: what is sent costs something, too.
SHARE = 0.08
_MOST_CREDIT = 0.1
_MOST_DEBT = 0.5


class Budget:
    """Time is saved up while training goes on, and spent on pictures."""

    def __init__(
        self, share: float = SHARE, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._share = share
        self._clock = clock
        self._credit = 0.0
        self._seen = clock()
        self.spent = 0.0

    def start(self) -> None:
        """From now on time is saved: none for what was before."""
        self._seen = self._clock()

    @property
    def is_left(self) -> bool:
        """Whether something may be spent now."""
        now = self._clock()
        self._credit = min(_MOST_CREDIT, self._credit + self._share * (now - self._seen))
        self._seen = now
        return self._credit > 0

    def charge(self, seconds: float) -> None:
        """Books what was spent; more than there is has to be saved afterwards."""
        self._credit = max(-_MOST_DEBT, self._credit - seconds)
        self.spent += seconds
        self._seen = self._clock()
