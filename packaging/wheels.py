"""The packages of a tree: wheels of another Python and system, without what differs by machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hosts import NEEDED, NEEDED_BY_PANEL, PINS_OF_PYTHON, SYSTEMS, HostVersion

LICENCES = "THIRD_PARTY_LICENCES.txt"
LICENCE_WORDS = ("licen", "copying", "notice")
# What pip writes about the machine and the moment. Programs in `bin` name the Python of pip.
_OF_THE_MACHINE = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
_PROGRAMS = ("bin", "Scripts")


class StageError(Exception):
    """A tree cannot be built."""


def requirements(host: HostVersion, project: dict) -> list[str]:
    """The pinned packages that the plug-ins need and the host lacks."""
    lines = list(project["dependencies"])
    for extra in project.get("optional-dependencies", {}).values():
        lines += extra
    pins = {line.partition("==")[0]: line for line in lines if "==" in line}
    unknown = [name for name in NEEDED if name not in pins]
    if unknown:
        raise StageError(f"pyproject.toml pins no {', '.join(unknown)}: pin it there")
    pins |= PINS_OF_PYTHON.get(host.python, {})
    wanted = [name for name in (*NEEDED, *NEEDED_BY_PANEL) if name in pins]
    return [pins[name] for name in wanted if name not in host.carries]


def install_wheels(lines: Sequence[str], host: HostVersion, system: str, tree: Path) -> None:
    """Installs packages for a host on a system, and collects their licences."""
    target = tree / "site-packages"
    platforms = [part for name in SYSTEMS[system].wheels for part in ("--platform", name)]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--implementation", "cp"]
    command += ["--python-version", host.python, *platforms, "--target", str(target), *lines]
    if subprocess.run(command, check=False).returncode:
        raise StageError(
            f"pip found no wheels of {', '.join(lines)} for Python {host.python} on {system}: see "
            "its message above"
        )
    _remove_traces(target)
    (tree / LICENCES).write_text(licences(target), "utf-8", newline="\n")


def licences(packages: Path) -> str:
    """The licences of installed packages, as one text."""
    parts = []
    for facts in sorted(packages.glob("*.dist-info")):
        name, _, version = facts.name.removesuffix(".dist-info").partition("-")
        files = [
            file
            for folder in (facts, packages / name)
            for file in sorted(folder.rglob("*"))
            if file.is_file()
            and file.suffix not in (".py", ".pyi")
            and any(word in file.name.lower() for word in LICENCE_WORDS)
        ]
        if not files:
            raise StageError(f"{name} {version} has no licence file: do not ship it without one")
        parts.append(f"{'=' * 78}\n{name} {version}\n{'=' * 78}\n")
        parts += [
            f"--- {file.relative_to(packages).as_posix()}\n\n{file.read_text('utf-8').strip()}\n"
            for file in files
        ]
    return "\n".join(parts)


def _remove_traces(packages: Path) -> None:
    for name in _PROGRAMS:
        shutil.rmtree(packages / name, ignore_errors=True)
    for facts in packages.glob("*.dist-info"):
        for name in _OF_THE_MACHINE:
            (facts / name).unlink(missing_ok=True)
