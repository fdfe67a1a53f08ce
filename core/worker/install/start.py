"""Runs a module or a program text with the packages of an unpacked worker, and no others.

    PYTHON -s -S -P -u .../verdigris/core/worker/install/start.py PYTHON -m MODULE ARGUMENT...
    PYTHON -s -S -P -u .../verdigris/core/worker/install/start.py PYTHON -c TEXT ARGUMENT...

PYTHON is named again because an application's program, such as mayapy, may start another one:
children of the worker start with the program that works.
"""

import contextlib
import os
import runpy
import sys
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

# not resolved: a mapped drive stays one
PACKAGES = Path(__file__).absolute().parents[4]
_FOREIGN = ("site-packages", "dist-packages")


def use_packages() -> None:
    """Puts the packages first, and leaves out those of the application and of the user."""
    named = {*os.environ.get("PYTHONPATH", "").split(os.pathsep), ""}
    kept = [each for each in sys.path if each not in named and Path(each).name not in _FOREIGN]
    sys.path[:] = [str(PACKAGES), *kept]


def hold() -> list[IO[str]]:
    """Holds the worker's marker, so that no set-up removes a worker that runs. On Windows, an open
    file cannot be removed."""
    held: list[IO[str]] = []
    # a folder that is not complete has no marker, and some network folders have no locks
    with contextlib.suppress(OSError):
        held.append((PACKAGES / "worker.json").open())
        if sys.platform != "win32":
            fcntl.flock(held[0], fcntl.LOCK_SH | fcntl.LOCK_NB)
    return held


def main(words: list[str]) -> None:
    """Runs what the words name."""
    python, kind, what = words[:3]
    sys.executable = python
    use_packages()
    held = hold()
    sys.argv = [what if kind == "-m" else kind, *words[3:]]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
    for each in held:
        each.close()


if __name__ == "__main__":
    main(sys.argv[1:])
