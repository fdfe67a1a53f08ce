"""What the user sees while the set-up runs, and the one door to other programs."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TAIL_LINES = 30
NOT_FOUND, TIMED_OUT = 127, 124


class SetupError(Exception):
    """The set-up cannot go on. The message names the thing, the value and the remedy."""


def say(message: str) -> None:
    print(f"verdigris: {message}", file=sys.stderr, flush=True)


def is_verbose() -> bool:
    return os.environ.get("VERDIGRIS_VERBOSE", "") not in ("", "0")


@contextmanager
def step(label: str) -> Iterator[None]:
    """One progress line that ends with the time taken."""
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
    """The caller's environment without what would let another Python's packages in.

    Studio shells set PYTHONPATH for their hosts, whose numpy or MaterialX would win over ours.
    """
    foreign = ("PYTHONPATH", "PYTHONHOME", "__PYVENV_LAUNCHER__")
    return {name: value for name, value in os.environ.items() if name not in foreign}


@dataclass(frozen=True)
class Finished:
    """How a program ended; the output holds both of its streams."""

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
        """Runs to the end; a program that is missing or too slow is a result, not an exception."""
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
            return Finished(TIMED_OUT, f"gave no answer in {timeout:.0f} s")
        except OSError as error:
            return Finished(NOT_FOUND, f"{command[0]}: {error.strerror}")
        return Finished(done.returncode, done.stdout or "")

    def require(
        self,
        label: str,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        extra_env: Mapping[str, str] | None = None,
        remedy: str = "",
    ) -> None:
        """Runs one step of the set-up, which has to succeed."""
        with step(label):
            done = self.run(command, cwd=cwd, extra_env=extra_env, show=True)
            if done.code != 0:
                raise SetupError(failure(command, done, remedy))


def failure(command: Sequence[str], done: Finished, remedy: str = "") -> str:
    ended = f"this command ended with {done.code}: {' '.join(command)}"
    return "\n".join(part for part in (ended, done.tail(), remedy) if part)
