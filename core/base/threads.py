"""Threads of this process, also those of libraries, as the system numbers them.

Linux tells them apart and lets each be kept to some processors; elsewhere there are none here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path


def running_threads() -> frozenset[int]:
    """All that run now."""
    try:
        return frozenset(int(each.name) for each in Path("/proc/self/task").iterdir())
    except OSError:
        return frozenset()


def processors_of(threads: Iterable[int]) -> dict[int, set[int]]:
    """On which processors each of them may run; those that have ended are left out."""
    found = {}
    if sys.platform == "linux":
        for thread in threads:
            with suppress(OSError):
                found[thread] = os.sched_getaffinity(thread)
    return found


def keep_to(thread: int, processors: Collection[int]) -> None:
    """Lets a thread run on these alone; one that has ended does not matter."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.sched_setaffinity(thread, processors)
