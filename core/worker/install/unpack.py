"""Unpacks a worker: wheel by wheel into a folder of another name, which is renamed at the end.

An interrupted set-up continues after the last complete wheel. A folder that is not complete is
never used.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from verdigris.core.base.errors import reason
from verdigris.core.base.files import (
    make_folders,
    make_own_folder,
    new_file,
    remove_file,
    remove_folder,
    rename_file,
    replace_file,
)
from verdigris.core.base.json_fields import find_json_file
from verdigris.core.base.process.unpacked_worker import (
    MARKER,
    PLACES_VARIABLE,
    UnpackedWorker,
    name_of,
    read_worker,
    workers_in,
)
from verdigris.core.worker.install.packages import Packages, SetUpError, Wheel

if sys.platform != "win32":
    import fcntl

Tell = Callable[[str, float, str], None]
"""Takes a phase, the completed part of the whole, and a line of text."""
_DONE = "unpacked.json"
NEW, OLD = ".new", ".old"
# Spare bytes for compiled modules.
_RESERVE = 100 << 20
# What Windows permits for a path, unless long paths are switched on.
LONGEST_PATH = 259
_TRIES, _PAUSE = 20, 0.25
# DRIVE_REMOTE of Windows.
_REMOTE = 4
# Folders of a wheel's NAME.data that are installed beside its packages; programs and headers of C
# are not needed.
_DATA = ("purelib", "platlib")
_ANTIVIRUS = (
    "an antivirus program may have removed it: exempt {folder} there, then set the worker up again"
)


def unpack(
    packages: Packages, place: Path, tell: Tell, check: Callable[[Path], None], python: str = ""
) -> Path:
    """Unpacks the worker into a folder of workers, and checks with a Python that its packages load
    before it takes its place."""
    final = place / packages.name
    present = read_worker(final)
    if present is not None and present.packages == packages.digest and not find_damage(final):
        if python not in present.pythons:
            tell("check", 0.9, "Checking the worker")
            check(final)
            _mark(replace(present, pythons=(*present.pythons, python)))
        return final
    made = place / f"{packages.name}{NEW}"
    if why := why_too_long(packages, place):
        raise SetUpError(why)
    done = _begun(made, packages)
    _require_space(packages, place, set(done))
    make_own_folder(made)
    total, so_far = packages.unpacked or 1, 0
    for wheel in packages.wheels:
        size = f" ({wheel.unpacked / 1e6:.0f} MB)" if wheel.unpacked >= 1e6 else ""
        tell("packages", 0.9 * so_far / total, f"Unpacking {wheel.file.split('-')[0]}{size}")
        if wheel.file not in done:
            _unpack_wheel(packages.folder, wheel, made)
            done.append(wheel.file)
            _write(made / _DONE, {"packages": packages.digest, "done": done})
        so_far += wheel.unpacked
    if damage := find_damage(made):
        raise SetUpError(damage)
    tell("check", 0.9, "Checking the worker")
    check(made)
    _mark(UnpackedWorker(made, packages.version, packages.tag, packages.digest, (python,)))
    _put_in_place(made, final)
    return final


def remove_others(worker: Path) -> list[Path]:
    """Removes the workers of other versions with the same Python, but for those that run."""
    own = read_worker(worker)
    others = [each for each in workers_in(worker.parent) if own and each.tag == own.tag]
    return [each.folder for each in others if each != own and remove_worker(each)]


def remove_worker(worker: UnpackedWorker) -> bool:
    """Removes a worker unless it runs: first its marker, so that what stays is not used."""
    name = name_of(worker.version, worker.tag)
    folder = worker.folder.with_name(name)
    try:
        with (folder / MARKER).open() as held:
            if sys.platform != "win32":
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_file(folder / MARKER)
    except OSError:
        # start.py holds it
        return False
    for each in (folder, *(folder.with_name(f"{name}{end}") for end in (NEW, OLD))):
        remove_folder(each)
    return not folder.exists()


def find_damage(worker: Path) -> str:
    """Which file of a worker is missing or has another size, with the remedy; empty if none."""
    for record in sorted(worker.glob("*.dist-info/RECORD")):
        for name, size in _recorded(record):
            file = worker / name
            try:
                found = file.stat().st_size
            except OSError:
                return f"{file} is missing: {_ANTIVIRUS.format(folder=worker)}"
            if size is not None and found != size:
                return (
                    f"{file} has {found} bytes instead of {size}: "
                    f"{_ANTIVIRUS.format(folder=worker)}"
                )
    return ""


def _recorded(record: Path) -> Iterator[tuple[str, int | None]]:
    """The files of a package, as its list has them."""
    import csv

    with record.open(encoding="utf-8", newline="") as lines:
        for row in csv.reader(lines):
            name = _place_of(row[0]) if row else None
            if name is not None:
                yield name, int(row[2]) if len(row) > 2 and row[2] else None


def _place_of(name: str) -> str | None:
    """The place of a wheel's file below the worker; None if it is not needed."""
    first, *rest = name.split("/")
    if first.endswith(".data"):
        return "/".join(rest[1:]) if rest and rest[0] in _DATA else None
    return name


