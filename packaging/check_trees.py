#!/usr/bin/env python3
"""Imports staged trees, and opens the panel, in a bare Python with what each application offers.

    python3 packaging/check_trees.py
    python3 packaging/check_trees.py --host maya-2027 --keep FOLDER --pictures FOLDER

For each version of an application it stages a tree with its wheels, makes an environment of the
right Python with the packages of `offers` in hosts.py and no others, imports every module of the
plug-in on a fake of the application, opens the panel offscreen, and refuses any warning of a
package. It downloads about 300 MB; --keep keeps the environments for the next run. The exit code is
0 if all versions that can be tried hold, and 1 if one does not.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hosts import BY_NAME, HOSTS, HostVersion
from stage import ROOT, stage
from wheels import StageError

PROBE = Path(__file__).resolve().parent / "tree_probe.py"
FAKES = ROOT / "tests" / "fakes"
# What packages print if they do not fit together.
_WARNINGS = ("compiled using NumPy", "may crash", "DeprecationWarning", "RuntimeWarning")


def find_python(version: str) -> str | None:
    """A Python of a version: this one, one of PATH, or one of pyenv."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    places = Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}")
    found = [path for path in (shutil.which(f"python{version}"), *map(str, sorted(places))) if path]
    for path in found:
        # a shim of pyenv exists for versions that are not chosen
        if not subprocess.run([path, "-c", ""], check=False, capture_output=True).returncode:
            return path
    return None


def make_environment(host: HostVersion, python: str, keep: Path) -> str:
    """The Python of an environment that has what the application offers and nothing else."""
    folder = keep / host.name
    inside = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    complete = folder / "offers.json"
    offers = json.dumps(host.offers)
    if complete.is_file() and complete.read_text("utf-8") == offers:
        return str(inside)
    shutil.rmtree(folder, ignore_errors=True)
    pip = [str(inside), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in ([python, "-m", "venv", str(folder)], [*pip, *host.offers]):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise StageError(f"{host.name}: {' '.join(command[1:4])} failed: {done.stderr[-500:]}")
    complete.write_text(offers, "utf-8")
    return str(inside)


def probe(
    host: HostVersion,
    python: str,
    tree: Path,
    picture: Path | None = None,
    offered: Path | None = None,
) -> dict:
    """Runs the probe in a tree. Raises StageError if the tree does not hold.

    A folder of packages can stand for those of the Python.
    """
    paths = [*filter(None, [offered]), tree / "scripts", tree / "site-packages", FAKES]
    flags = ["-B", "-I", "-S"] if offered else ["-B", "-I"]
    command = [python, *flags, str(PROBE), host.host, str(tree), str(picture or "")]
    environment = {name: value for name, value in os.environ.items() if name[:9] != "VERDIGRIS"}
    with tempfile.TemporaryDirectory(prefix="verdigris_") as config:
        environment |= {"QT_QPA_PLATFORM": "offscreen", "VERDIGRIS_CONFIG_DIR": config}
        done = subprocess.run(
            [*command, *map(str, paths)],
            check=False,
            capture_output=True,
            text=True,
            env=environment,
            cwd=tempfile.gettempdir(),
        )
    told = [line for line in done.stderr.splitlines() if any(word in line for word in _WARNINGS)]
    if done.returncode or told:
        raise StageError(f"{host.name}: {told[0] if told else done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def check(host: HostVersion, keep: Path, pictures: Path | None) -> dict | str:
    """What holds in a bare Python, or the reason why it cannot be tried."""
    python = find_python(host.python)
    if python is None:
        return f"there is no Python {host.python} on this machine"
    inside = make_environment(host, python, keep)
    tree = stage(host, keep / "trees" / host.name, worker=False)
    return probe(host, inside, tree, pictures / f"{host.name}.png" if pictures else None)


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    names = [each.name for each in HOSTS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--host", action="append", choices=names, help="default: all")
    parser.add_argument("--keep", type=Path, help="folder for environments and trees")
    parser.add_argument("--pictures", type=Path, help="folder for pictures of the panels")
    given = parser.parse_args(arguments)
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    holds = True
    with tempfile.TemporaryDirectory(prefix="verdigris_trees_") as folder:
        for name in given.host or names:
            try:
                found = check(BY_NAME[name], given.keep or Path(folder), given.pictures)
            except StageError as failure:
                found, holds = f"does not hold: {failure}", False
            text = found if isinstance(found, str) else json.dumps(found)
            print(f"check_trees: {name}: {text}", flush=True)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
