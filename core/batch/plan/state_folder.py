"""The folder in a scene's folder of bundles that a run keeps what it needs in, and its lock."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from verdigris.core.baking.state.options import make_folder
from verdigris.core.base.errors import SceneError
from verdigris.core.base.lock import HeldError, locked
from verdigris.core.base.outputs import write_file
from verdigris.core.base.termination import handled, termination_signals

FOLDER = ".verdigris"
LOGS = "logs"
_LOCK = "run"
_OWNER_FILE = "run.json"
_POLL = 0.5


def state_folder(out: Path) -> Path:
    return out / FOLDER


@contextlib.contextmanager
def run_lock(
    out: Path, wait: bool = False, tell: Callable[[str], None] | None = None
) -> Iterator[Path]:
    """Holds a folder for one run. A second one waits, or is told who is there. Signals that ask the
    process to end interrupt it meanwhile, so that no lock is left."""
    folder = state_folder(out)
    make_folder(folder)
    with contextlib.ExitStack() as stack:
        stack.enter_context(handled(termination_signals(), _interrupt))
        has_told = False
        while True:
            try:
                stack.enter_context(locked(folder, _LOCK))
                break
            except HeldError:
                owner = _owner(folder)
                if not wait:
                    raise SceneError(
                        f"{out}: another run is at this folder ({owner}): let it end, choose "
                        "another folder with --out, or wait for it with --wait"
                    ) from None
                if not has_told and tell is not None:
                    tell(f"{out}: waits for another run ({owner})")
                has_told = True
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
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads((folder / _OWNER_FILE).read_text(encoding="utf-8"))
        return f"process {found['process']} on {found['host']} since {found['since']}"
    return "it has just begun"


def write_json(path: Path, values: Any) -> None:
    """Writes a file whole or not at all."""
    write_text(path, json.dumps(values, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Names of files that are no Unicode are told with question marks."""
    write_file(path, text.encode("utf-8", "replace"))
