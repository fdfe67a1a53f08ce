"""Processes of a fake mayapy and a fake hython: a Python with the packages of the application only,
in an environment and a folder that have nothing to do with Verdigris."""

import importlib.util
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAKES = ROOT / "tests" / "fakes"
LAUNCHERS = ROOT / "plugins" / "launchers"
FAKE_BAKE = Path(__file__).with_name("fake_bake_command.py")
SCENE = Path(__file__).parent / "maya" / "data" / "render_document.ma"
# MaterialX, slangpy, typer and Qt are in none.
CARRIED = ("numpy", "pxr", "platformdirs")


def offer(folder, *packages):
    """A folder with these packages only."""
    folder.mkdir(exist_ok=True)
    for package in packages:
        found = Path(importlib.util.find_spec(package).origin).parents[1]
        for name in (package, f"{package}.libs", *({"usd_core.libs"} if package == "pxr" else ())):
            if (found / name).exists():
                (folder / name).symlink_to(found / name)
    return folder


@dataclass
class Interpreter:
    """An interpreter as an executable file, with what it needs to run."""

    file: Path
    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self):
        return {"PATH": "/usr/bin:/bin", "FAKE_CALLS": str(self.log), **self.variables}

    @property
    def log(self):
        return self.folder / "calls.txt"

    @property
    def calls(self):
        """The calls that started and ended the application."""
        return self.log.read_text().split() if self.log.exists() else []

    def start(self, *arguments, **options):
        command = [str(self.file), *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment, **{**pipes, **options}
        )

    def run(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def make_interpreter(name, folder):
    """A mayapy or hython in a folder."""
    carried = offer(folder / "carried", *CARRIED)
    paths = [str(carried), str(FAKES)]
    # the folder of the fake application has the name of its interpreter
    paths += [str(FAKES / name)] if (FAKES / name).is_dir() else []
    file = folder / name
    # -S: without the packages of the tests
    file.write_text(f'#!/bin/sh\nPYTHONPATH={":".join(paths)} exec "{sys.executable}" -S -B "$@"\n')
    file.chmod(0o755)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    return Interpreter(file, elsewhere)


def fake_worker(folder):
    """The variables that name a worker's Python, which is an executable file here."""
    file = folder / "worker_python"
    # it is tried first, with a program on the command line
    tried = f'[ "$1" = -c ] && exec "{sys.executable}" "$@"\n'
    file.write_text(f'#!/bin/sh\n{tried}exec "{sys.executable}" "{FAKE_BAKE}" "$@"\n')
    file.chmod(0o755)
    return {"VERDIGRIS_PYTHON": str(file), "VERDIGRIS_CONFIG_DIR": str(folder)}
