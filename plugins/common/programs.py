"""Starts an application's own interpreter beside the session that is open."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from verdigris.core.base.errors import HostError, VerdigrisError

BATCH_FOLDER = "verdigris"


def start_selftest(interpreter: Path, package: str, report: Path) -> None:
    """Tests an application in a process of its own; the report will be in the file."""
    _start(interpreter, f"{package}.selftest", [str(report)])


def start_batch(interpreter: Callable[[], Path], package: str, scene: Path | None) -> Path:
    """Bakes a saved scene in the background; where its summary will be."""
    if scene is None:
        raise HostError("the scene was never saved, and the batch reads the file: save it first")
    out = scene.parent / BATCH_FOLDER
    summary = out / f"{scene.stem}.json"
    arguments = [str(scene), "--out", str(out), "--summary", str(summary)]
    _start(interpreter(), f"{package}.batch", arguments)
    return summary


def require_interpreter(found: Path) -> Path:
    """The application's interpreter, or an error that says what to do without it."""
    if not found.is_file():
        raise HostError(f"{found}: there is no such file: run {found.stem} by hand")
    return found


def report_file(package: str) -> Path:
    """Where the report of a self-test goes when nobody chooses."""
    return Path.home() / f"verdigris_selftest_{package}.json"


def telling(tell: Callable[[str], object]) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """For what a button does: what goes wrong is told where the artist looks."""

    def wrap(action: Callable[[], None]) -> Callable[[], None]:
        @functools.wraps(action)
        def run() -> None:
            try:
                action()
            except VerdigrisError as failure:
                tell(str(failure))

        return run

    return wrap


def _start(interpreter: Path, module: str, arguments: Sequence[str]) -> None:
    try:
        subprocess.Popen([str(interpreter), "-m", f"verdigris.plugins.{module}", *arguments])
    except OSError as failure:
        raise HostError(f"{interpreter}: cannot be started: {failure.strerror}") from None
