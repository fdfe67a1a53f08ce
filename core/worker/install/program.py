"""The program that sets the worker up. make_worker.py of a plug-in runs it, with the application's
own Python."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TextIO

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.files import make_folders
from verdigris.core.base.lock import HeldError, locked
from verdigris.core.base.process.unpacked_worker import (
    FOLDER,
    WHEELS,
    UnpackedWorker,
    find_plain_python,
    places,
    user_place,
    workers_in,
)
from verdigris.core.base.process.worker_environment import NO_WINDOW, environment_for
from verdigris.core.worker.install.packages import Packages, SetUpError, read_packages, require_fit
from verdigris.core.worker.install.unpack import (
    describe_full,
    is_on_network,
    remove_others,
    remove_worker,
    unpack,
    why_too_long,
)

_WORKS = "import slangpy, MaterialX, OpenImageIO, verdigris.core.api"
_SECONDS = 300
_CANCELLED = 130


class Progress:
    """Prints lines for people or for programs. A reader that is gone does not stop the work."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def step(self, phase: str, part: float, text: str) -> None:
        """`part` is that of the whole, from 0 to 1."""
        self._print(
            {"event": "progress", "phase": phase, "part": round(part, 3), "text": text},
            f"{part:4.0%}  {text}",
        )

    def finished(self, worker: Path) -> None:
        self._print({"event": "finished", "worker": str(worker)}, f"{worker} is ready")

    def removed(self, worker: Path) -> None:
        self._print({"event": "removed", "worker": str(worker)}, f"removed {worker}")

    def error(self, text: str) -> None:
        self._print({"event": "error", "text": text}, text, sys.stderr)

    def _print(self, event: dict[str, object], line: str, stream: TextIO | None = None) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self._as_json:
                print(json.dumps(event), flush=True)
            else:
                print(f"make_worker: {line}", file=stream or sys.stdout, flush=True)


def make(packages: Packages, wanted: Sequence[Path], python: str, progress: Progress) -> Path:
    """Sets the worker up for a Python in the first of these folders that can be written."""
    require_fit(packages)
    short = [each for each in wanted if not why_too_long(packages, each)]
    place = _writable(short or wanted)
    progress.step("packages", 0.0, f"Setting up the worker in {place / packages.name}")
    with _alone(place):
        worker = unpack(packages, place, progress.step, partial(_check, python=python), python)
        for removed in remove_others(worker):
            progress.step("clean", 1.0, f"Removed {removed}")
    return worker


def remove(wanted: Sequence[Path], progress: Progress) -> None:
    """Removes all workers in the folders."""
    for place in wanted:
        for worker in workers_in(place):
            with _alone(place):
                if not remove_worker(worker):
                    raise SetUpError(
                        f"{worker.folder} is in use: close all windows that bake, then try again"
                    )
            progress.removed(worker.folder)


def _check(folder: Path, python: str) -> None:
    """Imports the packages of a worker in a process of their own."""
    command = UnpackedWorker(folder, "", "", "").command(python)
    try:
        done = subprocess.run(
            [*command, "-c", _WORKS],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            env=environment_for(command),
            creationflags=NO_WINDOW,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise SetUpError(f"{python} does not start the worker: {failure}") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise SetUpError(
            f"the packages are unpacked, but do not load in {python}: "
            f"{lines[-1].strip() if lines else f'exit code {done.returncode}'}: an antivirus "
            f"program or a rule of this machine may refuse programs in {folder}: exempt it, then "
            "try again"
        )


def _writable(wanted: Sequence[Path]) -> Path:
    """The first folder of workers that can be written. One on a network is the last choice."""
    reasons = []
    for place in sorted(wanted, key=is_on_network):
        try:
            make_folders(place)
            with locked(place, FOLDER):
                return place
        except HeldError:
            return place
        except OSError as failure:
            reasons.append(describe_full(failure, place))
        except VerdigrisError as failure:
            reasons.append(str(failure))
    raise SetUpError(reasons[0])


@contextlib.contextmanager
def _alone(place: Path) -> Iterator[None]:
    try:
        with locked(place, FOLDER):
            yield
    except HeldError:
        raise SetUpError(f"another process sets up a worker in {place}: wait for it") from None


def main(beside: Path, arguments: Sequence[str]) -> int:
    """The command line. `beside` is the folder with the wheels."""
    parser = argparse.ArgumentParser(
        prog="make_worker.py",
        description="Unpacks the worker's packages for the Python that runs this. It needs no "
        "network.",
    )
    parser.add_argument("--progress", choices=("text", "json"), default="text")
    parser.add_argument(
        "--into", type=Path, help="a folder for workers; name it in VERDIGRIS_WORKERS"
    )
    parser.add_argument("--wheels", type=Path, default=beside / WHEELS, help="other packages")
    parser.add_argument("--python", default="", help="the program that runs the worker")
    parser.add_argument("--remove", action="store_true", help="remove the workers")
    given = parser.parse_args(arguments)
    progress = Progress(given.progress == "json")
    # also where the application that starts this ignores Ctrl-C, as one that a shell script has
    # started in the background does
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    # not resolved: a mapped drive stays one
    wanted = [given.into.absolute()] if given.into else places(beside.absolute())
    try:
        if given.remove:
            remove([each for each in wanted if given.into or each != user_place()], progress)
        else:
            # what mayapy calls its own program may need what mayapy sets for it
            python = given.python or find_plain_python() or sys.executable
            progress.finished(make(read_packages(given.wheels), wanted, python, progress))
    except KeyboardInterrupt:
        progress.error("cancelled: nothing has changed; the next set-up continues where it ended")
        return _CANCELLED
    except (VerdigrisError, OSError) as failure:
        progress.error(str(failure))
        return 1
    return 0
