"""The paths of results, checked before any work."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.finish.notices import unique_names
from verdigris.core.base.errors import DocumentError, SettingsError
from verdigris.core.base.json_fields import is_material_name
from verdigris.core.base.outputs import check_apart
from verdigris.core.base.process.profile import profiled
from verdigris.core.base.text import LONGEST_NAME, why_not_unicode
from verdigris.core.bundle.files.manifest import FORMAT, SUFFIX
from verdigris.core.bundle.files.replace_folder import check_replaceable
from verdigris.core.material.load.provenance import files_read, source_facts

if TYPE_CHECKING:
    from verdigris.core.baking.state.options import BakeOptions
    from verdigris.core.material.teacher.teacher import Teacher


def bundle_paths(options: BakeOptions, teachers: Sequence[Teacher]) -> tuple[Path, ...]:
    """A bundle for each material: NAME.vdg, or for several materials their own names, with NAME in
    front where it is not the first material's."""
    if options.names:
        return tuple(options.folder / f"{name}{SUFFIX}" for name in options.names)
    own = [teacher.material.file_name for teacher in teachers]
    names = [options.name]
    if len(own) > 1:
        names = own if options.name == own[0] else [f"{options.name}-{each}" for each in own]
    # Clay and clay are one folder where file systems ignore case
    distinct = unique_names([name.lower() for name in names])
    suffixes = [new.removeprefix(name.lower()) for new, name in zip(distinct, names, strict=True)]
    return tuple(
        options.folder / f"{name}{suffix}{SUFFIX}"
        for name, suffix in zip(names, suffixes, strict=True)
    )


def check_paths(paths: Sequence[Path], state: Path) -> None:
    """Refuses to overwrite what is neither a bundle nor a checkpoint."""
    for path in paths:
        check_replaceable(path, FORMAT)
    if state.is_dir():
        raise SettingsError(
            f"{state}: is a folder, but the checkpoint goes there: move it or choose another --name"
        )


def check_textures(paths: Sequence[Path], teachers: Sequence[Teacher]) -> None:
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
                f"{LONGEST_NAME} with --name, or give the material a shorter one"
            )


@profiled("digest of files")
def document_facts(teacher: Teacher) -> dict[str, Any]:
    """Facts on the material's document and files, without folders of this machine."""
    facts = source_facts(teacher.document, teacher.material)
    changed = teacher.changed_files()
    if changed:
        raise DocumentError(f"{changed[0]}: has changed since it was read: start the bake again")
    return facts
