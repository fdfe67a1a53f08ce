"""Finds what runs bakes, and the launchers.

The Python of an application lacks the packages of a bake. A worker has them: an unpacked one of the
plug-in, which the application's plain Python runs, or a Python that a setting of the machine or an
environment variable names. If the running Python has what a bake needs, as on a command line, it is
used. A launcher is a program of the plug-ins that the interpreter of an application runs by path.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from verdigris.core.base.errors import HostError, VerdigrisError, reason
from verdigris.core.base.files import make_folders, replace_file
from verdigris.core.base.process.unpacked_worker import (
    UnpackedWorker,
    find_older_worker,
    find_plain_python,
    find_worker,
    read_worker,
    shipped_version,
    worker_of,
)

PYTHON_VARIABLE = "VERDIGRIS_PYTHON"
CONFIG_VARIABLE = "VERDIGRIS_CONFIG_DIR"
NEEDED = ("slangpy", "MaterialX", "OpenImageIO")
# Versions of Python that can bake, the best first.
SUPPORTED = ((3, 13), (3, 12), (3, 11))
# In a staged tree, the program that unpacks the worker.
WORKER_PROGRAM = "make_worker.py"
# In a checkout, the program that makes `.venv`.
BOOTSTRAP_PROGRAM = "bootstrap.py"
_SETTING = "worker_python"
# No current folder, and no delayed output.
FLAGS = ("-P", "-u")
# On Windows, a program that an application without a console starts would open one.
NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0) if sys.platform == "win32" else 0

# Variables that an application sets for itself, its Python, loader, Qt, USD and image library. A
# worker that inherits them loads the application's libraries, and ends or fails. On Windows the
# search of extension modules ignores PATH, and a program's own folder comes first: PATH is kept.
_HOST_PREFIXES = ("PYTHON", "DYLD_", "MAYA_", "HOUDINI_", "QT_", "QML")
_HOST_VARIABLES = (
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LD_AUDIT",
    "__PYVENV_LAUNCHER__",
    "PXR_PLUGINPATH_NAME",
    "OIIO_LIBRARY_PATH",
)


class WorkerEnvironmentError(VerdigrisError):
    """No Python for bakes was found, or one that cannot bake."""


class NoWorkerError(WorkerEnvironmentError):
    """No Python for bakes is named or in its place."""


def require_worker_command() -> list[str]:
    """The beginning of a command that bakes: `-m MODULE` follows."""
    package = package_folder()
    own = read_worker(package.parent)
    if own is not None:
        # this is a worker: what it starts is of the same one
        return own.command(sys.executable)
    for python, source in _chosen_pythons():
        return [_existing(python, source), *FLAGS]
    unpacked = find_worker(package) if shipped_version(package) else None
    if unpacked is not None:
        return unpacked.command(_require_plain_python(unpacked))
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        checkout = python_in(package / ".venv")
        if checkout.is_file():
            return [str(checkout), *FLAGS]
        raise NoWorkerError(
            f"this Python has no {', '.join(missing)}, which a bake needs, and {package} has no "
            f"worker: set it up with: {command_that_makes_it()}"
        )
    return [sys.executable, *FLAGS]


def environment_for(command: Sequence[str]) -> dict[str, str]:
    """Environment variables for a command. An unpacked worker, and a Python other than that of this
    process, do not get those that are for the application."""
    if command[0] == sys.executable and worker_of(command) is None:
        return dict(os.environ)
    return clean_environment()


def start_process(
    command: Sequence[str],
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
    is_apart: bool = False,
    folder: Path | None = None,
    bufsize: int = -1,
) -> subprocess.Popen[bytes]:
    """Starts a command with the environment that is for it, and without a window. Ctrl-C and the
    end of a terminal are not for a process that is apart."""
    return subprocess.Popen(
        command,
        bufsize=bufsize,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=environment_for(command),
        cwd=folder,
        creationflags=NO_WINDOW,
        start_new_session=is_apart and sys.platform != "win32",
    )


def clean_environment() -> dict[str, str]:
    """The variables without those that are for the application."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _HOST_VARIABLES and not name.startswith(_HOST_PREFIXES)
    }


def package_folder() -> Path:
    """The folder that contains `core`, `ui` and `plugins`."""
    found = Path(__file__).absolute().parents[3]
    if shipped_version(found) or (found / "docs").is_dir():
        # not resolved: a mapped drive stays one
        return found
    # links to the packages of a checkout
    return Path(__file__).resolve().parents[3]


def python_in(environment: Path) -> Path:
    """The interpreter of a virtual environment."""
    if sys.platform == "win32":
        return environment / "Scripts" / "python.exe"
    return environment / "bin" / "python"


