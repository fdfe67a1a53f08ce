"""Runs bakes in a process of their own, and collects their outcomes. A process bakes one material
after the other and opens its device once; a crash costs only the running bake."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import IO, Any

from verdigris.core.base.files import make_own_folder, new_file
from verdigris.core.base.json_fields import find_json
from verdigris.core.base.lock import clear_locks
from verdigris.core.base.process.worker_environment import start_process
from verdigris.core.batch.plan.task import Task
from verdigris.core.worker.client.set_up import require_fit_command

BAKED, FAILED, STOPPED = "baked", "failed", "stopped"
MODULE = "verdigris.core.batch.run.bake_task"
# The event with which a process asks for another bake.
READY = "ready"
# Seconds of silence. A compiler can be silent for minutes; a hung GPU is silent forever.
SILENCE_SECONDS = 900.0
_POLL = 0.2
_GRACE = 5.0
_MOST_WARNINGS = 50
_TAIL_BYTES = 4096

Report = Callable[[dict[str, Any]], None]


@dataclass
class Outcome:
    """The outcome of a bake."""

    status: str
    """`baked`, `failed` or `stopped`."""
    text: str = ""
    """Why it failed."""
    can_retry: bool = False
    """Whether a retry may succeed."""
    refused: dict[str, str] = field(default_factory=dict)
    """Members of a group that cannot be baked, with the reasons."""
    warnings: list[str] = field(default_factory=list)
    """Warnings for the artist."""
    device: str = ""
    """The device of the bake."""
    from_step: int = 0
    """The step of its checkpoint."""
    seconds: float = 0.0
    """Seconds from start to end."""
    has_waited: bool = False
    """Whether nothing was baked because another process had the same bake, which has ended."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def bake_command() -> list[str]:
    """The command that runs one bake."""
    return [*require_fit_command(), "-m", MODULE]


class BakeProcess:
    """A process that bakes. It is started when it is needed, and again after a failure."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._reader: threading.Thread | None = None
        self._device = ""

    def bake(
        self,
        task: Task,
        report: Report,
        stop: threading.Event,
        log: Path | None = None,
        silence: float = SILENCE_SECONDS,
    ) -> Outcome:
        """Runs a bake and reports its events. Once `stop` is set, it ends early and keeps its
        checkpoint."""
        outcome, began = Outcome(FAILED), time.monotonic()
        with _open_log(log) as errors:
            self._start(task.device, errors)
        assert self._process and self._process.stdin
        may_continue = False
        try:
            line = json.dumps({**task.as_json(), "log": str(log or os.devnull)})
            with contextlib.suppress(OSError):
                self._process.stdin.write(line.encode() + b"\n")
                self._process.stdin.flush()
            may_continue = _follow(self._lines, report, stop, silence, outcome)
        finally:
            code = None if may_continue else self._end(is_over=outcome.status == BAKED)
            # a killed bake leaves its locks behind
            clear_locks(task.folder, task.lock_names)
        outcome.seconds = time.monotonic() - began
        if outcome.status == FAILED and not outcome.text and not outcome.refused:
            how = 0 if code is None else code
            outcome.text, outcome.can_retry = _describe_exit(how, log), True
        return outcome

    def close(self) -> None:
        self._end(is_over=True)

    def _start(self, device: str, errors: IO[bytes]) -> None:
        """Starts the process, if there is none for this device."""
        is_there = self._process is not None and self._process.poll() is None
        if is_there and self._device == device:
            return
        self.close()
        command = bake_command()
        # Ctrl-C goes to the parent only, which ends the bakes
        self._process = process = start_process(
            command, stdin=PIPE, stdout=PIPE, stderr=errors, is_apart=True
        )
        assert process.stdout
        self._lines, self._device = queue.SimpleQueue(), device
        self._reader = threading.Thread(
            target=_read, args=(process.stdout, self._lines), daemon=True
        )
        self._reader.start()

    def _end(self, is_over: bool) -> int | None:
        """Waits for a finished process, and ends any other. Returns the exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        assert process.stdin and process.stdout and self._reader
        with contextlib.suppress(OSError):
            # a process that waits for another task ends
            process.stdin.close()
        _end(process, is_over)
        self._reader.join(_GRACE)
        process.stdout.close()
        return process.returncode


def bake_in_process(
    task: Task, report: Report, stop: threading.Event, silence: float = SILENCE_SECONDS
) -> Outcome:
    """Runs one bake in a process of its own."""
    process = BakeProcess()
    try:
        return process.bake(task, report, stop, silence=silence)
    finally:
        process.close()


def _follow(
    lines: queue.SimpleQueue[bytes | None],
    report: Report,
    stop: threading.Event,
    silence: float,
    outcome: Outcome,
) -> bool:
    """Reports the events of a bake up to its end. Returns whether the process is ready for another
    bake."""
    heard = time.monotonic()
    while True:
        if stop.is_set():
            outcome.status = STOPPED
            return False
        try:
            line = lines.get(timeout=_POLL)
        except queue.Empty:
            if time.monotonic() - heard > silence:
                outcome.text = f"ended after {silence:.0f} s of silence"
                outcome.can_retry = True
                return False
            continue
        if line is None:
            return False
        heard = time.monotonic()
        event = _parse(line)
        if event is not None:
            if event["event"] == READY:
                return True
            _note(event, outcome)
            report(event)


def _note(event: dict[str, Any], outcome: Outcome) -> None:
    kind = event.get("event")
    if kind == "started":
        outcome.device, outcome.from_step = str(event.get("device")), int(event.get("step") or 0)
    elif kind == "warning" and len(outcome.warnings) < _MOST_WARNINGS:
        if event.get("text") not in outcome.warnings:
            outcome.warnings.append(str(event.get("text")))
    elif kind == "refused":
        outcome.refused[str(event.get("member"))] = str(event.get("text"))
    elif kind == "error":
        outcome.text, outcome.can_retry = str(event.get("text")), bool(event.get("can_retry"))
    elif kind == "waited":
        outcome.has_waited = outcome.can_retry = True
        outcome.text = "another process had the same bake"
    elif kind == "finished":
        outcome.status = BAKED


def _read(stream: IO[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    with contextlib.suppress(OSError, ValueError):
        for line in stream:
            lines.put(line)
    lines.put(None)


def _parse(line: bytes) -> dict[str, Any] | None:
    event = find_json(line)
    is_event = isinstance(event, dict) and isinstance(event.get("event"), str)
    return event if is_event else None


def _end(process: subprocess.Popen[bytes], is_over: bool) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        if not is_over and process.poll() is None:
            process.terminate()
        process.wait(_GRACE)
    if process.poll() is None:
        process.kill()
        process.wait()


def _describe_exit(code: int, log: Path | None) -> str:
    how = f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
    tail = ""
    if log is not None and log.is_file():
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            last_lines = file.read().decode(errors="replace").splitlines()
        tail = next((line.strip() for line in reversed(last_lines) if line.strip()), "")
    return f"the bake's process {how}" + (f": {tail}" if tail else "")


def _open_log(log: Path | None) -> IO[bytes]:
    if log is None:
        return Path(os.devnull).open("wb")
    make_own_folder(log.parent)
    return new_file(log)
