"""How much of the time pictures may take from the training."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

# A little under the tenth that the panel promises: what is sent costs something, too, and so do
# runs of steps that are as short as they are for the panel.
SHARE = 0.075
_MOST_CREDIT = 0.1
_MOST_DEBT = 0.5


class ProcessClock:
    """A clock of what this process does, as seconds of an otherwise idle machine: on a busy one a
    second on the wall says little. For work on processors only: a graphics card does not count."""

    def __init__(self) -> None:
        self._cores = os.cpu_count() or 1
        self._thread, self._process = time.thread_time(), time.process_time()
        self._total = 0.0

    def __call__(self) -> float:
        thread, process = time.thread_time(), time.process_time()
        # alone it takes as long as this thread, and with all the others as the cores can share
        self._total += max(thread - self._thread, (process - self._process) / self._cores)
        self._thread, self._process = thread, process
        return self._total


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
        """All that was booked since the start."""

    def start(self) -> None:
        """From now on time is saved: what was before does not count."""
        self._credit = 0.0
        self._seen = self._clock()

    @property
    def is_left(self) -> bool:
        """Whether something may be spent now."""
        return self.allows(0.0)

    def allows(self, debt: float) -> bool:
        """Whether something may be spent now that can be saved for afterwards."""
        self._save(0.0)
        return self._credit > -debt

    def charge(self, seconds: float) -> None:
        """Books what was just spent; more than there is has to be saved afterwards."""
        self._save(seconds)
        self._credit = max(-_MOST_DEBT, self._credit - seconds)
        self.spent += seconds

    def _save(self, spent: float) -> None:
        """A share of the time since the last call, but for what was spent of it."""
        now = self._clock()
        saved = self._share * max(0.0, now - self._seen - spent)
        self._credit = min(_MOST_CREDIT, self._credit + saved)
        self._seen = now
