"""A session of the fake Maya into which files are dropped: maya_session.py FOLDER FILE...

It prints JSON with the dialogs and the state after each drop. A file may be followed by `=BUTTON`,
which answers its dialog; `mv OLD NEW` moves a folder; `deny HOW` denies to load plug-ins. It runs
in a process of its own, as an installer removes modules.
"""

import importlib
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fakes"))
import fake_maya
import fake_maya_modules


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
    fake_maya.install(Patch(), scene)
    session = fake_maya_modules.Modules(sys.argv[1])
    for name, command in fake_maya_modules.commands(session).items():
        setattr(sys.modules["maya.cmds"], name, command)
    states = []
    for argument in sys.argv[2:]:
        if argument.startswith("mv "):
            Path(argument.split()[1]).rename(argument.split()[2])
            continue
        if argument.startswith("deny"):
            session.denies = argument.removeprefix("deny").strip()
            continue
        file, _, session.answer = argument.partition("=")
        drop(Path(file))
        module = sys.modules.get("verdigris.plugins.common.version")
        states.append(
            {
                "said": session.dialogs[-1] if session.dialogs else "",
                "before": session.dialogs[:-1],
                "loaded": "verdigris_maya" in session.plugins,
                "commands": list(scene.commands),
                "code": module.__file__ if module else "",
                "path": sys.path,
                "variables": {k: v for k, v in os.environ.items() if k.startswith("MAYA_")},
                "modules": session.loaded,
            }
        )
        session.dialogs.clear()
    print(json.dumps(states))


main()
