"""Workers that the set-up has unpacked: folders of packages that a plain Python of an application
runs, without an environment of its own.

A worker lies in `VERSION-PYTAG`, in a folder of workers. Its file `worker.json` is written when
all else is complete.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from verdigris.core.base.json_fields import find_json_file

MARKER = "worker.json"
FOLDER = "worker"
PLACES_VARIABLE = "VERDIGRIS_WORKERS"
VERSION_FILE = "VERSION"
# The packages that a plug-in carries, and their list.
WHEELS, LIST = "wheels", "packages.json"
# Neither packages of the user nor those of the application, no current folder, and no delayed
# output. -I would also hide what mayapy sets for itself.
FLAGS = ("-s", "-S", "-P", "-u")
START = Path("verdigris", "core", "worker", "install", "start.py")
# Of the interpreters of applications, mayapy starts as plain Python. hython takes a licence.
_PLAIN = ("python", "mayapy")


@dataclass(frozen=True)
class UnpackedWorker:
    """A complete worker on the disk."""

    folder: Path
    version: str
    tag: str
    """The version of its Python, such as cp311."""
    packages: str
    """The digest of the packages that it was made from."""
    pythons: tuple[str, ...] = ()
    """The programs that have loaded its packages."""

    @property
    def marker(self) -> dict[str, object]:
        """What its file `worker.json` holds."""
        return {
            "version": self.version,
            "tag": self.tag,
            "packages": self.packages,
            "pythons": self.pythons,
        }

    def find_python(self) -> str | None:
        """The Python of this application that runs it: one that has loaded its packages, or else
        the most likely one."""
        found = find_plain_pythons()
        return next((each for each in found if each in self.pythons), next(iter(found), None))

    def command(self, python: str) -> list[str]:
        """The beginning of a command that runs a module with a Python: `-m MODULE` follows."""
        return [python, *FLAGS, str(self.folder / START), python]


def worker_of(command: Sequence[str]) -> Path | None:
    """The folder of the worker that a command starts; None if it starts another Python."""
    depth = len(START.parts)
    for path in map(Path, command[: len(FLAGS) + 2]):
        if path.parts[-depth:] == START.parts:
            return path.parents[depth - 1]
    return None


def python_tag() -> str:
    """The version of this Python, as wheels name it."""
    return f"cp{sys.version_info[0]}{sys.version_info[1]}"


def name_of(version: str, tag: str) -> str:
    """The name of a worker's folder."""
    return f"{version}-{tag}"


def read_worker(folder: Path) -> UnpackedWorker | None:
    """The worker in a folder; None if there is none, or an incomplete one."""
    try:
        found = find_json_file(folder / MARKER)
        version, tag, packages = (str(found[key]) for key in ("version", "tag", "packages"))
        pythons = tuple(map(str, found.get("pythons", ())))
    except (KeyError, TypeError, AttributeError):
        return None
    is_its_name = folder.name == name_of(version, tag)
    return UnpackedWorker(folder, version, tag, packages, pythons) if is_its_name else None


def workers_in(place: Path) -> list[UnpackedWorker]:
    """The complete workers in a folder of workers."""
    try:
        folders = sorted(each for each in place.iterdir() if each.is_dir())
    except OSError:
        return []
    found = map(read_worker, folders)
    return [each for each in found if each is not None]


def user_place() -> Path:
    """The user's folder of workers, for plug-ins in folders that are read-only."""
    import platformdirs

    return Path(platformdirs.user_data_dir("verdigris", False)) / FOLDER


def places(tree: Path) -> list[Path]:
    """The folders of workers for a plug-in, the best first."""
    named = os.environ.get(PLACES_VARIABLE)
    return [Path(named)] if named else [tree / FOLDER, user_place()]


def shipped_version(package: Path) -> str:
    """The version of a staged tree or of an add-on; empty in a checkout."""
    try:
        return (package / VERSION_FILE).read_text("utf-8").strip()
    except OSError:
        return ""


def digest_of(wheels: Iterable[tuple[str, str]]) -> str:
    """Changes with every package. Takes the names and hashes of wheels."""
    lines = "".join(f"{value} {file}\n" for file, value in wheels)
    return hashlib.sha256(lines.encode()).hexdigest()


def find_worker(package: Path) -> UnpackedWorker | None:
    """The worker for a copy of Verdigris and this Python: that which it is part of, or one of the
    same version and, if the plug-in carries packages, from the same ones."""
    own = read_worker(package.parent)
    if own is not None:
        return own
    tree = package.parent.parent
    name, carried = name_of(shipped_version(package), python_tag()), _carried(tree)
    found = (read_worker(place / name) for place in places(tree))
    fit = (each for each in found if each is not None and carried in ("", each.packages))
    return next(fit, None)


def _carried(tree: Path) -> str:
    """The digest of the packages of a tree; empty if it has none."""
    try:
        found = find_json_file(tree / WHEELS / LIST)
        return digest_of((each["file"], each["sha256"]) for each in found["wheels"])
    except (KeyError, TypeError):
        return ""


def find_older_worker(package: Path) -> UnpackedWorker | None:
    """A worker of another version, or from other packages, if there is none that fits."""
    if not shipped_version(package) or find_worker(package) is not None:
        return None
    found = [each for place in places(package.parent.parent) for each in workers_in(place)]
    return next((each for each in found if each.tag == python_tag()), None)


def find_plain_python() -> str | None:
    """The most likely Python of this application as a program of its own."""
    return next(iter(find_plain_pythons()), None)


def find_plain_pythons() -> list[str]:
    """The programs that may be this application's Python, without its window and its licence. The
    most likely one is the first."""
    return list(dict.fromkeys(str(each) for each in _candidates() if each.is_file()))


def _candidates() -> Iterator[Path]:
    suffix = ".exe" if sys.platform == "win32" else ""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    own = Path(sys.executable or "")
    base = Path(sys.base_prefix)
    # an embedded Python may name any program as its own: its prefix is the application's
    for folder in (base / "bin", base):
        for name in (f"python{version}", "python3", "python"):
            yield folder / f"{name}{suffix}"
    maya = os.environ.get("MAYA_LOCATION")
    for folder in (*([Path(maya, "bin")] if maya else ()), own.parent, base / "bin", base.parent):
        yield folder / f"mayapy{suffix}"
    yield base.parent / "bin" / f"mayapy{suffix}"
    houdini = os.environ.get("HFS")
    if houdini:
        yield Path(houdini, "python", "bin", f"python{version}{suffix}")
        yield Path(houdini, f"python{version.replace('.', '')}", f"python{suffix}")
    if own.stem.lower().startswith(_PLAIN):
        yield own
