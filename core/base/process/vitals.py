"""Signs of life of another process, as the system reports them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

# A compiler uses more CPU time than this, even with a hundredth of the machine; a process that
# waits uses less.
_LEAST_WORK = 0.05
# /proc counts in hundredths of a second on every Linux that Python supports.
_TICKS = 100.0
_STATE, _UTIME = 0, 11


def is_stopped(process: int) -> bool:
    """Whether a process is stopped by a signal or a debugger, or has ended. False where the system
    does not report it."""
    if not sys.platform.startswith("linux"):
        return False
    fields = _fields(process)
    return fields is None or fields[_STATE] in "TtZX"


def _fields(process: int) -> list[str] | None:
    try:
        # the name of the program is in brackets and may contain anything
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None


def cpu_seconds(process: int) -> float | None:
    """CPU time of a process so far; None where the system does not report it."""
    if sys.platform.startswith("linux"):
        fields = _fields(process)
        if fields is None:
            return None
        return (int(fields[_UTIME]) + int(fields[_UTIME + 1])) / _TICKS
    if sys.platform == "win32":
        return _windows_seconds(process)
    return None


def _windows_seconds(process: int) -> float | None:
    import ctypes
    from ctypes import wintypes

    may_ask = 0x1000
    kernel: ctypes.WinDLL = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,name-defined,unused-ignore]
    kernel.OpenProcess.restype = wintypes.HANDLE
    handle = wintypes.HANDLE(kernel.OpenProcess(may_ask, False, process))
    if not handle:
        return None
    times = [wintypes.FILETIME() for _ in range(4)]
    found = kernel.GetProcessTimes(handle, *map(ctypes.byref, times))
    kernel.CloseHandle(handle)
    if not found:
        return None
    spent = [(each.dwHighDateTime << 32) + each.dwLowDateTime for each in times[2:]]
    return sum(spent) * 1e-7


class Vitals:
    """Measures for how long a process has used no CPU time."""

    def __init__(
        self,
        process: int,
        read: Callable[[int], float | None] = cpu_seconds,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._process, self._read, self._clock = process, read, clock
        self._since, self._spent = clock(), read(process)
        self._first: float | None = None

    def reset(self) -> None:
        """Records progress."""
        self._since, self._spent, self._first = self._clock(), None, None

    def idle_seconds(self) -> float | None:
        """Seconds without work; None where the system does not report it."""
        spent = self._read(self._process)
        if spent is None:
            return None
        if self._spent is None or spent - self._spent > _LEAST_WORK:
            self._since, self._spent = self._clock(), spent
        self._first = spent if self._first is None else self._first
        return self._clock() - self._since

    def worked_seconds(self) -> float:
        """CPU time since progress, as the last call of idle_seconds has seen it."""
        return (self._spent or 0.0) - (self._first or 0.0)
