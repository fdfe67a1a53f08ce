"""Reads the files of a bundle: plain ones, in its folder, of the length and digest that it says."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import numpy as np

from verdigris.core.base.errors import BundleError, reason
from verdigris.core.bundle.files.ktx2 import Texels, TextureShape, read_ktx2
from verdigris.core.bundle.files.manifest_parts import FileRecord, LatentFacts
from verdigris.core.bundle.files.stored_textures import LatentTexture

_OTHER_FILE = (
    "the file is damaged, or was replaced while it was read: try again, or let it be written again"
)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def record_of(name: str, data: bytes) -> FileRecord:
    return FileRecord(name, len(data), digest(data))


def read_whole(folder: Path, name: str, most: int) -> bytes:
    """A file of at most so many bytes; its length is looked at before anything is read."""
    path = folder / name
    with os.fdopen(_open_inside(folder, name), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise BundleError(f"{path}: has {size} bytes: at most {most} are read")
        try:
            # one more, to see a file that grows meanwhile
            data = file.read(most + 1)
        except OSError as failure:
            raise BundleError(f"{path}: cannot be read ({failure.strerror})") from None
    if len(data) > most:
        raise BundleError(f"{path}: grows while it is read: at most {most} bytes are read")
    return data


def read_recorded(folder: Path, record: FileRecord) -> bytes:
    """A file that the manifest records; it must be the one that was written with it."""
    path = folder / record.file
    check_length(folder, record)
    data = read_whole(folder, record.file, record.bytes)
    if len(data) != record.bytes or digest(data) != record.sha256:
        raise BundleError(
            f"{path}: sha256 is {digest(data)}: the manifest says {record.sha256}: {_OTHER_FILE}"
        )
    return data


def read_texture(folder: Path, record: FileRecord, shape: TextureShape) -> list[Texels]:
    """The levels of a texture that the manifest records, finest first."""
    return read_ktx2(read_recorded(folder, record), shape, str(folder / record.file))


def read_latents(folder: Path, facts: LatentFacts) -> LatentTexture:
    """Latents as they are stored."""
    levels = read_texture(folder, facts.record, facts.texture)
    scale, offset = (np.array(each, np.float32) for each in (facts.scale, facts.offset))
    return LatentTexture(levels, scale, offset)


def check_length(folder: Path, record: FileRecord) -> None:
    """Refuses a file that is not as long as the manifest says, without reading it."""
    descriptor = _open_inside(folder, record.file)
    try:
        size = os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
    if size != record.bytes:
        raise BundleError(
            f"{folder / record.file}: bytes are {size}: the manifest says {record.bytes}: "
            f"{_OTHER_FILE}"
        )


def _open_inside(folder: Path, name: str) -> int:
    """Opens the plain file that the name stands for, unless a link leads out of the folder."""
    path = folder / name
    descriptor = _open(path, folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BundleError(f"{path}: is no plain file")
    return descriptor


def _open(path: Path, folder: Path) -> int:
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(folder.resolve(strict=True)):
            raise BundleError(f"{path}: is a link that leads out of the bundle: copy the file")
        # no link is followed a second time, and no pipe is waited for
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        return os.open(real, flags | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        raise BundleError(f"{path}: there is no such file") from None
    except (OSError, RuntimeError, ValueError) as failure:
        raise BundleError(f"{path}: cannot be opened ({reason(failure)})") from None
