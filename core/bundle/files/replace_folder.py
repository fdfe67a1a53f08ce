"""Writes a folder atomically: readers find the old folder or the new one, never a part."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path

from verdigris.core.base.errors import BundleError, reason, suggest_elsewhere
from verdigris.core.base.files import Folder, is_link, remove_folder, rename_file, temporary_name
from verdigris.core.base.lock import locked
from verdigris.core.base.outputs import (
    MANIFEST_FILE,
    WEIGHTS_FILE,
    check_no_bundle,
    kind_of,
    note_link,
    resolved,
)
from verdigris.core.base.text import is_of_a_device
from verdigris.core.bundle.files.manifest import FORMAT, SCENE_FORMAT, SUFFIX, TEXTURES_FORMAT

# The bytes of a file, or a function that reads them late, to save memory.
Content = bytes | Callable[[], bytes]
# Removes a folder that was replaced, or keeps it elsewhere.
Dispose = Callable[[Path], None]

_KINDS = {
    FORMAT: "bundle",
    SCENE_FORMAT: "scene pack",
    TEXTURES_FORMAT: "compressed set of textures",
}
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def replace_folder(
    path: Path, files: Mapping[str, Content], kind: str = FORMAT, dispose: Dispose | None = None
) -> Path:
    """Writes a folder with a manifest. An older folder of the same kind is replaced: `dispose` gets
    it, or it is removed. Refuses to write inside another bundle."""
    named = path
    # locked() refuses a name that is too long
    with contextlib.suppress(OSError):
        path = resolved(path) if path.is_symlink() else path
    if path.name in ("", ".."):
        raise BundleError(f"{str(path)!r}: names no folder to write: use a name such as NAME.vdg")
    if is_of_a_device(path.name):
        raise BundleError(f"{path}: the name is reserved by Windows: choose another name")
    check_no_bundle(path.parent, path)
    # before the lock, which changes the folder: a link may lead to one of somebody else
    check_replaceable(path, kind)
    with locked(path.parent, path.name):
        clear_leftovers(path, dispose)
        check_replaceable(path, kind)
        new, old = path.with_name(temporary_name(path.name)), None
        try:
            write_folder(new, files)
            old = swap_in(new, path)
        except OSError as failure:
            raise BundleError(
                f"{path}: cannot be written ({reason(failure)}): {suggest_elsewhere(failure)}"
            ) from None
        finally:
            # after an exchange of names, it is the old folder
            if old is None:
                remove_folder(new)
        if old is not None:
            (dispose or remove_bundle)(old)
    note_link(named, path)
    return path


def backup_path(target: Path) -> Path:
    """Temporary name of the old folder, on systems that cannot exchange two names."""
    return target.with_name(f".{target.name}.old")


def final_path(folder: Path) -> Path:
    """The original path of a backup; any other path unchanged."""
    aside = re.fullmatch(r"\.(.+)\.old", folder.name)
    return folder.with_name(aside[1]) if aside else folder


def bundle_name(folder: Path) -> str:
    """Name of a bundle from its folder, without .vdg."""
    return final_path(folder.resolve()).name.removesuffix(SUFFIX)


def clear_leftovers(target: Path, dispose: Dispose | None = None) -> None:
    """Removes or restores the folders that a killed writer left. `dispose` gets complete ones. The
    caller holds the target's lock."""
    aside = backup_path(target)
    if aside.is_dir() and not is_link(aside):
        if target.exists():
            (dispose or remove_bundle)(aside)
        else:
            rename_file(aside, target)
    for leftover in leftovers_of(target):
        # the manifest is written last
        is_complete = dispose is not None and (leftover / MANIFEST_FILE).is_file()
        (dispose if dispose and is_complete else remove_bundle)(leftover)


def remove_bundle(folder: Path) -> None:
    """Removes a folder with a manifest. The manifest, which is written last, goes first: a process
    that is killed meanwhile leaves nothing that looks whole."""
    remove_folder(folder, MANIFEST_FILE)


def leftovers_of(target: Path) -> list[Path]:
    """The folders that killed writers of a target left."""
    # match the whole name: another result's name can start with it
    leftover_name = re.compile(rf"\.{re.escape(target.name)}\.\d+(\.[0-9a-f]+)?\.tmp")
    # leftovers stay in a folder that cannot be listed
    with contextlib.suppress(PermissionError, FileNotFoundError, NotADirectoryError):
        return [
            each
            for each in target.parent.iterdir()
            if leftover_name.fullmatch(each.name) and not is_link(each)
        ]
    return []


def write_folder(folder: Path, files: Mapping[str, Content]) -> None:
    """Writes files into a new folder, and flushes them to disk. Names may contain one folder."""
    with Folder.at(folder.parent) as parent, parent.new_folder(folder.name) as made:
        for name, content in files.items():
            below, _, plain = name.rpartition("/")
            inner = made.folder(below, makes=True) if below else nullcontext(made)
            with inner as place, place.make(plain) as file:
                file.write(content if isinstance(content, bytes) else content())
                file.flush()
                os.fsync(file.fileno())
    for each in {folder, *((folder / name).parent for name in files)}:
        sync_folder(each)


def swap_in(new: Path, target: Path) -> Path | None:
    """Renames `new` to `target`. Returns the new path of the folder that was there."""
    old = None
    if not target.exists():
        rename_file(new, target)
    elif exchange(new, target):
        old = new
    else:
        old = backup_path(target)
        rename_file(target, old)
        rename_file(new, target)
    sync_folder(target.parent)
    return old


def move_bundles(source: Path, folder: Path) -> None:
    """Moves all bundles of a folder to another one, where they replace those of their names."""
    for each in [*source.glob(f"*{SUFFIX}")]:
        if (old := swap_in(each, folder / each.name)) is not None:
            remove_bundle(old)


def check_replaceable(target: Path, kind: str) -> None:
    """Refuses to replace a file, or a folder with another kind of manifest.

    A manifest that is not JSON counts as damaged if weights lie beside it: its folder may be
    replaced. A link may lead to a missing folder whose parent exists."""
    if target.is_symlink() and not target.exists():
        behind = resolved(target)
        if behind.parent.is_dir() and not behind.is_symlink():
            return
    try:
        if _is_empty_or_ours(target, kind):
            return
    except OSError as failure:
        raise BundleError(
            f"{target}: already exists and cannot be read ({failure.strerror}): make it readable "
            "or choose another name"
        ) from None
    if target.exists() or target.is_symlink():
        what = _KINDS.get(kind, kind)
        raise BundleError(
            f"{target}: already exists and is not a {what}: move it away or choose another name"
        )


def _is_empty_or_ours(target: Path, kind: str) -> bool:
    if not target.is_dir():
        return False
    manifest = target / MANIFEST_FILE
    if not manifest.is_file():
        return not any(target.iterdir())
    # raises if it may not be read: that is not damage
    manifest.open("rb").close()
    found = kind_of(manifest)
    return found == kind or (found is None and (target / WEIGHTS_FILE).is_file())


def exchange(first: Path, second: Path) -> bool:
    """Exchanges two names in one step, if system and file system support it."""
    if not sys.platform.startswith("linux"):
        return False
    with contextlib.suppress(OSError, AttributeError):
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        names = (os.fsencode(first), os.fsencode(second))
        return bool(rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)
    return False


def sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    # some network folders do not support it
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
