"""Which Python runs the worker: that of Verdigris' own environment, not the host's."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from verdigris.core.errors import VerdigrisError

PYTHON_VARIABLE = "VERDIGRIS_PYTHON"
_MODULE = "verdigris.core.worker"
_NEEDED = ("slangpy", "MaterialX", "OpenImageIO")
# A host sets these for its own Python, and they would break another.
_OF_THE_HOST = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONEXECUTABLE")


class LaunchError(VerdigrisError):
    """The worker cannot be started."""


def require_python() -> str:
    """The interpreter that has what a bake needs."""
    chosen = os.environ.get(PYTHON_VARIABLE)
    if chosen:
        if not Path(chosen).is_file():
            raise LaunchError(f"{PYTHON_VARIABLE} is {chosen!r}: there is no such file")
        return chosen
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise LaunchError(
            f"this Python has no {', '.join(missing)}, which a bake needs: set "
            f"{PYTHON_VARIABLE} to the Python of Verdigris' own environment (.venv/bin/python "
            "after bootstrap.py setup)"
        )
    return sys.executable


def worker_command() -> list[str]:
    # -P: the current folder may hold anything
    return [require_python(), "-P", "-u", "-m", _MODULE]


def worker_environment(command: list[str]) -> dict[str, str]:
    """The environment of this process, without what is meant for its own Python only."""
    if command[0] == sys.executable:
        return dict(os.environ)
    return {name: value for name, value in os.environ.items() if name not in _OF_THE_HOST}
