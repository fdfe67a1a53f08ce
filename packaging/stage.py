#!/usr/bin/env python3
"""Builds a Maya module or a Houdini package for one version of the application.

    python3 packaging/stage.py maya-2026 OUT
    python3 packaging/stage.py houdini-21.0 OUT --platform windows

OUT contains the file that the application reads (verdigris.mod or verdigris.json) and the folder
`verdigris`: the plug-in, Verdigris, packages that the application lacks, and make_worker.py, which
makes the Python environment of the worker (--worker runs it).
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hosts import HOSTS, NEEDED, NEEDED_BY_PANEL, PLATFORMS, HostVersion, find_host

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = Path(__file__).resolve().parent / "templates"
PACKAGES = ("core", "plugins", "shaders", "ui")
TREE = "verdigris"
LAUNCHERS = ("batch.py", "selftest.py")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")


class StageError(Exception):
    """A tree cannot be built."""


def stage(
    host: HostVersion, out: Path, system: str = "", wheels: bool = True, root: Path = ROOT
) -> Path:
    """Builds the tree of a host. An existing tree is replaced when the new one is complete."""
    project = _project(root)
    out.mkdir(parents=True, exist_ok=True)
    made = out / f"{TREE}.new"
    shutil.rmtree(made, ignore_errors=True)
    _copy_package(root, made / "scripts" / "verdigris", host.host)
    (made / "scripts" / "verdigris" / "VERSION").write_text(project["version"] + "\n", "utf-8")
    shutil.copytree(root / "plugins" / host.host / "icons", made / "icons")
    _copy_worker_source(root, made / "worker_source")
    shutil.copy(TEMPLATES / "make_worker.py", made)
    for launcher in LAUNCHERS:
        shutil.copy(root / "plugins" / "launchers" / launcher, made)
    if host.host == "maya":
        for folder in ("plug-ins", "scripts", "shelves"):
            source = root / "plugins" / "maya" / folder
            shutil.copytree(source, made / folder, ignore=_LEFT_OUT, dirs_exist_ok=True)
    else:
        for folder, name in (("toolbar", "shelf"), ("python_panels", "pypanel")):
            (made / folder).mkdir()
            shutil.copy(TEMPLATES / f"verdigris.{name}", made / folder)
    (made / "site-packages").mkdir()
    if wheels:
        _install_wheels(requirements(host, project), host, system or this_system(), made)
    tree = out / TREE
    worker = tree / "worker"
    if worker.is_dir():
        # the environment is kept, as it takes minutes to make
        worker.rename(made / "worker")
    shutil.rmtree(tree, ignore_errors=True)
    made.rename(tree)
    write_entry(host, out, project["version"])
    return tree


def requirements(host: HostVersion, project: dict) -> list[str]:
    """The pinned packages that the plug-ins need and the host lacks."""
    lines = list(project["dependencies"])
    for extra in project.get("optional-dependencies", {}).values():
        lines += extra
    pins = {line.partition("==")[0]: line for line in lines if "==" in line}
    unknown = [name for name in NEEDED if name not in pins]
    if unknown:
        raise StageError(f"pyproject.toml pins no {', '.join(unknown)}: pin it there")
    wanted = [name for name in (*NEEDED, *NEEDED_BY_PANEL) if name in pins]
    return [pins[name] for name in wanted if name not in host.carries]


def write_entry(host: HostVersion, folder: Path, version: str, tree: str = "") -> Path:
    """Writes the file that the application reads: a Maya module or a Houdini package."""
    name = "verdigris.mod" if host.host == "maya" else "verdigris.json"
    beside = f"./{TREE}" if host.host == "maya" else f"$HOUDINI_PACKAGE_PATH/{TREE}"
    text = (TEMPLATES / name).read_text("utf-8")
    for key, value in (
        ("host_version", host.version),
        ("next_version", host.next_version),
        ("version", version),
        ("tree", tree or beside),
    ):
        text = text.replace("{" + key + "}", value)
    file = folder / name
    temporary = file.with_name(f".{file.name}.tmp")
    temporary.write_text(text, "utf-8")
    temporary.replace(file)
    return file


def this_system() -> str:
    """The system of this machine, as in PLATFORMS."""
    return {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")


def _project(root: Path) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]


def _copy_package(root: Path, target: Path, host: str) -> None:
    for package in PACKAGES:
        shutil.copytree(root / package, target / package, ignore=_LEFT_OUT)
    for other in {each.host for each in HOSTS} - {host}:
        shutil.rmtree(target / "plugins" / other)
    docs = root / "docs" / f"{host.upper()}.md"
    if docs.is_file():
        (target / "docs").mkdir()
        shutil.copy(docs, target / "docs")


def _copy_worker_source(root: Path, target: Path) -> None:
    target.mkdir()
    for package in PACKAGES:
        shutil.copytree(root / package, target / package, ignore=_LEFT_OUT)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(root / name, target)


def _install_wheels(lines: Sequence[str], host: HostVersion, system: str, tree: Path) -> None:
    platforms = [part for name in PLATFORMS[system] for part in ("--platform", name)]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
    command += ["--only-binary", ":all:", "--implementation", "cp"]
    command += ["--python-version", host.python, *platforms]
    command += ["--target", str(tree / "site-packages"), *lines]
    if subprocess.run(command, check=False).returncode:
        raise StageError(
            f"pip found no wheels of {', '.join(lines)} for Python {host.python} on {system}: see "
            "its message above"
        )


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    names = ", ".join(each.name for each in HOSTS)
    parser = argparse.ArgumentParser(description="Builds a Maya module or a Houdini package.")
    parser.add_argument("host", help=f"one of {names}")
    parser.add_argument("out", type=Path, help="output folder")
    parser.add_argument("--platform", choices=sorted(PLATFORMS), default=this_system())
    parser.add_argument("--python", help="version of the application's Python")
    parser.add_argument("--no-wheels", action="store_true", help="do not install packages")
    parser.add_argument("--worker", action="store_true", help="also make the worker's environment")
    given = parser.parse_args(arguments)
    host = find_host(given.host)
    if host is None:
        parser.error(f"unknown host {given.host!r}: use one of {names}")
    if given.python:
        host = replace(host, python=given.python)
    try:
        tree = stage(host, given.out, given.platform, not given.no_wheels)
    except (StageError, OSError) as failure:
        print(f"stage: {failure}", file=sys.stderr)
        return 1
    program = tree / "make_worker.py"
    if given.worker:
        return subprocess.run([sys.executable, str(program)], check=False).returncode
    print(f"stage: {tree}\nNow make the environment of the worker: python3 {program}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
