"""Reads a bundle's files and checks them: plain, in its folder, with recorded length and digest."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import numpy as np

from verdigris.core.base.errors import BundleError, reason
from verdigris.core.bundle.files.ktx2 import BC6H, Texels, TextureShape, read_ktx2
from verdigris.core.bundle.files.manifest_parts import FileRecord, LatentFacts, MapFacts
from verdigris.core.bundle.files.stored_proxies import ProxyFacts, texels_a_proxy
from verdigris.core.bundle.files.stored_textures import LatentTexture, emission_of_blocks
from verdigris.core.bundle.proxies.proxy_texture import Proxies

_OTHER_FILE = (
    "the file is damaged, or was replaced while it was read: try again, or write the bundle again"
)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def record_of(name: str, data: bytes) -> FileRecord:
    return FileRecord(name, len(data), digest(data))


def read_whole(folder: Path, name: str, most: int) -> bytes:
    """Reads a file of at most `most` bytes. The length is checked before anything is read."""
    path = folder / name
    with os.fdopen(_open_inside(folder, name), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise BundleError(f"{path}: has {size} bytes: the limit is {most}")
        try:
            # one byte more, to detect a file that grows
            data = file.read(most + 1)
        except OSError as failure:
            raise BundleError(f"{path}: cannot be read ({failure.strerror})") from None
    if len(data) > most:
        raise BundleError(f"{path}: grows while it is read: the limit is {most} bytes")
    return data


def read_recorded(folder: Path, record: FileRecord) -> bytes:
    """Reads a file that the manifest records, and checks its length and digest."""
    path = folder / record.file
    check_length(folder, record)
    data = read_whole(folder, record.file, record.bytes)
    if len(data) != record.bytes or digest(data) != record.sha256:
        raise BundleError(
            f"{path}: sha256 is {digest(data)}: the manifest has {record.sha256}: {_OTHER_FILE}"
        )
    return data


def read_texture(folder: Path, record: FileRecord, shape: TextureShape) -> list[Texels]:
    """Reads the mip levels of a recorded texture, finest first."""
    return read_ktx2(read_recorded(folder, record), shape, str(folder / record.file))


def read_latents(folder: Path, facts: LatentFacts) -> LatentTexture:
    """Reads the stored latents."""
    levels = read_texture(folder, facts.record, facts.texture)
    scale, offset = (np.array(each, np.float32) for each in (facts.scale, facts.offset))
    return LatentTexture(facts.format, facts.layout, levels, scale, offset)


def read_emission(folder: Path, facts: MapFacts) -> list[Texels]:
    """The mip levels [height, width, 4] of an emission map, in half floats."""
    levels = read_texture(folder, facts.record, facts.texture)
    if facts.format != BC6H:
        return levels
    return emission_of_blocks(levels, facts.width, facts.height)


def read_proxies(folder: Path, facts: ProxyFacts | None, latents: LatentFacts) -> Proxies | None:
    """Reads the stored proxies, if there are any."""
    if facts is None:
        return None
    levels = read_texture(folder, facts.record, facts.texture)
    return Proxies(levels, texels_a_proxy(latents, facts), facts.curves)


def check_constants(folder: Path, record: FileRecord, wanted: bytes) -> None:
    """Requires constants.bin to hold the numbers of the weights."""
    found, needed = (np.frombuffer(data, "<u4") for data in (read_recorded(folder, record), wanted))
    other = np.flatnonzero(found != needed)
    if len(other):
        place = int(other[0])
        values = [float(each[place : place + 1].view("<f4")[0]) for each in (found, needed)]
        raise BundleError(
            f"{folder / record.file}: the number at byte {4 * place} is {values[0]:.6g}, but "
            f"{values[1]:.6g} in the weights: write the bundle again"
        )


def check_length(folder: Path, record: FileRecord) -> None:
    """Refuses a file whose length differs from the manifest, without reading it."""
    descriptor = _open_inside(folder, record.file)
    try:
        size = os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
    if size != record.bytes:
        raise BundleError(
            f"{folder / record.file}: bytes are {size}: the manifest has {record.bytes}: "
            f"{_OTHER_FILE}"
        )


def _open_inside(folder: Path, name: str) -> int:
    """Opens a plain file; refuses a link that leaves the folder."""
    path = folder / name
    descriptor = _open(path, folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BundleError(f"{path}: is not a plain file")
    return descriptor


def _open(path: Path, folder: Path) -> int:
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(folder.resolve(strict=True)):
            raise BundleError(f"{path}: is a link that leads out of the bundle: copy the file")
        # do not follow a second link, and do not wait for a pipe
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        return os.open(real, flags | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        raise BundleError(f"{path}: there is no such file") from None
    except (OSError, RuntimeError, ValueError) as failure:
        raise BundleError(f"{path}: cannot be opened ({reason(failure)})") from None
