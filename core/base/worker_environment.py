"""Where Verdigris' own Python is: applications bring theirs, and a bake needs another.

It is looked for in a setting of the machine, in an environment variable and next to the plug-in.
A Python that has what a bake needs, as on a command line, is its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from verdigris.core.base.errors import VerdigrisError, reason

PYTHON_VARIABLE = "VERDIGRIS_PYTHON"
CONFIG_VARIABLE = "VERDIGRIS_CONFIG_DIR"
NEEDED = ("slangpy", "MaterialX", "OpenImageIO")
# In a staged tree, the folder of the worker's environment and the program that makes it.
WORKER_FOLDER, WORKER_PROGRAM = "worker", "make_worker.py"
_SETTING = "worker_python"
# A program that an application without a console starts would open one on Windows.
NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0) if sys.platform == "win32" else 0

# What an application sets for its own Python, loader, Qt, USD and image library. Another Python
# that inherits it loads the application's libraries, and ends or fails. On Windows the search of
# extension modules ignores PATH, and a program's own folder comes first, so PATH is kept.
_HOST_PREFIXES = ("PYTHON", "DYLD_")
_HOST_VARIABLES = (
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LD_AUDIT",
    "__PYVENV_LAUNCHER__",
    "QT_PLUGIN_PATH",
    "QT_QPA_PLATFORM_PLUGIN_PATH",
    "QML_IMPORT_PATH",
    "QML2_IMPORT_PATH",
    "PXR_PLUGINPATH_NAME",
    "OIIO_LIBRARY_PATH",
)


class WorkerEnvironmentError(VerdigrisError):
    """No Python for bakes was found."""


def require_worker_python() -> str:
    """The interpreter for bakes."""
    saved = saved_python()
    if saved is not None:
        return _existing(saved, f"the setting in {settings_file()}")
    named = os.environ.get(PYTHON_VARIABLE)
    if named:
        return _existing(Path(named), PYTHON_VARIABLE)
    package = package_folder()
    staged = python_in(package.parent.parent / WORKER_FOLDER)
    if staged.is_file():
        return str(staged)
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        checkout = python_in(package / ".venv")
        if checkout.is_file():
            return str(checkout)
        raise WorkerEnvironmentError(
            f"this Python has no {', '.join(missing)}, which a bake needs, and Verdigris' own "
            f"Python is neither named by {PYTHON_VARIABLE} nor next to {package}: make it with: "
            f"{command_that_makes_it(package)}"
        )
    return sys.executable


def environment_for(command: Sequence[str]) -> dict[str, str]:
    """Environment variables for a command. Another Python than that of this process gets none of
    the variables that are for the application's own libraries."""
    if command[0] == sys.executable:
        return dict(os.environ)
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _HOST_VARIABLES and not name.startswith(_HOST_PREFIXES)
    }


def package_folder() -> Path:
    """The folder that contains `core`, `ui` and `plugins`."""
    return Path(__file__).resolve().parents[2]


def python_in(environment: Path) -> Path:
    """The interpreter of a virtual environment."""
    if sys.platform == "win32":
        return environment / "Scripts" / "python.exe"
    return environment / "bin" / "python"


def command_that_makes_it(package: Path) -> str:
    """The command that makes the environment."""
    program = package.parent.parent / WORKER_PROGRAM
    if program.is_file():
        return f'python3 "{program}"'
    bootstrap = package / "packaging" / "bootstrap.py"
    if bootstrap.is_file():
        return f'python3 "{bootstrap}" setup'
    return "python3 -m venv verdigris_worker, then pip install verdigris in it"


def settings_file() -> Path:
    """The file of settings of this machine."""
    chosen = os.environ.get(CONFIG_VARIABLE)
    if chosen:
        return Path(chosen) / "machine.json"
    import platformdirs

    return Path(platformdirs.user_config_dir("verdigris", False)) / "machine.json"


def saved_python() -> Path | None:
    """The interpreter in the settings of this machine."""
    file = settings_file()
    if not file.is_file():
        return None
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        value = found.get(_SETTING, "")
    except (OSError, ValueError, AttributeError) as failure:
        raise WorkerEnvironmentError(
            f"{file}: cannot be read ({reason(failure)}): remove it"
        ) from None
    return Path(str(value)) if value else None


def _existing(python: Path, asker: str) -> str:
    if not python.is_file():
        raise WorkerEnvironmentError(
            f"{asker} is {str(python)!r}: there is no such file: correct it, or remove it and "
            f"make the environment with: {command_that_makes_it(package_folder())}"
        )
    return str(python)
