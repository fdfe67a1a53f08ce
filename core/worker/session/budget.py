"""The share of time that pictures may take from training."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from verdigris.core.base.process.processor import usable_processors

# Below a twelfth, which the panel promises: errors, sending pictures and short runs of steps cost,
# too.
SHARE = 0.04
_MOST_CREDIT = 0.1
_MOST_DEBT = 0.5


class ProcessClock:
    """A clock for the work of this process, in seconds of an otherwise idle machine: on a busy one,
    elapsed time says little. It measures work on the CPU only."""

    def __init__(self) -> None:
        self._cores = usable_processors()
        self._thread, self._process = time.thread_time(), time.process_time()
        self._total = 0.0

    def __call__(self) -> float:
        thread, process = time.thread_time(), time.process_time()
        # alone it takes this thread's time; with other threads, their time divided by the cores
        self._total += max(thread - self._thread, (process - self._process) / self._cores)
        self._thread, self._process = thread, process
        return self._total


class Pace:
    """Compares the time that work takes with the time that it would take on an idle machine."""

    def __init__(self) -> None:
        self._clock = ProcessClock()
        self.seconds = self.idle = 0.0

    @contextmanager
    def measure(self) -> Iterator[None]:
        begun, idle = time.perf_counter(), self._clock()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - begun
            self.idle += self._clock() - idle

    def take(self) -> tuple[float, float]:
        """Both times since the last call."""
        found = self.seconds, self.idle
        self.seconds = self.idle = 0.0
        return found


class Turns:
    """Turns of two kinds of work. The second one begins, and then gets as much time as the first
    one has taken, up to a limit."""

    def __init__(self, most: float = 1.0) -> None:
        self._most = self._owed = most

    @property
    def is_owed(self) -> bool:
        """Whether it is the turn of the second."""
        return self._owed > 0

    def earn(self, work: Callable[[], None]) -> None:
        begun = time.perf_counter()
        work()
        self._owed = min(self._most, time.perf_counter() - begun)

    def spend(self, work: Callable[[], None]) -> None:
        begun = time.perf_counter()
        work()
        self._owed -= time.perf_counter() - begun


class Budget:
    """Saves time during training, and spends it on pictures."""

    def __init__(
        self, share: float = SHARE, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._share = share
        self._clock = clock
        self._credit = 0.0
        self._seen = clock()
        self.spent = 0.0
        """Seconds charged since the start."""

    def start(self) -> None:
        """Starts saving from zero."""
        self._credit = 0.0
        self._seen = self._clock()

    @property
    def is_left(self) -> bool:
        """Whether there is time to spend."""
        return self.allows(0.0)

    def allows(self, debt: float) -> bool:
        """Whether time may be spent in advance, up to this debt."""
        self._save(0.0)
        return self._credit > -debt

    def charge(self, seconds: float) -> None:
        """Charges time. What was not saved before must be saved afterwards."""
        self._save(seconds)
        self._credit = max(-_MOST_DEBT, self._credit - seconds)
        self.spent += seconds

    def _save(self, spent: float) -> None:
        """Saves a share of the time since the last call, without the time spent."""
        now = self._clock()
        saved = self._share * max(0.0, now - self._seen - spent)
        self._credit = min(_MOST_CREDIT, self._credit + saved)
        self._seen = now
