#!/usr/bin/env python3
"""Makes the Python environment of the worker, next to the plug-in.

    python3 make_worker.py
    python3 make_worker.py --progress json      # for programs: a JSON object on each line
    python3 make_worker.py --wheels FOLDER      # without a network, from a folder of wheels
    python3 make_worker.py --into FOLDER        # elsewhere, for example if this folder is read-only
    python3 make_worker.py --remove             # removes the environment

The environment gets Python 3.11, 3.12 or 3.13. If this program runs in another Python, or in that
of an application (mayapy, hython), it looks for one of these on the machine. The Python of an
application is used last, as an environment made with it needs the application's libraries.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parent
SOURCE = TREE / "worker_source"
SUPPORTED = ((3, 13), (3, 12), (3, 11))
_WINDOWS = sys.platform == "win32"
_OF_APPLICATIONS = ("mayapy", "maya", "hython", "houdini")
# Variables of an application, and those that send packages to another place.
_DROPPED = (
    "PYTHON",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "DYLD_",
    "__PYVENV",
    "PIP_USER",
    "PIP_TARGET",
)
_PROBE = """
import importlib.util as u, json, sys, venv, ssl, ctypes
print(json.dumps([sys.executable, list(sys.version_info[:2]), bool(u.find_spec("ensurepip")),
                  bool(u.find_spec("pip"))]))
"""
_WORKS = "import slangpy, MaterialX, OpenImageIO, verdigris.core.api"
_NO_NETWORK = (
    "NewConnectionError",
    "NameResolutionError",
    "ConnectTimeout",
    "ProxyError",
    "getaddr",
)
_PIP = ("--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--retries", "2")
# Lines of pip for a bake's packages and theirs: one each to find, to fetch, and a few more.
_LINES = 60
_CANCELLED = 130


class SetUpError(Exception):
    """The environment cannot be made."""


class Progress:
    """Prints lines for people or for programs. A reader that is gone does not stop the work."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def step(self, phase: str, part: float, text: str) -> None:
        """`part` is that of the whole, from 0 to 1."""
        self._print(
            {"event": "progress", "phase": phase, "part": round(part, 3), "text": text},
            f"{part:4.0%}  {text}",
        )

    def finished(self, python: Path) -> None:
        self._print({"event": "finished", "python": str(python)}, f"{python} is ready")

    def removed(self, folder: Path) -> None:
        self._print({"event": "removed", "folder": str(folder)}, f"removed {folder}")

    def error(self, text: str) -> None:
        self._print({"event": "error", "text": text}, text, sys.stderr)

    def _print(self, event: dict, line: str, stream=None) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self.as_json:
                print(json.dumps(event), flush=True)
            else:
                print(f"make_worker: {line}", file=stream or sys.stdout, flush=True)


def python_in(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if _WINDOWS else "bin/python")


