"""A profile: spans of this process and its children in one file in Chrome's trace format.

Each span also records the CPU time of all threads of its process, which does not depend on other
programs. `VERDIGRIS_PROFILE` names the file; `verdigris --profile FILE` sets it, and every process
that a command starts inherits it. chrome://tracing and ui.perfetto.dev open the file. It is an
array that is never closed, which the format allows, so that each process can append its spans.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

from verdigris.core.base.errors import SettingsError, reason, suggest_elsewhere

P = ParamSpec("P")
T = TypeVar("T")

PROFILE_VARIABLE = "VERDIGRIS_PROFILE"
# A process that is killed loses at most this many spans.
_MOST_KEPT = 256


class Moment(NamedTuple):
    """A time in nanoseconds: of a clock that all processes of a machine share, and the CPU time of
    this process."""

    wall: int
    processor: int


def _now() -> Moment:
    return Moment(time.perf_counter_ns(), time.process_time_ns())


class _Recorder:
    """The spans of this process that are not written yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process = os.getpid()
        self._lines: list[str] = []
        self._lock = threading.Lock()
        atexit.register(self.write)

    def add(self, name: str, start: Moment, end: Moment) -> None:
        # the format has microseconds
        event = {
            "name": name,
            "ph": "X",
            "ts": start.wall / 1000,
            "dur": (end.wall - start.wall) / 1000,
            "pid": self._process,
            "tid": threading.get_native_id(),
            "args": {"processor": (end.processor - start.processor) / 1000},
        }
        with self._lock:
            self._lines.append(json.dumps(event) + ",\n")
            is_full = len(self._lines) >= _MOST_KEPT
        if is_full:
            self.write()

    def write(self) -> None:
        with self._lock:
            lines, self._lines = self._lines, []
        # a full disk must not end a bake
        with contextlib.suppress(OSError), self._path.open("a") as file:
            file.write("".join(lines))


_chosen = os.environ.get(PROFILE_VARIABLE)
_recorder = _Recorder(Path(_chosen)) if _chosen else None


def begin_profile(path: Path) -> None:
    """Records the spans of this process, and of those that it starts, into a new file."""
    global _recorder
    path = path.absolute()
    try:
        path.write_text("[\n")
    except OSError as failure:
        raise SettingsError(
            f"{path}: the profile cannot be written ({reason(failure)}): "
            f"{suggest_elsewhere(failure, 'another file')}"
        ) from None
    os.environ[PROFILE_VARIABLE] = str(path)
    _recorder = _Recorder(path)


def write_profile() -> None:
    """Writes the recorded spans, for a process that ends without the interpreter's clean-up."""
    if _recorder is not None:
        _recorder.write()


@contextlib.contextmanager
def span(name: str) -> Iterator[None]:
    """Records how long the block takes; spans nest."""
    if _recorder is None:
        yield
        return
    start = _now()
    try:
        yield
    finally:
        _recorder.add(name, start, _now())


def profiled(name: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Records how long each call of the function takes."""

    def wrap(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def run(*given: P.args, **named: P.kwargs) -> T:
            with span(name):
                return function(*given, **named)

        return run

    return wrap


class Phases:
    """Spans that follow one another: each ends where the next begins."""

    def __init__(self) -> None:
        self._name = ""
        self._start = _now()

    def begin(self, name: str) -> None:
        """Ends the current span and begins another. An empty name begins none."""
        now = _now()
        if _recorder is not None and self._name:
            _recorder.add(self._name, self._start, now)
        self._name, self._start = name, now
