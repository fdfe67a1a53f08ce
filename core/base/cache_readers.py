"""Frees places of dead readers in the cache of shaders.

The cache is an LMDB database with places for 126 readers. A process that is killed keeps its place
for as long as any other has the cache open, such as a worker that stays. LMDB can free such places
(`mdb_reader_check`), but slang-rhi does not ask for it. This does the same: a living process holds
a lock on the byte with its number.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import struct
from collections.abc import Iterator
from pathlib import Path

from verdigris.core.base.files import Folder

# The file of locks of LMDB 0.9 on 64-bit Linux: magic number and format, then places of 64 bytes.
_MAGIC, _FORMATS = 0xBEEFC0DE, (0x2C2F6002,)
_FIRST, _SIZE, _NUMBER = 128, 64, 8
# struct flock: type, whence, start, length, process.
_FLOCK = "hhqqi4x"
FILE = "lock.mdb"


def free_dead_readers(folder: Path) -> int:
    """Frees the places of ended processes in the database of a folder, and counts them. Another
    format stays as it is."""
    try:
        with Folder.at(folder) as held, os.fdopen(held.open(FILE, os.O_RDWR), "r+b") as opened:
            handle = opened.fileno()
            # two at a time could free a place that is taken in between
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            size = os.fstat(handle).st_size
            if size < _FIRST + _SIZE:
                return 0
            with mmap.mmap(handle, size) as places:
                magic, kind = struct.unpack_from("<II", places)
                if magic != _MAGIC or kind not in _FORMATS:
                    return 0
                return sum(map(bool, _free(handle, places)))
    except (OSError, ValueError):
        return 0


def _free(handle: int, places: mmap.mmap) -> Iterator[int]:
    for place in range(_FIRST, len(places) - _SIZE + 1, _SIZE):
        (process,) = struct.unpack_from("<i", places, place + _NUMBER)
        if process > 0 and process != os.getpid() and not _is_locked(handle, process):
            struct.pack_into("<i", places, place + _NUMBER, 0)
            yield process


def _is_locked(handle: int, byte: int) -> bool:
    """Whether another process holds a lock on this byte."""
    asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0)
    with contextlib.suppress(OSError):
        found: bytes = fcntl.fcntl(handle, fcntl.F_GETLK, asked)
        kind: int = struct.unpack(_FLOCK, found)[0]
        return kind != fcntl.F_UNLCK
    return True
