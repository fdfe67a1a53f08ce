"""Starts batches and self-tests in the application's own interpreter, and runs commands with the
worker's Python."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ParamSpec

from verdigris.core.base.errors import HostError, VerdigrisError, reason, suggest_elsewhere
from verdigris.core.base.files import make_folders, new_file
from verdigris.core.base.process.worker_environment import (
    NO_WINDOW,
    environment_for,
    package_folder,
    require_launcher,
    require_worker_command,
)
from verdigris.core.hosts.guarded_host import LOG
from verdigris.core.hosts.host import log_beside
from verdigris.core.hosts.result_folders import result_folder
from verdigris.core.hosts.troubles import PAGE, with_entry

Arguments = ParamSpec("Arguments")


def start_selftest(interpreter: Path, report: Path) -> None:
    """Starts the self-test of an application, which writes its report to a file."""
    _start(interpreter, "selftest", [str(report)], log_beside(report))


def start_batch(interpreter: Callable[[], Path], scene: Path | None) -> Path:
    """Starts a batch bake of a saved scene. Returns the file of its summary."""
    summary, arguments = batch_of(scene)
    _start(interpreter(), "batch", arguments, log_beside(summary))
    return summary


def batch_of(scene: Path | None) -> tuple[Path, list[str]]:
    """The summary of a batch bake of a saved scene, and the arguments of its program."""
    if scene is None:
        raise HostError("the scene is not saved: save it first, as the batch reads the file")
    out = result_folder(scene)
    summary = out / f"{scene.stem}.json"
    return summary, [str(scene), "--out", str(out), "--summary", str(summary)]


def describe_batch(summary: Path) -> str:
    """The message to the artist about a started batch."""
    return (
        f"Verdigris bakes the scene in the background. Summary: {summary}. "
        f"Log: {log_beside(summary)}"
    )


def describe_selftest(report: Path) -> str:
    """The message to the artist about a started self-test."""
    return f"The self-test of Verdigris is running. Log: {log_beside(report)}. Report: {report}"


def require_interpreter(path: Path) -> Path:
    """The interpreter. Raises an error if the file does not exist."""
    if not path.is_file():
        raise HostError(f"{path} does not exist: run {path.stem} by hand")
    return path


def default_report(package: str) -> Path:
    """The default file for the report of a self-test."""
    return Path.home() / f"verdigris_selftest_{package}.json"


def show_errors(
    show: Callable[[str], object],
) -> Callable[[Callable[Arguments, None]], Callable[Arguments, None]]:
    """A decorator for actions of buttons. It shows their errors to the artist, each with its entry
    of the page Troubleshooting, and logs what the application raises."""

    def wrap(action: Callable[Arguments, None]) -> Callable[Arguments, None]:
        @functools.wraps(action)
        def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
            try:
                action(*args, **kwargs)
            except VerdigrisError as failure:
                show(with_entry(str(failure), package_folder() / "docs" / PAGE))
            except Exception as failure:  # noqa: BLE001 - applications raise what they like
                LOG.exception("%s failed", action.__name__)
                lines = str(failure).strip().splitlines()
                why = ": ".join((type(failure).__name__, *lines[:1]))
                show(f"This failed ({why}). The script editor or the console has the details.")

        return run

    return wrap


def run_command(words: Sequence[str]) -> None:
    """Runs a command of Verdigris with the worker's Python, and waits for its end. Raises its
    error."""
    command = [*require_worker_command(), "-m", "verdigris.core", *words]
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=environment_for(command),
            creationflags=NO_WINDOW,
        )
    except OSError as failure:
        raise HostError(f"{command[0]} cannot be started: {reason(failure)}") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"{words[0]} ended with {done.returncode}"]
        raise HostError(lines[-1].removeprefix("verdigris: "))


def _start(interpreter: Path, program: str, arguments: Sequence[str], log: Path) -> None:
    start_program([str(interpreter), str(require_launcher(program)), *arguments], log)


def start_program(command: Sequence[str], log: Path) -> None:
    """Starts a program whose output goes to a log."""
    try:
        make_folders(log.parent)
        output = new_file(log)
    except OSError as failure:
        raise HostError(
            f"{log}: cannot be written ({reason(failure)}): {suggest_elsewhere(failure)}"
        ) from None
    with output:
        try:
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                creationflags=NO_WINDOW,
            )
        except OSError as failure:
            raise HostError(f"{command[0]} cannot be started: {reason(failure)}") from None
