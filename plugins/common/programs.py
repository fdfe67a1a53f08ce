"""Starts batches and self-tests in the application's own interpreter."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from verdigris.core.base.errors import HostError, VerdigrisError
from verdigris.core.base.launchers import require_launcher

BATCH_FOLDER = "verdigris"


def start_selftest(interpreter: Path, package: str, report: Path) -> None:
    """Starts the self-test of an application, which writes its report to a file."""
    _start(interpreter, "selftest", [str(report)])


def start_batch(interpreter: Callable[[], Path], package: str, scene: Path | None) -> Path:
    """Starts a batch bake of a saved scene. Returns the file of its summary."""
    if scene is None:
        raise HostError("the scene is not saved: save it first, as the batch reads the file")
    out = scene.parent / BATCH_FOLDER
    summary = out / f"{scene.stem}.json"
    arguments = [str(scene), "--out", str(out), "--summary", str(summary)]
    _start(interpreter(), "batch", arguments)
    return summary


def require_interpreter(path: Path) -> Path:
    """The interpreter, or an error if the file does not exist."""
    if not path.is_file():
        raise HostError(f"{path} does not exist: run {path.stem} by hand")
    return path


def default_report(package: str) -> Path:
    """The file for the report of a self-test without a choice."""
    return Path.home() / f"verdigris_selftest_{package}.json"


def show_errors(
    show: Callable[[str], object],
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """A decorator for actions of buttons. It shows their errors to the artist."""

    def wrap(action: Callable[[], None]) -> Callable[[], None]:
        @functools.wraps(action)
        def run() -> None:
            try:
                action()
            except VerdigrisError as failure:
                show(str(failure))

        return run

    return wrap


def _start(interpreter: Path, program: str, arguments: Sequence[str]) -> None:
    try:
        subprocess.Popen([str(interpreter), str(require_launcher(program)), *arguments])
    except OSError as failure:
        raise HostError(f"{interpreter} cannot be started: {failure.strerror}") from None
