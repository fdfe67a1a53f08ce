"""Reserves a core for the training thread while a software device draws samples on the others.

A software device has a thread on each core. On two cores, three threads would compete, and the
training thread, for which the others wait, would get two thirds of a core.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from verdigris.core.base.process.processor import find_affinities, pin_thread

# Blocks of the decision, about one second: single blocks are late by chance.
_JUDGED_BLOCKS = 32


class CoreReservation:
    """Keeps the threads of a device off one core during training. If most blocks of samples are
    late, drawing needs all cores, and the reservation ends for good."""

    def __init__(self, device_threads: Sequence[int]) -> None:
        self._affinities = find_affinities(device_threads)
        self._is_active = bool(self._affinities) and min(map(len, self._affinities.values())) > 1
        self._late: deque[bool] = deque(maxlen=_JUDGED_BLOCKS)

    @contextmanager
    def hold(self) -> Iterator[None]:
        if not self._is_active:
            yield
            return
        for thread, allowed in self._affinities.items():
            pin_thread(thread, _omit_one(allowed))
        try:
            yield
        finally:
            for thread, allowed in self._affinities.items():
                pin_thread(thread, allowed)
            self._is_active = 2 * sum(self._late) <= _JUDGED_BLOCKS

    def record_lateness(self, is_late: bool) -> None:
        """Records whether the next block was still being drawn at the end of a block."""
        self._late.append(is_late)


def _omit_one(processors: set[int]) -> list[int]:
    """Omits one core, mostly a different one in each process."""
    ordered = sorted(processors)
    del ordered[os.getpid() % len(ordered)]
    return ordered
