"""Puts a finished folder in the place of another, so that nobody ever finds half of one."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from verdigris.core.base.errors import BundleError, suggest_elsewhere, reason
from verdigris.core.base.lock import locked
from verdigris.core.base.outputs import (
    MANIFEST_FILE,
    WEIGHTS_FILE,
    check_no_bundle,
    kind_of,
    resolved,
    temporary_name,
)
from verdigris.core.bundle.files.manifest import FORMAT, SUFFIX

# What a file will hold, or what reads it when it is written: a large one is not kept until then.
Content = bytes | Callable[[], bytes]

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def replace_folder(path: Path, files: Mapping[str, Content], kind: str = FORMAT) -> Path:
    """Writes a folder of files that manifest.json is one of, in the place of the one before, which
    must be of the same kind; not among the files of another."""
    # a name that is too long is refused where it is locked
    with contextlib.suppress(OSError):
        path = resolved(path) if path.is_symlink() else path
    if path.name in ("", ".."):
        raise BundleError(f"{str(path)!r}: names no folder to write: use a name such as NAME.vdg")
    check_no_bundle(path.parent, path)
    with locked(path.parent, path.name):
        clear_leftovers(path)
        check_replaceable(path, kind)
        new = temporary_name(path)
        try:
            write_folder(new, files)
            put_in_place(new, path)
        except OSError as failure:
            raise BundleError(
                f"{path}: cannot be written ({reason(failure)}): {suggest_elsewhere(failure)}"
            ) from None
        finally:
            remove_folder(new)
    return path


def set_aside_name(target: Path) -> Path:
    """Where the one before is while the new one takes its place, on systems without exchange."""
    return target.with_name(f".{target.name}.old")


def place_of(folder: Path) -> Path:
    """Where a folder belongs that was set aside; of any other, where it is."""
    aside = re.fullmatch(r"\.(.+)\.old", folder.name)
    return folder.with_name(aside[1]) if aside else folder


def bundle_name(folder: Path) -> str:
    """What a bundle is called by where it lies: its folder, without .vdg."""
    return place_of(folder.resolve()).name.removesuffix(SUFFIX)


def clear_leftovers(target: Path) -> None:
    """Undoes what a process that was killed has left. The caller holds the target's lock."""
    aside = set_aside_name(target)
    if aside.is_dir():
        if target.exists():
            remove_folder(aside)
        else:
            aside.rename(target)
    # of exactly this name: that of another result can begin with it
    leftover_name = re.compile(rf"\.{re.escape(target.name)}\.\d+\.tmp")
    # a folder that can be written to alone keeps what is left in it
    with contextlib.suppress(PermissionError):
        for leftover in target.parent.iterdir():
            if leftover_name.fullmatch(leftover.name):
                remove_folder(leftover)


def remove_folder(folder: Path) -> None:
    """Takes a folder away, if it is there, also one that was made read-only, as asset stores do."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.is_symlink() or not folder.is_dir():
        return
    with contextlib.suppress(OSError):
        folder.chmod(stat.S_IRWXU)
        for path, folders, files in os.walk(folder):
            # a folder keeps what is in it, on Windows a file itself
            for name in (*folders, *(files if os.name == "nt" else ())):
                each = Path(path, name)
                if not each.is_symlink():
                    each.chmod(stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)


def write_folder(folder: Path, files: Mapping[str, Content]) -> None:
    """Writes files, with a folder in their names or none, and waits until they are on the disk."""
    folders = {folder, *(folder / name.rpartition("/")[0] for name in files)}
    for each in sorted(folders):
        each.mkdir(exist_ok=True)
    for name, content in files.items():
        with (folder / name).open("xb") as file:
            file.write(content if isinstance(content, bytes) else content())
            file.flush()
            os.fsync(file.fileno())
    for each in folders:
        _sync_folder(each)


def put_in_place(new: Path, target: Path) -> None:
    """Renames `new` to `target`; what was there before is there until then, and gone after."""
    if not target.exists():
        new.rename(target)
    elif _exchange(new, target):
        _sync_folder(target.parent)
        remove_folder(new)
    else:
        aside = set_aside_name(target)
        target.rename(aside)
        new.rename(target)
        _sync_folder(target.parent)
        remove_folder(aside)
    _sync_folder(target.parent)


def check_replaceable(target: Path, kind: str) -> None:
    """Refuses to replace what is not of this kind, as its manifest's `format` says: a file, another
    folder, a bundle by a scene. A manifest that is no JSON is taken for one that was damaged, if
    it has weights beside it. What a link leads to need not be there, but the folder for it."""
    if target.is_symlink() and not target.exists():
        behind = resolved(target)
        if behind.parent.is_dir() and not behind.is_symlink():
            return
    try:
        if _is_empty_or_ours(target, kind):
            return
    except OSError as failure:
        raise BundleError(
            f"{target}: is there, and cannot be looked into ({failure.strerror}): let it be read, "
            "or choose another name"
        ) from None
    if target.exists() or target.is_symlink():
        what = "bundle" if kind == FORMAT else "bundle that pack has written"
        raise BundleError(
            f"{target}: is there, and is no {what}: move it away or choose another name"
        )


def _is_empty_or_ours(target: Path, kind: str) -> bool:
    if not target.is_dir():
        return False
    manifest = target / MANIFEST_FILE
    if not manifest.is_file():
        return not any(target.iterdir())
    # what may not be read is not damaged: raises
    manifest.open("rb").close()
    found = kind_of(manifest)
    return found == kind or (found is None and (target / WEIGHTS_FILE).is_file())


def _exchange(first: Path, second: Path) -> bool:
    """Swaps two names in one step, where system and file system can."""
    if not sys.platform.startswith("linux"):
        return False
    with contextlib.suppress(OSError, AttributeError):
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        names = (os.fsencode(first), os.fsencode(second))
        return bool(rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)
    return False


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    # some network folders cannot
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