def _begun(made: Path, packages: Packages) -> list[str]:
    """The wheels that an interrupted set-up of the same packages has unpacked."""
    try:
        found = find_json_file(made / _DONE)
        if found["packages"] == packages.digest:
            return [str(each) for each in found["done"]]
    except (KeyError, TypeError):
        pass
    remove_folder(made)
    return []


def _unpack_wheel(folder: Path, wheel: Wheel, target: Path) -> None:
    file = folder / wheel.file
    try:
        with file.open("rb") as held:
            found = hashlib.file_digest(held, "sha256").hexdigest()
        if found != wheel.sha256:
            raise SetUpError(
                f"{file} is damaged: its SHA-256 is {found[:12]}… instead of "
                f"{wheel.sha256[:12]}…: download and unzip the archive again"
            )
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                _unpack_file(archive, entry, target)
    except FileNotFoundError as failure:
        if file.is_file():
            # what was written just now is gone
            raise SetUpError(
                f"{failure.filename} is missing: {_ANTIVIRUS.format(folder=target)}"
            ) from None
        raise SetUpError(
            f"{file} is missing: unzip the whole archive again; if an antivirus program has "
            "removed it, exempt its folder"
        ) from None
    except (zipfile.BadZipFile, EOFError) as failure:
        raise SetUpError(f"{file} is damaged ({failure}): download the archive again") from None
    except OSError as failure:
        raise SetUpError(describe_full(failure, target)) from None


def _unpack_file(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    name = _place_of(entry.filename)
    if entry.is_dir() or name is None:
        return
    parts = name.split("/")
    if "\\" in name or ":" in name or not all(parts) or {".", ".."} & set(parts):
        raise SetUpError(f"{archive.filename} has a file with the name {name!r}: do not use it")
    file = target.joinpath(*parts)
    make_folders(file.parent)
    with archive.open(entry) as packed, new_file(file) as written:
        shutil.copyfileobj(packed, written, 1 << 20)


def describe_full(failure: OSError, folder: Path) -> str:
    """Why a folder cannot be written, with the remedy."""
    if failure.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"{folder}: {reason(failure)}: free space, or name a folder on another disk in the "
            f"variable {PLACES_VARIABLE}"
        )
    if failure.errno == errno.ENAMETOOLONG:
        return (
            f"{folder}: its path is too long: name a shorter folder in the variable "
            f"{PLACES_VARIABLE}"
        )
    return (
        f"{folder} cannot be written ({reason(failure)}): allow it, or name another folder in the "
        f"variable {PLACES_VARIABLE}"
    )


def why_too_long(packages: Packages, place: Path) -> str:
    """Why Windows would not open all files of a worker in this place; empty if it would."""
    final = place / packages.name
    length = len(str(final)) + len(NEW) + 1 + packages.longest
    if sys.platform != "win32" or length <= LONGEST_PATH:
        return ""
    return (
        f"{final} is too long for Windows: with the packages' own names, paths have {length} "
        f"characters, and {LONGEST_PATH} are allowed: name a shorter folder, such as "
        f"C:\\verdigris, in the variable {PLACES_VARIABLE}"
    )


def _require_space(packages: Packages, place: Path, done: set[str]) -> None:
    left = sum(each.unpacked for each in packages.wheels if each.file not in done)
    try:
        make_folders(place)
        free = shutil.disk_usage(place).free
    except OSError as failure:
        raise SetUpError(describe_full(failure, place)) from None
    if free < left + _RESERVE:
        raise SetUpError(
            f"{place} has {free / 1e6:.0f} MB of free space, and the worker needs "
            f"{(left + _RESERVE) / 1e6:.0f} MB: free space, or name a folder on another "
            f"disk in the variable {PLACES_VARIABLE}"
        )


def _put_in_place(made: Path, final: Path) -> None:
    """Renames the new worker. An earlier one of the same name is kept until then."""
    old = final.with_name(f"{final.name}{OLD}")
    remove_folder(old)
    try:
        if final.exists():
            _rename(final, old)
        _rename(made, final)
    except OSError as failure:
        if old.exists() and not final.exists():
            rename_file(old, final)
        raise SetUpError(
            f"{final} cannot be replaced ({reason(failure)}): close all windows that bake, then "
            "try again"
        ) from None
    remove_folder(old)


def _rename(old: Path, new: Path) -> None:
    """Renames a folder. On Windows, an antivirus program may hold new files for a moment."""
    for left in reversed(range(_TRIES)):
        try:
            rename_file(old, new)
        except PermissionError:
            if not left:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _mark(worker: UnpackedWorker) -> None:
    _write(worker.folder / MARKER, worker.marker)


def _write(file: Path, value: object) -> None:
    try:
        replace_file(file, json.dumps(value).encode())
    except OSError as failure:
        raise SetUpError(describe_full(failure, file.parent)) from None


def is_on_network(folder: Path) -> bool:
    """Whether Windows has a folder on a network: //SERVER/SHARE, or a mapped drive."""
    name = os.fspath(folder).replace("\\", "/")
    return name.startswith("//") or (name[1:2] == ":" and _kind_of_drive(name[:2]) == _REMOTE)


def _kind_of_drive(drive: str) -> int:
    """What Windows calls a drive; 0 elsewhere."""
    if sys.platform != "win32":
        return 0
    import ctypes

    return int(ctypes.windll.kernel32.GetDriveTypeW(f"{drive}\\"))
