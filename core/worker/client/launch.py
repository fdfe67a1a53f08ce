"""Which Python runs the worker: that of Verdigris' own environment, not the host's."""

from __future__ import annotations

import os
import sys

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.worker_environment import require_worker_python

_MODULE = "verdigris.core.worker"
# A host sets these for its own Python, and they would break another.
_OF_THE_HOST = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONEXECUTABLE")


class LaunchError(VerdigrisError):
    """The worker cannot be started."""


def worker_command() -> list[str]:
    # -P: the current folder may hold anything
    return [require_worker_python(), "-P", "-u", "-m", _MODULE]


def worker_environment(command: list[str]) -> dict[str, str]:
    """The environment of this process, without what is meant for its own Python only."""
    if command[0] == sys.executable:
        return dict(os.environ)
    return {name: value for name, value in os.environ.items() if name not in _OF_THE_HOST}
