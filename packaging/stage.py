#!/usr/bin/env python3
"""Builds a Maya module or a Houdini package for one version of the application.

    python3 packaging/stage.py maya-2026 OUT
    python3 packaging/stage.py houdini-21.0 OUT --platform windows

OUT contains the file that the application reads (verdigris.mod or verdigris.json) and the folder
`verdigris`: the plug-in, Verdigris, packages that the application lacks, those of the worker, and
make_worker.py, which unpacks them.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from entries import TEMPLATES, TREE, write_entry
from hosts import BY_NAME, SYSTEMS, HostVersion, this_system
from pages import copy_pages
from wheels import StageError, install_wheels, requirements
from worker_wheels import FOLDER, collect

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("core", "plugins", "shaders", "ui", "web")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "node_modules")


def stage(
    host: HostVersion,
    out: Path,
    system: str = "",
    wheels: bool = True,
    root: Path = ROOT,
    tree: str = TREE,
    worker: bool = True,
) -> Path:
    """Builds the tree of a host. An existing tree is replaced when the new one is complete. It has
    no packages of the worker without `wheels` or `worker`."""
    version = project(root)["version"]
    out.mkdir(parents=True, exist_ok=True)
    made = out / f"{tree}.new"
    shutil.rmtree(made, ignore_errors=True)
    _copy_package(root, made / "scripts" / "verdigris", host.host)
    (made / "scripts" / "verdigris" / "VERSION").write_text(version + "\n", "utf-8", newline="\n")
    shutil.copyfile(TEMPLATES / "make_worker.py", made / "make_worker.py")
    for launcher in (root / "plugins" / "launchers").glob("[!_]*.py"):
        shutil.copyfile(launcher, made / launcher.name)
    for source in _resources(root, host.host):
        shutil.copytree(source, made / source.name, ignore=_LEFT_OUT, dirs_exist_ok=True)
    if (TEMPLATES / host.host).is_dir():
        shutil.copytree(TEMPLATES / host.host, made, dirs_exist_ok=True)
    (made / "site-packages").mkdir()
    system = system or this_system()
    if wheels:
        install_wheels(requirements(host, project(root)), host, system, made)
    if wheels and worker:
        collect(host.python, system, made / FOLDER, root, project(root))
    finished = out / tree
    if (finished / "worker").is_dir():
        # its workers are kept until a newer one works
        (finished / "worker").rename(made / "worker")
    shutil.rmtree(finished, ignore_errors=True)
    made.rename(finished)
    copy_beside(host, out)
    write_entry(host, out, version, system=system)
    return finished


def copy_beside(host: HostVersion, out: Path) -> None:
    """Copies the programs that lie beside the trees of an application: the installer of Maya."""
    for source in (TEMPLATES / f"beside_{host.host}").glob("*.*"):
        shutil.copyfile(source, out / source.name)


def project(root: Path = ROOT) -> dict:
    """The table of the project in pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]


def _resources(root: Path, host: str) -> list[Path]:
    """The folders that the application itself looks into: icons, plug-ins, shelves and others.

    They are those of the plug-in that are no Python packages.
    """
    inside = sorted(each for each in (root / "plugins" / host).iterdir() if each.is_dir())
    return [
        each
        for each in inside
        if not (each / "__init__.py").is_file() and each.name != "__pycache__"
    ]


def _copy_package(root: Path, target: Path, host: str) -> None:
    for package in PACKAGES:
        shutil.copytree(root / package, target / package, ignore=_LEFT_OUT)
    for adapter in (target / "plugins").glob("*/adapter.py"):
        if adapter.parent.name != host:
            shutil.rmtree(adapter.parent)
    copy_pages(root / "docs", host, target / "docs")


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Builds a Maya module or a Houdini package.")
    parser.add_argument("host", choices=BY_NAME, help="the version of the application")
    parser.add_argument("out", type=Path, help="output folder")
    parser.add_argument("--platform", choices=sorted(SYSTEMS), default=this_system())
    parser.add_argument("--python", help="version of the application's Python")
    parser.add_argument("--no-wheels", action="store_true", help="do not install packages")
    parser.add_argument("--no-worker", action="store_true", help="no packages of the worker")
    given = parser.parse_args(arguments)
    host = BY_NAME[given.host]
    if given.python:
        host = replace(host, python=given.python)
    try:
        wheels, worker = not given.no_wheels, not given.no_worker
        tree = stage(host, given.out, given.platform, wheels, worker=worker)
    except (StageError, OSError) as failure:
        print(f"stage: {failure}", file=sys.stderr)
        return 1
    print(f"stage: {tree}\nThe panel sets the worker up; in a terminal: {tree}/make_worker.py")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
