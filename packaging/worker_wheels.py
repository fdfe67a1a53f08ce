#!/usr/bin/env python3
"""The packages that a worker is unpacked from: wheels for the Python of an application.

    python3 packaging/worker_wheels.py          # writes worker.lock anew, after a change of pins

worker.lock has the hash of each wheel, for all versions of Python and all systems. A build
downloads exactly these, once, into `build/wheels`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from hosts import BLENDERS, HOSTS, SYSTEMS
from verdigris_wheel import write_wheel
from wheels import LICENCE_WORDS, StageError

LOCK = Path(__file__).resolve().parent / "worker.lock"
KEPT = LOCK.parents[1] / "build" / "wheels"
FOLDER, LIST = "wheels", "packages.json"
# typer needs colorama on Windows; pip asks this machine instead.
_ALSO = ("colorama==0.4.6",)
# Stages of USD, and the live link.
_EXTRAS = ("usd", "link")


def collect(python: str, system: str, target: Path, root: Path, project: dict) -> Path:
    """Fills a folder with Verdigris and its packages for a Python and a system, and their list."""
    target.mkdir(parents=True)
    for wheel in download(python, system):
        shutil.copyfile(wheel, target / wheel.name)
    write_wheel(target, project, root)
    return write_list(target, python, system, project["version"])


def write_list(folder: Path, python: str, system: str, version: str) -> Path:
    """Writes packages.json, which the set-up reads: the hash and the sizes of each wheel."""
    wheels, longest = [], 0
    for file in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
        longest = max(longest, *(len(entry.filename) for entry in entries))
        wheels.append(
            {
                "file": file.name,
                "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
                "size": file.stat().st_size,
                "unpacked": sum(entry.file_size for entry in entries),
            }
        )
    listed = {"version": version, "tag": _tag(python), "system": system, "longest": longest}
    listed |= {"machine": SYSTEMS[system].machine, "wheels": wheels}
    file = folder / LIST
    file.write_text(json.dumps(listed, indent=1) + "\n", "utf-8", newline="\n")
    return file


def download(python: str, system: str) -> list[Path]:
    """The wheels of the lock for a Python and a system. What is there already is not fetched."""
    hashes = locked_wheels(python, system)
    folder = KEPT / f"{_tag(python)}-{system}"
    wanted = {name: folder / name for name in hashes}
    if any(_hash(file) != hashes[name] for name, file in wanted.items()):
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"{_pin(name)} --hash=sha256:{value}" for name, value in hashes.items()]
        with tempfile.TemporaryDirectory(prefix="verdigris_wheels_") as made:
            file = Path(made) / "requirements.txt"
            file.write_text("\n".join(lines), "utf-8")
            _pip_download(python, system, folder, "--no-deps", "--require-hashes", "-r", str(file))
    missing = [name for name, file in wanted.items() if _hash(file) != hashes[name]]
    if missing:
        raise StageError(f"pip did not fetch {', '.join(missing)}: write {LOCK.name} anew")
    return list(wanted.values())


def locked_wheels(python: str, system: str, lock: Path = LOCK) -> dict[str, str]:
    """The hashes of the wheels for a Python and a system, by their names."""
    lines = [line.split() for line in lock.read_text("utf-8").splitlines()]
    kinds = {"any", *(name.partition("_")[0] for name in SYSTEMS[system].wheels)}
    found = {}
    for value, name in lines:
        *_, tag, _abi, platform = name.removesuffix(".whl").split("-")
        is_its_python = tag == _tag(python) or tag.startswith("py")
        # such as macosx_11_0_universal2, manylinux2014_x86_64 or win_amd64
        if is_its_python and platform.split("_")[0].rstrip("0123456789") in kinds:
            found[name] = value
    return found


def pins_of(project: dict) -> list[str]:
    """The packages of a worker, with their versions."""
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *(pin for name in _EXTRAS for pin in extras[name])]


def write_lock(project: dict, lock: Path = LOCK) -> None:
    """Resolves the packages for all versions of Python and all systems, and writes their hashes."""
    pins = [*pins_of(project), *_ALSO]
    found = {}
    pythons = sorted({host.python for host in HOSTS} | {each[1] for each in BLENDERS.values()})
    for python in pythons:
        for system in SYSTEMS:
            with tempfile.TemporaryDirectory(prefix="verdigris_lock_") as folder:
                _pip_download(python, system, Path(folder), *pins)
                files = list(Path(folder).glob("*.whl"))
                for file in files:
                    _require_licence(file)
                found |= {file.name: _hash(file) for file in files}
                size = sum(file.stat().st_size for file in files) / 1e6
                print(f"worker_wheels: Python {python}, {system}: {size:.0f} MB", flush=True)
    lines = [f"{found[name]}  {name}\n" for name in sorted(found)]
    lock.write_text("".join(lines), "utf-8", newline="\n")


def _pip_download(python: str, system: str, folder: Path, *wanted: str) -> None:
    names = (*SYSTEMS[system].newer, *SYSTEMS[system].wheels)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--only-binary", ":all:", "--implementation", "cp", "--python-version", python]
    command += [part for name in names for part in ("--platform", name)]
    if subprocess.run([*command, "--dest", str(folder), *wanted], check=False).returncode:
        raise StageError(
            f"pip cannot download the worker's packages for Python {python} on {system}: see its "
            "message above"
        )


def _require_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [Path(name).name.lower() for name in archive.namelist()]
    if not any(word in name for name in names for word in LICENCE_WORDS):
        raise StageError(f"{wheel.name} has no licence file: do not ship it without one")


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def _pin(wheel: str) -> str:
    name, version, *_ = wheel.split("-")
    return f"{name}=={version}"


def _tag(python: str) -> str:
    return f"cp{python.replace('.', '')}"


def main(_arguments: Sequence[str]) -> int:
    """The command line."""
    from stage import project

    try:
        write_lock(project())
    except (StageError, OSError) as failure:
        print(f"worker_wheels: {failure}", file=sys.stderr)
        return 1
    print(f"worker_wheels: {LOCK}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
