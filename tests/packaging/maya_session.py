"""A session of the fake Maya into which files are dropped: maya_session.py FOLDER FILE...

It prints JSON with the dialogs and the state after each drop. A file may be followed by `=BUTTON`,
which answers its dialog; `mv OLD NEW` moves a folder. It runs in a process of its own, as an
installer removes modules.
"""

import importlib
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fakes"))
import fake_maya


class Patch:
    """As pytest's monkeypatch, without undoing."""

    def setitem(self, where, name, value):
        where[name] = value

    def delitem(self, where, name):
        del where[name]


def drop(file: Path) -> None:
    """As Maya's executeDroppedPythonFile: the first path is removed without a look at it."""
    sys.path.insert(0, str(file.parent))
    module = importlib.import_module(file.stem)
    module.onMayaDroppedPythonFile(object())
    sys.path.pop(0)


def main() -> None:
    scene = fake_maya.Scene()
    scene.preferences = sys.argv[1]
    fake_maya.install(Patch(), scene)
    states = []
    for argument in sys.argv[2:]:
        if argument.startswith("mv "):
            Path(argument.split()[1]).rename(argument.split()[2])
            continue
        file, _, scene.answer = argument.partition("=")
        drop(Path(file))
        module = sys.modules.get("verdigris.plugins.common.version")
        states.append(
            {
                "said": scene.dialogs[-1] if scene.dialogs else "",
                "loaded": scene.plugins.get("verdigris_maya", False),
                "commands": list(scene.commands),
                "code": module.__file__ if module else "",
                "path": sys.path,
                "variables": {k: v for k, v in os.environ.items() if k.startswith("MAYA_")},
                "modules": scene.modules,
            }
        )
        scene.dialogs.clear()
    print(json.dumps(states))


main()
