"""Why a Python cannot run the worker: it is too old, lacks packages, or does not start."""

from __future__ import annotations

import json
import subprocess
import sys

from verdigris.core.base.process.worker_environment import (
    NEEDED,
    NO_WINDOW,
    SUPPORTED,
    WorkerEnvironmentError,
    command_that_makes_it,
    environment_for,
    require_worker_python,
    source_of,
)

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


def describe_unfit(python: str) -> str:
    """Why a Python cannot run the worker, who has named it, and the remedy; empty if it can."""
    why = why_unfit(python, ("verdigris", *NEEDED))
    if not why:
        return ""
    source = source_of(python)
    named = f" It is named by {source}: correct that, or make" if source else " Make"
    return f"{python} cannot bake: {why}.{named} the environment with: {command_that_makes_it()}"


def require_fit_python() -> str:
    """The interpreter for bakes, for callers that may wait: it is tried first."""
    python = require_worker_python()
    why = "" if python == sys.executable else describe_unfit(python)
    if why:
        raise WorkerEnvironmentError(why)
    return python


def why_unfit(python: str, needed: tuple[str, ...] = ()) -> str:
    """Why a Python cannot be used; empty if it can. It takes a fraction of a second."""
    command = [python, "-c", _PROBE, *needed]
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            env=environment_for(command),
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


def supported_versions() -> str:
    """The versions of Python that can bake, in words."""
    *others, last = (f"{major}.{minor}" for major, minor in reversed(SUPPORTED))
    return f"Python {', '.join(others)} or {last}"
