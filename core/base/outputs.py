"""Writes results completely or not at all, and never over special files or files of a bundle."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import VerdigrisError, reason, suggest_elsewhere
from verdigris.core.base.files import (
    Content,
    Folder,
    remove_file,
    rename_file,
    replace_file,
    temporary_name,
)
from verdigris.core.base.images import ImageError, is_whole, write_texels
from verdigris.core.base.json_fields import find_json
from verdigris.core.base.text import is_encodable, is_of_a_device

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.images import Attributes

# The manifest of a bundle or a scene pack, and the largest that is read to recognise one.
MANIFEST_FILE = "manifest.json"
_LARGEST_MANIFEST = 16 << 20
# The file beside the manifest in every bundle and scene pack.
WEIGHTS_FILE = "weights.bin"
_links: ContextVar[list[str] | None] = ContextVar("links", default=None)


def resolved(path: Path) -> Path:
    """The target of a path. Unlike `Path.resolve` it raises only OSError for circular links."""
    # no file has a name that the locale cannot encode, or one with a null character
    can_exist = is_encodable(str(path)) and "\0" not in str(path)
    return Path(os.path.realpath(path)) if can_exist else path.absolute()


def behind_link(path: Path, error: type[VerdigrisError] = VerdigrisError) -> Path:
    """The file to write: the path, or the target of a link. Refuses circular links."""
    try:
        target = resolved(path) if path.is_symlink() else path
        goes_round = target.is_symlink()
    except OSError as failure:
        raise error(
            f"{path}: cannot be written ({reason(failure)}): choose another folder or name"
        ) from None
    if goes_round:
        raise error(f"{path}: is a circular link: choose another name")
    return target


def check_output(path: Path, suffixes: Sequence[str] = ()) -> Path:
    """The file to write. Refuses to replace special files and folders, to write into a bundle and,
    if suffixes are given, to replace a file with another suffix."""
    target = behind_link(path)
    if is_of_a_device(path.name):
        raise VerdigrisError(f"{path}: the name is reserved by Windows: choose another name")
    try:
        is_plain = path.is_file() or not path.exists()
    except OSError as failure:
        raise VerdigrisError(
            f"{path}: cannot be written ({failure.strerror}): choose another name"
        ) from None
    if not is_plain:
        raise VerdigrisError(f"{path}: exists and is not a plain file: choose another name")
    check_no_bundle(target.parent, path)
    if suffixes and path.exists() and path.suffix.lower() not in suffixes:
        raise VerdigrisError(
            f"{path}: exists and is not a {' or '.join(suffixes)}: choose another name"
        )
    return target


def check_apart(path: Path, read: Iterable[Path]) -> None:
    """Refuses to overwrite an input of the result."""
    if path.exists() and any(each.exists() and path.samefile(each) for each in read):
        raise VerdigrisError(
            f"{path}: is an input of the result and would be overwritten: choose another name"
        )


def check_no_bundle(folder: Path, path: Path | None = None) -> None:
    """Refuses to write into a bundle: writing the bundle again would remove the file."""
    found = resolved(folder)
    for each in (found, *found.parents):
        if is_bundle_or_scene(each):
            raise VerdigrisError(
                f"{path or folder}: lies in the bundle {each}, whose next bake would remove it: "
                "choose another folder"
            )


def is_bundle_or_scene(folder: Path) -> bool:
    """Whether a folder is a bundle or a scene pack, by its manifest. If that is damaged or
    unreadable, by the weights beside it."""
    manifest = folder / MANIFEST_FILE
    kind = kind_of(manifest)
    if kind is not None:
        return kind.startswith("verdigris.")
    try:
        return manifest.is_file() and (folder / WEIGHTS_FILE).is_file()
    except OSError:
        # nothing can be written there either
        return False


@contextmanager
def draft_in(place: Folder, name: str) -> Iterator[Folder]:
    """A new folder, which is removed at the end with what is still in it. Errors contain the folder
    that the user named, in place of `steady_path`."""
    steady = ""
    try:
        place.remove_tree(name)
        with place.new_folder(name) as draft:
            steady = str(draft.steady_path)
            yield draft
    except VerdigrisError as failure:
        if steady:
            failure.args = (str(failure).replace(steady, str(place.path)),)
        raise
    except OSError as failure:
        if steady:
            raise
        raise VerdigrisError(
            f"{place.path}: cannot be written ({reason(failure)}): {suggest_elsewhere(failure)}"
        ) from None
    finally:
        place.remove_tree(name)


@contextmanager
def noting_links() -> Iterator[list[str]]:
    """Collects a sentence for each result that is written through a link: where it went."""
    found: list[str] = []
    token = _links.set(found)
    try:
        yield found
    finally:
        _links.reset(token)


def note_link(path: Path, target: Path) -> None:
    """Notes that a path was written, if it is a link to the target."""
    notes = _links.get()
    if notes is not None and target != path:
        notes.append(f"{path}: is a link, so {target} was written")


def write_file(path: Path, data: Content) -> None:
    """Writes a file completely or not at all. Through a link, the file behind it is written."""
    target = check_output(path)
    write_own_file(target, data, path)
    note_link(path, target)


def write_own_file(path: Path, data: Content, named: Path | None = None) -> None:
    """Writes a file whose name is ours completely or not at all. A link of this name is replaced.
    Errors show the path as the user `named` it."""
    try:
        replace_file(path, data)
    except OSError as failure:
        remedy = suggest_elsewhere(failure, "another folder or name")
        raise VerdigrisError(
            f"{named or path}: cannot be written ({reason(failure)}): {remedy}"
        ) from None


def write_image(
    path: Path,
    texels: NDArray[Any],
    kind: str,
    attributes: Attributes | None = None,
    channel_names: tuple[str, ...] = (),
) -> None:
    """Writes a picture or a map in the format of its extension, completely or not at all."""
    target = behind_link(path)
    temporary = _temporary_file(target, path.suffix)
    try:
        write_texels(temporary, texels, kind, attributes, channel_names)
        if not is_whole(temporary):
            size = temporary.stat().st_size
            raise VerdigrisError(
                f"{path}: cannot be written: only {size} bytes fit: free space or choose another "
                "folder"
            )
        rename_file(temporary, target)
        note_link(path, target)
    except ImageError as failure:
        message = failure.reason.replace(str(temporary), str(path))
        raise VerdigrisError(
            f"{path}: cannot be written ({message}): free space or choose another folder"
        ) from None
    finally:
        remove_file(temporary)


def _temporary_file(path: Path, suffix: str) -> Path:
    """An empty file beside the path, to be renamed to it. Unlike files of `tempfile` it has the
    permissions of any new file."""
    temporary = path.with_name(f"{temporary_name(path.stem)}{suffix}")
    try:
        with Folder.at(path.parent) as folder:
            folder.make(temporary.name).close()
    except (OSError, ValueError) as failure:
        raise VerdigrisError(
            f"{path}: cannot be written ({reason(failure)}): choose another folder or name"
        ) from None
    return temporary


def kind_of(manifest: Path) -> str | None:
    """The format that a manifest names: None if it cannot be read, empty if it is too large for a
    bundle or a scene pack."""
    try:
        if not manifest.is_file():
            return None
        with manifest.open("rb") as file:
            data = file.read(_LARGEST_MANIFEST + 1)
        if len(data) > _LARGEST_MANIFEST:
            return ""
    except (OSError, ValueError):
        return None
    found = find_json(data)
    if found is None:
        return None
    return str(found.get("format", "")) if isinstance(found, dict) else ""


def redirect_to_null(descriptors: Iterable[int]) -> None:
    """Redirects closed outputs. Later writes to them would fail again, at the latest when the
    program ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for each in descriptors:
        os.dup2(nowhere, each)
    os.close(nowhere)
