"""The state of a run, in the folder of the bundles: lock, logs, and records of bakes."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from verdigris.core.baking.state.outputs import make_folder
from verdigris.core.base.errors import SceneError, reason
from verdigris.core.base.files import make_own_folder
from verdigris.core.base.json_fields import find_json_file
from verdigris.core.base.lock import HeldError, locked
from verdigris.core.base.outputs import write_own_file
from verdigris.core.base.process.termination import handled, termination_signals

FOLDER = ".verdigris"
LOGS = "logs"
_LOCK = "run"
_OWNER_FILE = "run.json"
_POLL = 0.5


def state_folder(out: Path) -> Path:
    return out / FOLDER


def make_state_folder(out: Path, name: str = "") -> Path:
    """Makes the folder of a scene's runs, or one below it."""
    made = state_folder(out)
    make_folder(out)
    try:
        make_own_folder(made)
        if name:
            made /= name
            make_own_folder(made)
    except OSError as failure:
        raise SceneError(
            f"{made}: cannot be used ({reason(failure)}): choose another folder for the bundles"
        ) from None
    return made


@contextlib.contextmanager
def run_lock(
    out: Path, wait: bool = False, report: Callable[[str], None] | None = None
) -> Iterator[Path]:
    """Locks a folder for one run. A second run waits, or reports the first one. Meanwhile, signals
    that end the process raise an exception, so that no lock remains."""
    folder = make_state_folder(out)
    with contextlib.ExitStack() as stack:
        stack.enter_context(handled(termination_signals(), _interrupt))
        has_reported = False
        while True:
            try:
                stack.enter_context(locked(folder, _LOCK))
                break
            except HeldError:
                owner = _owner(folder)
                if not wait:
                    raise SceneError(
                        f"{out}: another run uses this folder ({owner}): let it end, choose "
                        "another folder with --out, or wait for it with --wait"
                    ) from None
                if not has_reported and report is not None:
                    report(f"{out}: waiting for another run ({owner})")
                has_reported = True
                time.sleep(_POLL)
        facts = {
            "process": os.getpid(),
            "host": platform.node(),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
        }
        write_json(folder / _OWNER_FILE, facts)
        yield folder


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _owner(folder: Path) -> str:
    found = find_json_file(folder / _OWNER_FILE, 1 << 16)
    with contextlib.suppress(KeyError, TypeError):
        return f"process {found['process']} on {found['host']} since {found['since']}"
    return "just started"


def write_json(path: Path, values: Any) -> None:
    """Writes a JSON file completely or not at all."""
    write_own_text(path, json.dumps(values, indent=1) + "\n")


def write_own_text(path: Path, text: str) -> None:
    """Writes a text. Characters that are not Unicode become question marks."""
    write_own_file(path, text.encode("utf-8", "replace"))