def clean_environment() -> dict:
    """Variables for another Python."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_DROPPED)}


def candidates() -> list:
    """Commands that may start a suitable Python, the best first."""
    own, names = [sys.executable], [f"python{major}.{minor}" for major, minor in SUPPORTED]
    found = [[path] for path in map(shutil.which, (*names, "python3", "python")) if path]
    if _WINDOWS:
        found = [["py", f"-{major}.{minor}"] for major, minor in SUPPORTED] + found
    folders = {
        "darwin": ("/Library/Frameworks/Python.framework/Versions/*/bin", "/opt/homebrew/bin"),
        "win32": ("~/AppData/Local/Programs/Python/Python3*", "C:/Program Files/Python3*"),
    }.get(sys.platform, ("/usr/bin", "/usr/local/bin", "~/.pyenv/versions/*/bin"))
    for pattern in folders:
        place = Path(pattern).expanduser()
        for folder in sorted(Path(place.anchor).glob(str(place.relative_to(place.anchor)))):
            found += [[str(folder / name)] for name in (*names, "python.exe")]
    of_application = Path(sys.executable).stem.lower().startswith(_OF_APPLICATIONS)
    # an application's own Python lies in its prefix, beside the program that wraps it
    inside = [[str(Path(sys.base_prefix) / name)] for name in ("python.exe", "bin/python3")]
    found = [*found, *inside, own] if of_application else [own, *found]
    return list(
        {tuple(each): each for each in found if each[0] == "py" or is_file(each[0])}.values()
    )


def is_file(path: str) -> bool:
    with contextlib.suppress(OSError):
        return Path(path).is_file()
    return False


def probe(command: list) -> tuple:
    """The path of a Python, whether it can add pip to an environment, and whether it has pip."""
    try:
        done = subprocess.run(
            [*command, "-c", _PROBE],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
            env=clean_environment(),
        )
        path, version, adds_pip, has_pip = json.loads(done.stdout.splitlines()[-1])
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        raise SetUpError(f"{' '.join(command)} does not start, or lacks parts of Python") from None
    if tuple(version) not in SUPPORTED:
        raise SetUpError(f"{path} is Python {version[0]}.{version[1]}")
    if not adds_pip and not has_pip:
        raise SetUpError(f"{path} has no ensurepip (on Debian: apt install python3-venv)")
    return path, adds_pip


def make_environment(made: Path, choices: list) -> list:
    """Makes an empty environment with the first Python that can. Returns its pip command."""
    reasons = []
    for command in choices:
        shutil.rmtree(made, ignore_errors=True)
        try:
            path, adds_pip = probe(command)
            run([path, "-m", "venv", *([] if adds_pip else ["--without-pip"]), str(made)])
            run([str(python_in(made)), "-c", "import ssl, ctypes"])
        except SetUpError as failure:
            reasons.append(str(failure))
            continue
        inside = str(python_in(made))
        return [inside, "-m", "pip"] if adds_pip else [path, "-m", "pip", "--python", inside]
    raise SetUpError(
        "no Python 3.11, 3.12 or 3.13 on this machine can make an environment: install one "
        "and run this again with it. Tried: " + "; ".join(dict.fromkeys(reasons))
    )


def run(command: list, on_line=lambda line: None) -> None:
    """Runs a command and passes on its lines. It ends with this program."""
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=clean_environment(),
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        start_new_session=True,
    ) as process:
        lines = []
        try:
            for line in process.stdout:
                lines.append(line.strip())
                on_line(lines[-1])
        except BaseException:
            end(process)
            raise
    if process.returncode:
        raise SetUpError(explain(command, lines))


def end(process: subprocess.Popen) -> None:
    """Ends a command, and the programs that it has started."""
    with contextlib.suppress(OSError):
        if _WINDOWS:
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def explain(command: list, lines: list) -> str:
    """The reason in the output of a command."""
    if any(word in line for line in lines for word in _NO_NETWORK):
        return (
            "the package index cannot be reached: connect this machine to the network and run this "
            "again, or pass a folder of wheels with --wheels FOLDER"
        )
    told = [line for line in lines if line.startswith("ERROR:")] or [each for each in lines if each]
    return f"{Path(command[0]).name} {command[2]} failed: {told[-1] if told else 'no message'}"


def install(pip: list, wheels: Path, progress: Progress) -> None:
    """Installs Verdigris and the packages of a bake."""
    count = 0

    def tell(line: str) -> None:
        nonlocal count
        count += 1
        found = re.match(r"(Collecting|Downloading|Using cached|Installing) (.*)", line)
        if found:
            progress.step(
                "packages", 0.1 + 0.8 * min(count / _LINES, 1), f"{found[1]} {found[2][:100]}"
            )

    offline = ["--no-index", "--find-links", str(wheels)] if wheels else []
    # pip builds inside the source, and the tree may be read-only
    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        source = shutil.copytree(SOURCE, Path(folder) / "source")
        run([*pip, "install", *_PIP, *offline, f"{source}[usd]"], tell)


def make(worker: Path, python: str, wheels: Path, progress: Progress) -> Path:
    """Makes the environment under another name and then puts it into its place."""
    made, old = (worker.with_name(f"{worker.name}.{word}") for word in ("new", "old"))
    try:
        progress.step("python", 0.0, "Looking for Python 3.11, 3.12 or 3.13")
        pip = make_environment(made, [[python]] if python else candidates())
        progress.step("packages", 0.1, "Installing packages")
        install(pip, wheels, progress)
        progress.step("check", 0.9, "Checking the environment")
        run([str(python_in(made)), "-c", _WORKS])
        shutil.rmtree(old, ignore_errors=True)
        if worker.exists():
            worker.rename(old)
        made.rename(worker)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return python_in(worker)


@contextlib.contextmanager
def alone(worker: Path):
    """Refuses a second set-up of the same environment. The lock ends with its process."""
    try:
        worker.parent.mkdir(parents=True, exist_ok=True)
        held = worker.with_name(f".{worker.name}.lock").open("w")
    except OSError as failure:
        raise SetUpError(
            f"{worker.parent} cannot be written ({failure.strerror}): choose another folder with "
            "--into FOLDER, and name its Python in the variable VERDIGRIS_PYTHON"
        ) from None
    with held:
        try:
            if _WINDOWS:
                import msvcrt

                msvcrt.locking(held.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SetUpError(f"{worker} is being made by another process: wait for it") from None
        yield


def main(arguments: list) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--progress", choices=("text", "json"), default="text")
    parser.add_argument("--wheels", type=Path, help="a folder of wheels, instead of the network")
    parser.add_argument("--into", type=Path, default=TREE / "worker", help="the environment")
    parser.add_argument("--python", default="", help="the Python to make it with")
    parser.add_argument("--remove", action="store_true", help="remove the environment")
    given = parser.parse_args(arguments)
    progress = Progress(given.progress == "json")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    worker = given.into.resolve()
    try:
        if given.wheels and not given.wheels.is_dir():
            raise SetUpError(f"--wheels {given.wheels}: there is no such folder")
        with alone(worker):
            if given.remove:
                if worker.exists():
                    shutil.rmtree(worker)
                progress.removed(worker)
            else:
                progress.finished(make(worker, given.python, given.wheels, progress))
    except KeyboardInterrupt:
        progress.error("cancelled: nothing has changed; packages that are fetched are kept")
        return _CANCELLED
    except (SetUpError, OSError) as failure:
        progress.error(str(failure))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
