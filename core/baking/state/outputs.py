"""Where results go: their folder, names and paths, checked before any work."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.state.checkpoint import clear_leftovers, state_path
from verdigris.core.base.errors import DocumentError, SettingsError, reason
from verdigris.core.base.files import make_folders, remove_empty_folder
from verdigris.core.base.json_fields import is_material_name
from verdigris.core.base.lock import locked
from verdigris.core.base.outputs import check_apart, check_no_bundle
from verdigris.core.base.process.profile import profiled
from verdigris.core.base.text import LONGEST_NAME, why_not_unicode
from verdigris.core.bundle.files.manifest import FORMAT, SUFFIX
from verdigris.core.bundle.files.replace_folder import check_replaceable
from verdigris.core.bundle.history import History
from verdigris.core.material.load.provenance import files_read, source_facts, text_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from verdigris.core.baking.state.options import BakeOptions
    from verdigris.core.material.teacher.teacher import Teacher


def bundle_paths(options: BakeOptions, teachers: Sequence[Teacher]) -> tuple[Path, ...]:
    """The path of each material's bundle: NAME.vdg; or, for several materials, their own names,
    with NAME in front if it is not the first material's name."""
    if options.names:
        return tuple(options.folder / f"{name}{SUFFIX}" for name in options.names)
    own = [teacher.material.file_name for teacher in teachers]
    names = [options.name]
    if len(own) > 1:
        names = own if options.name == own[0] else [f"{options.name}-{each}" for each in own]
    # Clay and clay are the same folder if the file system ignores case
    distinct = unique_names([name.lower() for name in names])
    suffixes = [new.removeprefix(name.lower()) for new, name in zip(distinct, names, strict=True)]
    return tuple(
        options.folder / f"{name}{suffix}{SUFFIX}"
        for name, suffix in zip(names, suffixes, strict=True)
    )


def claim_folder(
    opened: ExitStack, teachers: Sequence[Teacher], paths: Sequence[Path], options: BakeOptions
) -> None:
    """Makes the folder, locks the names of the results, and checks that they can be written."""
    opened.enter_context(result_folder(options.folder))
    for name in sorted({options.name, *(path.stem for path in paths)}):
        opened.enter_context(locked(options.folder, name))
    _check_paths(paths, state_path(options.folder, options.name))
    if options.keeps_versions:
        for path in paths:
            History(path).require_own_folder()
    if options.viewport_textures:
        _check_textures(paths, teachers)
    clear_leftovers(options.folder, options.name)


def _check_paths(paths: Sequence[Path], state: Path) -> None:
    """Refuses to overwrite anything but bundles and checkpoints."""
    for path in paths:
        check_replaceable(path, FORMAT)
    if state.is_dir():
        raise SettingsError(
            f"{state}: is a folder where the checkpoint goes: move it or choose another name"
        )


def _check_textures(paths: Sequence[Path], teachers: Sequence[Teacher]) -> None:
    """Refuses viewport textures that would overwrite a file that a material reads."""
    from verdigris.core.flatten.viewport import texture_paths

    read = [file for each in teachers for file in files_read(each.document, each.material)]
    for path in paths:
        for texture in texture_paths(path).values():
            check_apart(texture, read)


def check_names(paths: Sequence[Path], teachers: Sequence[Teacher]) -> None:
    """Refuses names that are too long for a file system, or that cannot be printed."""
    for teacher in teachers:
        document, name = teacher.document.name, teacher.material.name
        if not is_material_name(name):
            raise DocumentError(
                f"{document}: the material {name!r} has a name that is blank or cannot be "
                "printed: rename it"
            )
        if why_not_unicode(document):
            raise DocumentError(why_not_unicode(document))
    for path in paths:
        length = len(os.fsencode(path.stem))
        if length > LONGEST_NAME:
            raise SettingsError(
                f"the name {path.stem!r} has {length} bytes: choose one with at most "
                f"{LONGEST_NAME}, or give the material a shorter one"
            )


@profiled("digest of files")
def document_facts(teacher: Teacher) -> dict[str, Any]:
    """Facts about the material's document and files, without folders of this machine."""
    facts = source_facts(teacher.document, teacher.material)
    changed = teacher.changed_files()
    if changed:
        raise DocumentError(f"{changed[0]}: has changed since it was read: start the bake again")
    # for applications, which compare it without MaterialX
    return {**facts, "text_sha256": text_digest(teacher.document.text)}


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names, with numbers after repeated ones: clay, clay-2."""
    found: list[str] = []
    for name in names:
        unique, number = name, 2
        while unique in found or (unique != name and unique in names):
            unique, number = f"{name}-{number}", number + 1
        found.append(unique)
    return tuple(found)


@contextlib.contextmanager
def result_folder(folder: Path) -> Iterator[None]:
    """Makes the folder of the result. If new folders stay empty, they are removed at the end."""
    new = _missing_folders(folder)
    make_folder(folder)
    try:
        yield
    finally:
        # rmdir refuses folders that are not empty
        with contextlib.suppress(OSError):
            for each in new:
                remove_empty_folder(each)


def _missing_folders(folder: Path) -> list[Path]:
    """The folder and its parents that do not exist."""
    return [*takewhile(lambda each: not os.path.lexists(each), (folder, *folder.parents))]


def require_writable(folder: Path) -> None:
    """Refuses a folder in which no file can be made, before hours of work."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as failure:
        raise SettingsError(
            f"{folder}: nothing can be written there ({reason(failure)}): choose another folder"
        ) from None


def make_folder(folder: Path) -> None:
    """Makes the folder of the result, or raises an error that says why not."""
    try:
        check_no_bundle(folder)
        try:
            make_folders(folder)
        except FileExistsError:
            if not folder.is_dir():
                raise
    except FileExistsError:
        what = "is a broken link" if folder.is_symlink() else "is a file"
        raise SettingsError(f"{folder}: {what}: choose a folder for the result") from None
    except OSError as failure:
        raise SettingsError(
            f"{folder}: the folder cannot be made ({failure.strerror}): choose another"
        ) from None
