"""A processor for the thread that trains, while a software device draws samples on the others.

Such a device has a thread for each processor. On two, that which trains is one of three, and gets
two thirds of what it could have, although it is the one that all wait for.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from verdigris.core.base.processor import find_affinities, pin_thread

# Some are late by chance, as where other processes run for a moment: a second's worth tell.
_JUDGED_BLOCKS = 32


class CoreReservation:
    """Keeps a device's threads off one processor while steps are done. Samples that take longer to
    draw than to train need all of them: where most came late, this has ended for good."""

    def __init__(self, device_threads: Sequence[int]) -> None:
        self._usual = find_affinities(device_threads)
        self._is_wanted = bool(self._usual) and min(map(len, self._usual.values())) > 1
        self._late: deque[bool] = deque(maxlen=_JUDGED_BLOCKS)

    @contextmanager
    def hold(self) -> Iterator[None]:
        if not self._is_wanted:
            yield
            return
        for thread, usual in self._usual.items():
            pin_thread(thread, _all_but_one(usual))
        try:
            yield
        finally:
            for thread, usual in self._usual.items():
                pin_thread(thread, usual)
            self._is_wanted = 2 * sum(self._late) <= _JUDGED_BLOCKS

    def record_lateness(self, is_late: bool) -> None:
        """Whether samples were still being drawn when as many had been trained."""
        self._late.append(is_late)


def _all_but_one(processors: set[int]) -> list[int]:
    """Bakes that run beside each other mostly leave out different ones."""
    ordered = sorted(processors)
    del ordered[os.getpid() % len(ordered)]
    return ordered
