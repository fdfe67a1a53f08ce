"""Starts and ends the fake Maya, with the faults of a real mayapy: it prints to the standard
output, and loses the exit code when the interpreter ends by itself.

The calls are recorded in the file FAKE_CALLS. FAKE_FAULT makes one go wrong.
"""

import atexit
import os
import sys
from pathlib import Path

import fake_maya

from . import __name__ as _application

_calls: list[str] = []


class _Modules:
    """Installs modules for good. The plug-in that starts Maya stays loaded."""

    def setitem(self, modules, name, module):
        if name not in (_application, __name__):
            modules[name] = module
            vars(sys.modules[_application])[name.rpartition(".")[2]] = module

    def delitem(self, modules, name):
        pass


def _record(call):
    _calls.append(call)
    with Path(os.environ["FAKE_CALLS"]).open("a") as file:
        file.write(f"{call}\n")


def initialize(*, name):
    assert name == "python"
    _record("initialize")
    print("Initialising Maya", flush=True)
    os.write(1, b"and its renderer, in C\n")
    if os.environ.get("FAKE_FAULT") == "start":
        raise RuntimeError("no license")
    scene = fake_maya.Scene()
    scene.batch = True
    fake_maya.install(_Modules(), scene)
    atexit.register(os._exit, 0)


def uninitialize():
    assert _calls == ["initialize"], _calls
    _record("uninitialize")
    if os.environ.get("FAKE_FAULT") == "end":
        raise SystemExit(0)
