"""Processes that fill caches beside this one. What they compile is waited for: compiling it here
would take as long once more."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import suppress

from verdigris.core.base.profile import span
from verdigris.core.base.worker_environment import NO_WINDOW

# A process that takes longer hangs.
_MOST_SECONDS = 20.0

_running: dict[str, subprocess.Popen[bytes]] = {}


def begin_beside(job: str, command: Sequence[str]) -> None:
    """Begins a job. Where it cannot begin, nothing is waited for."""
    with suppress(OSError):
        _running[job] = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=NO_WINDOW,
        )


def wait_for(job: str) -> None:
    """Waits for the end of a job, if this process has begun it. It may have failed."""
    process = _running.get(job)
    if process is not None:
        with span(f"wait for {job}"), suppress(subprocess.TimeoutExpired):
            process.wait(_MOST_SECONDS)
        _running.pop(job, None)
