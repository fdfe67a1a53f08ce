"""Opens untrusted numpy files, and refuses archives that would inflate."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import SettingsError, reason

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.lib.npyio import NpzFile
    from numpy.typing import NDArray

# Exceptions of numpy and zipfile for damaged files: an unknown compression or encryption, a header
# that is not Python, a shape too large for memory.
UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    TypeError,
    KeyError,
    RuntimeError,
    MemoryError,
    SyntaxError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
# numpy kinds of real numbers.
REAL_KINDS = "fiub"


def open_array(path: Path) -> NDArray[Any]:
    """The array of a .npy file, memory-mapped."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as failure:
        raise SettingsError(
            f"{path}: cannot be read ({reason(failure)}): name another file"
        ) from None
    except (*UNREADABLE, OverflowError) as failure:
        raise SettingsError(
            f"{path}: is not a numpy array ({why_unreadable(failure)}): save the weights with "
            "numpy.save"
        ) from None
    if not isinstance(found, np.ndarray):
        found.close()
        raise SettingsError(f"{path}: contains several arrays (.npz): save one with numpy.save")
    return found


@contextmanager
def open_archive(path: Path, most_bytes: int | None = None) -> Iterator[NpzFile]:
    """The arrays of an .npz file, each read when it is asked for. Damaged files raise errors of
    UNREADABLE.

    This program stores most arrays without compression, so that all arrays together are smaller
    than their file. Others are refused by their directory, before anything is inflated.
    `most_bytes` permits compressed arrays with so many bytes together.
    """
    archive = np.load(path, mmap_mode="r", allow_pickle=False)
    if isinstance(archive, np.ndarray):
        raise TypeError("it contains one array, not several (.npz)")
    with archive:
        entries, size = _directory(archive).infolist(), path.stat().st_size
        needed = sum(entry.file_size for entry in entries)
        if most_bytes is not None:
            if needed > most_bytes:
                raise ValueError(f"its arrays have {needed} bytes, and {most_bytes} are allowed")
        elif needed > size or any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError(
                f"its arrays have {needed} bytes in a file of {size}, but they must be stored "
                "without compression: write it again with numpy.savez"
            )
        yield archive


def stored_array(archive: NpzFile, name: str) -> NDArray[Any]:
    """An array of an archive. For an entry that is none, numpy gives its bytes."""
    found = archive[name]
    if not isinstance(found, np.ndarray):
        raise TypeError("it is not an array")
    return found


def stored_text(archive: NpzFile, name: str, most_bytes: int) -> str:
    """The text that an array of bytes holds. A longer one is refused before it is read."""
    size = _directory(archive).getinfo(f"{name}.npy").file_size
    if size > most_bytes:
        raise ValueError(f"{name} has {size} bytes, and at most {most_bytes} are read")
    return stored_array(archive, name).tobytes().decode()


def why_unreadable(failure: Exception) -> str:
    """Why numpy cannot read a file. Numpy's own advice, to load pickled objects, would run their
    code."""
    return "it contains no plain numbers" if "pickle" in str(failure) else reason(failure)


def _directory(archive: NpzFile) -> zipfile.ZipFile:
    assert archive.zip is not None, "the archive is closed"
    return archive.zip
