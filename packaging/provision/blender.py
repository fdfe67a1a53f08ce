"""The environment with Blender's module bpy, for the tests of the plug-in.

It is about 1 GB, and has a Python and a numpy of its own: `bootstrap.py test --blender` makes it.
"""

import os
import sys
from pathlib import Path

from provision.console import Commands, SetupError, report
from provision.environment import INSTALL_REMEDY, Environment, empty, python_in
from provision.lock import held
from provision.rights import require_writable

GROUP = "blender"
FOLDER = ".venv-blender"
# bpy has wheels for one version of Python: that of Blender.
PYTHON = "3.11"
_RECORD = "verdigris-packages.txt"
_CHECK = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"


def set_up_blender(environment: Environment, commands: Commands) -> None:
    """Makes the environment, or updates it. If it is complete, this only reads its record."""
    pins = blender_pins(environment.root)
    if _is_current(environment.root / FOLDER, pins):
        return
    with held(environment.lock):
        # another set-up may have made it while this one waited
        if not _is_current(environment.root / FOLDER, pins):
            _install(environment.root, pins, commands)


def blender_pins(root: Path) -> list[str]:
    """The packages of the dependency group in pyproject.toml."""
    import tomllib  # for a faster start

    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return list(project["dependency-groups"][GROUP])


def _is_current(venv: Path, pins: list[str]) -> bool:
    record = venv / _RECORD
    is_there = record.is_file() and python_in(venv).exists()
    return is_there and record.read_text(encoding="utf-8").split() == pins


def _install(root: Path, pins: list[str], commands: Commands) -> None:
    venv = root / FOLDER
    require_writable(root)
    python = require_python(commands)
    (venv / _RECORD).unlink(missing_ok=True)
    if venv.exists():
        empty(venv)
    commands.require(
        f"making {FOLDER} (Python {PYTHON})",
        [python, "-I", "-m", "venv", str(venv)],
        remedy=f"Check that {venv} is writable.",
    )
    report(f"installing into {FOLDER}: {', '.join(pin.replace('==', ' ') for pin in pins)}")
    commands.require(
        "installing Blender's module (about 1 GB)",
        [
            str(python_in(venv)),
            *("-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input"),
            *("--only-binary", ":all:"),
            *pins,
        ],
        remedy=f"{INSTALL_REMEDY} Without --blender, the tests of Blender are skipped.",
    )
    (venv / _RECORD).write_text("\n".join(pins), encoding="utf-8")


def require_python(commands: Commands) -> str:
    """A Python of Blender's version that can make an environment."""
    name = f"python{PYTHON}.exe" if os.name == "nt" else f"python{PYTHON}"
    found = [str(Path(folder) / name) for folder in os.get_exec_path()]
    for candidate in (sys.executable, *(each for each in found if Path(each).is_file())):
        answer = commands.run([candidate, "-I", "-c", _CHECK])
        if answer.code == 0 and answer.output.strip() == PYTHON:
            return candidate
    raise SetupError(
        f"the tests of Blender need Python {PYTHON} with its module venv, and none is on the path: "
        f"install it (on Debian and Ubuntu: sudo apt-get install python{PYTHON}-venv), or run the "
        "tests without --blender"
    )
