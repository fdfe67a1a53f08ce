"""Where results are written: never over what is no plain file, never half of one."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import VerdigrisError, reason, suggest_elsewhere
from verdigris.core.base.text import is_encodable

if TYPE_CHECKING:
    import OpenImageIO as oiio
    from numpy.typing import NDArray

# In a bundle or a scene, and the most that is read of it to tell.
MANIFEST_FILE = "manifest.json"
_LARGEST_MANIFEST = 16 << 20
# Beside it in everything that Verdigris writes.
WEIGHTS_FILE = "weights.bin"


def resolved(path: Path) -> Path:
    """Where a path leads. Of links that go round, `Path.resolve` raises what is no OSError."""
    # what the locale has no letters for is nowhere
    return Path(os.path.realpath(path)) if is_encodable(str(path)) else path.absolute()


def behind_link(path: Path, error: type[VerdigrisError] = VerdigrisError) -> Path:
    """What is written: the path, or what it leads to as a link. Refuses one that goes round."""
    try:
        target = resolved(path) if path.is_symlink() else path
        goes_round = target.is_symlink()
    except OSError as failure:
        raise error(
            f"{path}: cannot be written ({reason(failure)}): choose another folder or name"
        ) from None
    if goes_round:
        raise error(f"{path}: is a link that goes round: choose another name")
    return target


def check_output(path: Path, suffixes: Sequence[str] = ()) -> Path:
    """What is written there. Refuses to replace what is no plain file, to write among the files of
    a bundle and, where suffixes are named, to replace a file that has none of them."""
    target = behind_link(path)
    try:
        is_plain = path.is_file() or not path.exists()
    except OSError as failure:
        raise VerdigrisError(
            f"{path}: cannot be written ({failure.strerror}): choose another name"
        ) from None
    if not is_plain:
        raise VerdigrisError(f"{path}: is there, and is no plain file: choose another name")
    check_no_bundle(target.parent, path)
    if suffixes and path.exists() and path.suffix.lower() not in suffixes:
        raise VerdigrisError(
            f"{path}: is there, and is no {' or '.join(suffixes)}: choose another name"
        )
    return target


def check_apart(path: Path, read: Iterable[Path]) -> None:
    """Refuses to write over a file that is read for what is written."""
    if path.exists() and any(each.exists() and path.samefile(each) for each in read):
        raise VerdigrisError(
            f"{path}: is read for what would be written over it: choose another name"
        )


def check_no_bundle(folder: Path, path: Path | None = None) -> None:
    """Refuses a folder that is a bundle or lies in one, for a path in it: who writes the bundle
    again takes all in it away."""
    found = resolved(folder)
    for each in (found, *found.parents):
        if is_bundle_or_scene(each):
            raise VerdigrisError(
                f"{path or folder}: lies in the bundle {each}, whose files are its own: choose "
                "another folder"
            )


def is_bundle_or_scene(folder: Path) -> bool:
    """By its manifest; one that is damaged, or may not be read, by the weights beside it."""
    manifest = folder / MANIFEST_FILE
    kind = kind_of(manifest)
    if kind is not None:
        return kind.startswith("verdigris.")
    try:
        return manifest.is_file() and (folder / WEIGHTS_FILE).is_file()
    except OSError:
        # nothing is written where nothing can be looked at
        return False


def write_file(path: Path, data: bytes) -> None:
    """Writes one file under a temporary name, then renames it."""
    target = check_output(path)
    new = temporary_name(target)
    try:
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(target)
    except OSError as failure:
        # a name that is too long cannot be looked for either
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        remedy = suggest_elsewhere(failure, "another folder or name")
        raise VerdigrisError(f"{path}: cannot be written ({reason(failure)}): {remedy}") from None


def write_image(path: Path, spec: oiio.ImageSpec, texels: NDArray[Any]) -> None:
    """Writes a picture or a map by its extension, whole or not at all."""
    import OpenImageIO as oiio

    target = behind_link(path)
    temporary = _temporary_file(target, path.suffix)
    try:
        file = oiio.ImageOutput.create(str(temporary))
        if file is None:
            raise VerdigrisError(f"{path}: cannot be written: {oiio.geterror()}")
        written = file.open(str(temporary), spec) and file.write_image(texels) and file.close()
        if not written:
            said = " ".join(file.geterror().split()).replace(str(temporary), str(path))
            raise VerdigrisError(
                f"{path}: cannot be written ({said}): free space or choose another folder"
            )
        if not _is_whole(temporary):
            size = temporary.stat().st_size
            raise VerdigrisError(
                f"{path}: cannot be written, only {size} bytes fit: free space or choose another "
                "folder"
            )
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _temporary_file(path: Path, suffix: str) -> Path:
    """An empty file beside the path, for what is then renamed to it: of the rights that any new
    file has, which those of `tempfile` have not."""
    temporary = path.with_name(f".{path.stem}{secrets.token_hex(4)}{suffix}")
    try:
        temporary.open("xb").close()
    except (OSError, ValueError) as failure:
        raise VerdigrisError(
            f"{path}: cannot be written ({reason(failure)}): choose another folder or name"
        ) from None
    return temporary


def _is_whole(file: Path) -> bool:
    """Whether a file can be read: PNGs are closed without a word where the disk is full."""
    import OpenImageIO as oiio

    source = oiio.ImageInput.open(str(file))
    if source is None:
        oiio.geterror()
        return False
    texels = source.read_image()
    problem = source.geterror()
    source.close()
    return texels is not None and not problem


def temporary_name(target: Path) -> Path:
    """Beside the target, so that a rename is all it takes; named for the process."""
    return target.with_name(f".{target.name}.{os.getpid()}.tmp")


def kind_of(manifest: Path) -> str | None:
    """What a manifest says it is of; None where it cannot be read. One that is too large for a
    bundle or a scene is of nothing, whatever it says."""
    try:
        if not manifest.is_file():
            return None
        with manifest.open("rb") as file:
            data = file.read(_LARGEST_MANIFEST + 1)
        if len(data) > _LARGEST_MANIFEST:
            return ""
        found = json.loads(data)
    except (OSError, ValueError, RecursionError):
        return None
    return str(found.get("format", "")) if isinstance(found, dict) else ""


def redirect_to_null(descriptors: Iterable[int]) -> None:
    """Of outputs that nobody takes any more: what is still to be written there would fail again, at
    the latest when the program ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for each in descriptors:
        os.dup2(nowhere, each)
    os.close(nowhere)
