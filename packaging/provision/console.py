"""Output of the set-up, and running other programs."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

TAIL_LINES = 30
NOT_FOUND, TIMED_OUT = 127, 124


class SetupError(Exception):
    """The set-up cannot continue. The message has the remedy."""


def report(message: str) -> None:
    print(f"verdigris: {message}", file=sys.stderr, flush=True)


def is_verbose() -> bool:
    return os.environ.get("VERDIGRIS_VERBOSE", "") not in ("", "0")


@contextmanager
def step(label: str) -> Iterator[None]:
    """Prints a progress line with the time taken."""
    end = "\n" if is_verbose() else ""
    print(f"verdigris: {label}…", end=end, file=sys.stderr, flush=True)
    start = time.perf_counter()
    try:
        yield
    except BaseException:
        print(" failed", file=sys.stderr, flush=True)
        raise
    print(f" {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)


def clean_environment() -> dict[str, str]:
    """The environment without PYTHONPATH and similar variables.

    Studios set PYTHONPATH for their applications, whose packages would replace those in .venv.
    """
    foreign = ("PYTHONPATH", "PYTHONHOME", "__PYVENV_LAUNCHER__")
    return {name: value for name, value in os.environ.items() if name not in foreign}


@dataclass(frozen=True)
class Finished:
    """The exit code and the output of a program, both streams joined."""

    code: int
    output: str

    def tail(self) -> str:
        return "\n".join(self.output.rstrip().splitlines()[-TAIL_LINES:])


class Commands:
    """Runs other programs, their output hidden unless VERDIGRIS_VERBOSE is set."""

    def run(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        extra_env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        show: bool = False,
    ) -> Finished:
        """Runs a program. A missing program or a timeout is a result, not an exception."""
        try:
            done = subprocess.run(
                list(command),
                cwd=cwd,
                env=clean_environment() | dict(extra_env or {}),
                timeout=timeout,
                stdin=subprocess.DEVNULL,
                stdout=2 if show and is_verbose() else subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Finished(TIMED_OUT, f"no answer within {timeout:.0f} s")
        except OSError as error:
            return Finished(NOT_FOUND, f"{command[0]}: {error.strerror}")
        return Finished(done.returncode, done.stdout or "")

    def begin(self, command: Sequence[str]) -> None:
        """Starts a program in the background, which nobody waits for."""
        with suppress(OSError):
            subprocess.Popen(
                list(command),
                env=clean_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=os.name != "nt",
            )

    def require(
        self, label: str, command: Sequence[str], *, cwd: Path | None = None, remedy: str = ""
    ) -> None:
        """Runs a step of the set-up. Raises SetupError if it fails."""
        with step(label):
            done = self.run(command, cwd=cwd, show=True)
            if done.code != 0:
                raise SetupError(failure(command, done, remedy))


def failure(command: Sequence[str], done: Finished, remedy: str = "") -> str:
    ended = f"this command failed (exit code {done.code}): {' '.join(command)}"
    return "\n".join(part for part in (ended, done.tail(), remedy) if part)
