"""The worker's Python: whether it fits, and how a worker is set up in the background.

A set-up runs the program of the plug-in or of the checkout, and passes on its lines. No call of it
blocks.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import VerdigrisError, reason
from verdigris.core.base.json_fields import find_json
from verdigris.core.base.process import unpacked_worker
from verdigris.core.base.process.unpacked_worker import find_plain_pythons, read_worker
from verdigris.core.base.process.worker_environment import (
    BOOTSTRAP_PROGRAM,
    NEEDED,
    NO_WINDOW,
    PYTHON_VARIABLE,
    SUPPORTED,
    WorkerEnvironmentError,
    clean_environment,
    command_that_makes_it,
    environment_for,
    find_set_up_program,
    python_in,
    require_worker_command,
    save_python,
    saved_python,
    source_of,
)
from verdigris.core.worker.install.unpack import find_damage

_SECONDS = 20.0
# Any Python since 2.7 runs this.
_PROBE = """
import json, pkgutil, sys
try:
    from importlib.util import find_spec
except ImportError:
    find_spec = pkgutil.find_loader
missing = [name for name in sys.argv[1:] if find_spec(name) is None]
print(json.dumps([sys.version_info[0], sys.version_info[1], missing]))
"""
# Seconds between an interrupt, a request to end, and the end by force.
_GRACE = 3.0
_LONGEST = 300
_TAIL_LINES = 6
PROGRESS, FINISHED, FAILED = "progress", "finished", "failed"


def describe_unfit(command: Sequence[str]) -> str:
    """Why a command of `require_worker_command` cannot bake, what names its Python, and the remedy;
    empty if it can."""
    python = command[0]
    worker = unpacked_worker.worker_of(command)
    if worker is not None and (damage := find_damage(worker)):
        return damage
    why = why_unfit(command, ("verdigris", *NEEDED))
    if not why:
        return ""
    source = source_of(python)
    named = f" It is named by {source}: correct that, or set" if source else " Set"
    return f"{python} cannot bake: {why}.{named} a worker up with: {command_that_makes_it()}"


def require_fit_command() -> list[str]:
    """The beginning of a command that bakes. It is tried first, for callers that may wait."""
    command = require_worker_command()
    why = "" if command[0] == sys.executable else describe_unfit(command)
    if why:
        raise WorkerEnvironmentError(why)
    return command


def why_unfit(
    command: Sequence[str],
    needed: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
) -> str:
    """Why a Python cannot be used; empty if it can. It takes a fraction of a second."""
    # an old Python does not know the options of a bake
    python = command if unpacked_worker.worker_of(command) else command[:1]
    try:
        done = subprocess.run(
            [*python, "-c", _PROBE, *needed],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            env=environment or environment_for(command),
            creationflags=NO_WINDOW,
        )
        major, minor, missing = json.loads(done.stdout.strip().rpartition("\n")[2])
    except OSError as failure:
        return f"it does not start ({failure.strerror})"
    except subprocess.TimeoutExpired:
        return f"it does not respond within {_SECONDS:.0f} s"
    except ValueError:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return f"it does not start ({lines[-1].strip() if lines else 'no message'})"
    if (major, minor) not in SUPPORTED:
        return f"it is Python {major}.{minor}, and a bake needs {supported_versions()}"
    return f"it has no {', '.join(missing)}" if missing else ""


def _require_own_python(program: Path) -> str:
    """The first Python of this application that starts."""
    reasons = []
    for python in find_plain_pythons():
        # it may be that of this process, whose variables are the application's
        why = why_unfit([python], environment=clean_environment())
        if not why:
            return python
        reasons.append(f"{python}: {why}")
    tried = f" ({'; '.join(reasons)})" if reasons else f" beside {sys.base_prefix}"
    raise VerdigrisError(
        f"no Python of this application was found that starts{tried}: run {program} with it"
    )


def supported_versions() -> str:
    """The versions of Python that can bake, in words."""
    *others, last = (f"{major}.{minor}" for major, minor in reversed(SUPPORTED))
    return f"Python {', '.join(others)} or {last}"


@dataclass(frozen=True)
class SetUpEvent:
    """A line of the set-up, or its end."""

    kind: str
    """`progress`, `finished` or `failed`."""
    text: str = ""
    """The line, or why it failed, for people."""
    part: float | None = None
    """The completed part of the whole, 0 to 1; None if it is not known."""


class SetUp:
    """One set-up in progress. Its last event is `finished` or `failed`."""

    def __init__(self, program: Path | None = None) -> None:
        """`program` sets the worker up; by default that of this copy of Verdigris."""
        self._program = program or find_set_up_program()
        self._events: deque[SetUpEvent] = deque()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_cancelled = False
        self._changed = threading.Lock()
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._failure = ""
        self._made = ""
        threading.Thread(target=self._run, name="set-up", daemon=True).start()

    def poll(self) -> list[SetUpEvent]:
        """The events since the last call."""
        found = []
        while self._events:
            found.append(self._events.popleft())
        return found

    def cancel(self) -> None:
        """Ends the set-up in the background. The next one continues where it ended."""
        with self._changed:
            if self._is_cancelled:
                return
            self._is_cancelled = True
        # without a thread of its own it would block, and a daemon would not outlive the host
        threading.Thread(target=self._end, name="set-up end").start()

    def _run(self) -> None:
        try:
            command = self._command()
            with self._changed:
                if not self._is_cancelled:
                    self._process = _start(command)
            if self._process is not None:
                self._follow(self._process)
            if self._is_cancelled:
                raise VerdigrisError("the set-up was cancelled; the next one continues")
            self._finish()
        except VerdigrisError as failure:
            self._events.append(SetUpEvent(FAILED, str(failure)))
        else:
            self._events.append(SetUpEvent(FINISHED, "the worker is ready", 1.0))

    def _command(self) -> list[str]:
        program = self._program
        if program is None:
            raise VerdigrisError(
                "this copy of Verdigris has no program that sets the worker up: stage the plug-in "
                "with packaging/stage.py"
            )
        self._tell("Looking for a Python", 0.0)
        if program.name == BOOTSTRAP_PROGRAM:
            return [require_python(), str(program), "setup"]
        python = _require_own_python(program)
        command = [python, *unpacked_worker.FLAGS, str(program), "--progress", "json"]
        return [*command, "--python", python]

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout
        for line in process.stdout:
            text = line.decode(errors="replace").strip()
            event = _parse(text)
            if event is None:
                self._tail.append(text)
                self._tell(text)
            elif event["event"] == PROGRESS:
                self._tell(str(event.get("text", "")), event.get("part"))
            elif event["event"] == FINISHED:
                self._made = str(event.get("worker", ""))
            elif event["event"] == "error":
                self._failure = str(event.get("text", ""))
        process.stdout.close()
        process.wait()

    def _finish(self) -> None:
        """Makes sure that this machine uses the new worker from now on."""
        assert self._process is not None and self._program is not None
        if self._failure:
            raise VerdigrisError(f"the set-up failed: {self._failure}")
        if self._process.returncode:
            tail = " ".join(line for line in self._tail if line)
            why = tail or "it gave no reason"
            raise VerdigrisError(f"the set-up failed (exit code {self._process.returncode}): {why}")
        if self._program.name == BOOTSTRAP_PROGRAM:
            _use_checkout(self._program)
        else:
            _use_unpacked(Path(self._made))

    def _tell(self, text: str, part: Any = None) -> None:
        if text:
            known = float(part) if isinstance(part, int | float) else None
            self._events.append(SetUpEvent(PROGRESS, text[:_LONGEST], known))

    def _end(self) -> None:
        process = self._process
        if process is None or process.poll() is not None:
            return
        if sys.platform == "win32":
            # an interrupt would need a console
            command = ["taskkill", "/PID", str(process.pid), "/T", "/F"]
            subprocess.run(command, check=False, capture_output=True, creationflags=NO_WINDOW)
            return
        with contextlib.suppress(OSError):
            # the program interrupts its own children
            process.send_signal(signal.SIGINT)
            for each in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_GRACE)
                    return
                os.killpg(process.pid, each)


def require_python() -> str:
    """A Python that can make the environment of a checkout. That of the application is the last
    choice, as its environment needs the application."""
    for python in dict.fromkeys(_candidates()):
        if not why_unfit([python], ("venv", "ensurepip")):
            return python
    raise VerdigrisError(
        f"no {supported_versions()} that can make an environment was found on this machine: "
        "install one from python.org (on Debian and Ubuntu also python3-venv), and try again"
    )


def _candidates() -> Iterator[str]:
    names = [f"python{major}.{minor}" for major, minor in SUPPORTED]
    for name in (*names, "python3", "python"):
        if path := shutil.which(name):
            yield path
    if sys.platform == "win32":
        launched = Path(os.environ.get("LOCALAPPDATA", ""), "Programs", "Python")
        for major, minor in SUPPORTED:
            yield str(launched / f"Python{major}{minor}" / "python.exe")
    base, beside = Path(sys.base_prefix), Path(sys.executable or "")
    suffix = ".exe" if sys.platform == "win32" else ""
    own = (base / "bin" / "python3", base / "python.exe", beside)
    for file in (*own, *(beside.parent / f"{name}{suffix}" for name in ("mayapy", "hython"))):
        # the application itself would open its window
        if file.is_file() and file.stem.startswith(("python", "mayapy", "hython")):
            yield str(file)


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # bootstrap.py shows the lines of pip
            env={**clean_environment(), "VERDIGRIS_VERBOSE": "1", "PYTHONUNBUFFERED": "1"},
            creationflags=NO_WINDOW,
            start_new_session=True,
        )
    except OSError as failure:
        raise VerdigrisError(f"{command[0]}: cannot be started: {reason(failure)}") from None


def _parse(text: str) -> dict[str, Any] | None:
    event = find_json(text)
    is_event = isinstance(event, dict) and isinstance(event.get("event"), str)
    return event if is_event else None


def _use_checkout(program: Path) -> None:
    made = python_in(program.parent.parent / ".venv")
    if not made.is_file():
        raise VerdigrisError(f"the set-up ended without {made}: try again")
    try:
        found = require_worker_command()[0]
    except VerdigrisError:
        found = ""
    if found != str(made):
        # a setting or a variable names another interpreter
        save_python(made)


def _use_unpacked(made: Path) -> None:
    if read_worker(made) is None:
        raise VerdigrisError(f"the set-up ended without {made}: try again")
    if saved_python() is not None:
        # it names an interpreter that could not bake, or the set-up would not have been offered
        save_python(None)
    named = os.environ.get(PYTHON_VARIABLE)
    if named:
        raise VerdigrisError(
            f"the worker is ready in {made}, but the variable {PYTHON_VARIABLE} names {named}: "
            "remove the variable"
        )