def find_set_up_program() -> Path | None:
    """The program that makes the environment: that of the staged tree, or of the checkout."""
    package = package_folder()
    programs = (package.parent.parent / WORKER_PROGRAM, package / "packaging" / BOOTSTRAP_PROGRAM)
    return next((program for program in programs if program.is_file()), None)


def older_version() -> str:
    """The version of a worker that does not fit this copy of Verdigris, as after an update; empty
    if there is none, or one that fits."""
    older = find_older_worker(package_folder())
    return older.version if older is not None else ""


def command_that_makes_it() -> str:
    """The command that makes the environment, for messages."""
    program = find_set_up_program()
    if program is None:
        return "python3 -m venv verdigris_worker, then pip install verdigris in it"
    if program.name == BOOTSTRAP_PROGRAM:
        return f'python3 "{program}" setup'
    return f'"{find_plain_python() or "python3"}" "{program}"'


def settings_file() -> Path:
    """The file with the settings of this machine."""
    chosen = os.environ.get(CONFIG_VARIABLE)
    if chosen:
        return Path(chosen) / "machine.json"
    import platformdirs

    return Path(platformdirs.user_config_dir("verdigris", False)) / "machine.json"


def saved_python() -> Path | None:
    """The interpreter in the settings of this machine."""
    value = read_setting(_SETTING)
    return Path(str(value)) if value else None


def save_python(python: Path | None) -> None:
    """Makes an interpreter the choice of this machine; None removes the choice."""
    store_setting(_SETTING, str(python) if python else None)


def source_of(python: str) -> str:
    """The setting or variable that names an interpreter; empty if it was found by its place."""
    return next((source for found, source in _chosen_pythons() if str(found) == python), "")


def read_setting(name: str) -> Any:
    """A setting of this machine; None if it is not set."""
    return _read_settings().get(name)


def store_setting(name: str, value: Any) -> None:
    """Changes one setting of this machine. None removes it."""
    file = settings_file()
    settings = {**_read_settings(), name: value}
    settings = {key: each for key, each in settings.items() if each is not None}
    try:
        make_folders(file.parent)
        replace_file(file, (json.dumps(settings, indent=2) + "\n").encode())
    except OSError as failure:
        raise WorkerEnvironmentError(
            f"{file}: cannot be written ({reason(failure)}): name another folder in "
            f"{CONFIG_VARIABLE}"
        ) from None


def _read_settings() -> dict[str, Any]:
    file = settings_file()
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return found
        why = "it is not a JSON object"
    except (OSError, ValueError) as failure:
        why = reason(failure)
    raise WorkerEnvironmentError(f"{file}: cannot be read ({why}): remove it")


def _chosen_pythons() -> Iterator[tuple[Path, str]]:
    """Named interpreters in order of preference, each with what names it."""
    saved = saved_python()
    if saved is not None:
        yield saved, f"the setting in {settings_file()}"
    named = os.environ.get(PYTHON_VARIABLE)
    if named:
        yield Path(named), PYTHON_VARIABLE


def _require_plain_python(worker: UnpackedWorker) -> str:
    python = worker.find_python()
    if python is None:
        raise WorkerEnvironmentError(
            f"the Python of this application was not found beside {sys.base_prefix}: name the "
            f"Python of an environment with Verdigris in {PYTHON_VARIABLE}"
        )
    return python


def _existing(python: Path, asker: str) -> str:
    if not python.is_file():
        raise WorkerEnvironmentError(
            f"{asker} is {str(python)!r}: there is no such file: correct it, or remove it and "
            f"set a worker up with: {command_that_makes_it()}"
        )
    return str(python)


def require_launcher(program: str, tree: Path | None = None, is_addon: bool = False) -> Path:
    """The launcher of a program in this staged tree; by default, in the staged tree or checkout
    that contains this module. Blender's add-on has launchers of its own."""
    if tree is not None:
        launcher = tree / f"{program}.py"
        if not launcher.is_file():
            raise HostError(
                f"{tree}: has no {launcher.name}: name the folder `verdigris` that "
                "packaging/stage.py made"
            )
        return launcher
    package = package_folder()
    # a worker VERSION-PYTAG lies in a folder of the staged tree
    trees = (package.parent.parent, package.parents[2] if len(package.parents) > 2 else package)
    places = [each for each in trees if (each / "scripts" / "verdigris").is_dir() and not is_addon]
    places.append(package / "plugins" / ("blender" if is_addon else "launchers"))
    for place in places:
        launcher = place / f"{program}.py"
        if launcher.is_file():
            return launcher
    raise HostError(
        f"{program}.py is not in {' or in '.join(map(str, places))}: stage the plug-in with "
        "packaging/stage.py"
    )
