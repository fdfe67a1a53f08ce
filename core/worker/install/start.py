"""Runs a module or a program text with the packages of an unpacked worker, and no others.

    PYTHON -s -S -P -u .../verdigris/core/worker/install/start.py PYTHON -m MODULE ARGUMENT...
    PYTHON -s -S -P -u .../verdigris/core/worker/install/start.py PYTHON -c TEXT ARGUMENT...

PYTHON is named again because an application's program, such as mayapy, may start another one:
children of the worker start with the program that works.
"""

import os
import runpy
import sys
from pathlib import Path

# not resolved: a mapped drive stays one
PACKAGES = Path(__file__).absolute().parents[4]
_FOREIGN = ("site-packages", "dist-packages")


def use_packages() -> None:
    """Puts the packages first, and leaves out those of the application and of the user."""
    named = {*os.environ.get("PYTHONPATH", "").split(os.pathsep), ""}
    kept = [each for each in sys.path if each not in named and Path(each).name not in _FOREIGN]
    sys.path[:] = [str(PACKAGES), *kept]


def main(words: list[str]) -> None:
    """Runs what the words name."""
    python, kind, what = words[:3]
    sys.executable = python
    use_packages()
    sys.argv = [what if kind == "-m" else kind, *words[3:]]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    main(sys.argv[1:])
