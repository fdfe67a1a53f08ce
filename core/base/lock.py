"""Locks by name, so that two bakes do not write the same result."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from verdigris.core.base.errors import SettingsError, reason, suggest_elsewhere

# Lies beyond the text: on Windows, other processes cannot read locked bytes.
_LOCKED_BYTE = 1 << 30


class HeldError(SettingsError):
    """Another process holds the lock."""


@contextlib.contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Holds the lock for the name of a result. The system releases it if the process dies."""
    path = folder / f".{name}.lock"
    file = _acquire(path, name)
    try:
        yield
    finally:
        # before the release: otherwise another process could lock a file that is then removed
        with contextlib.suppress(OSError):
            path.unlink()
        file.close()


def clear_locks(folder: Path, names: Iterable[str]) -> None:
    """Removes the lock files of an ended bake, unless a process holds them."""
    for name in names:
        with contextlib.suppress(SettingsError, OSError):
            if (folder / f".{name}.lock").exists():
                with locked(folder, name):
                    pass


def _acquire(path: Path, name: str) -> IO[bytes]:
    while True:
        try:
            file = path.open("a+b")
        except OSError as failure:
            is_name = failure.errno == errno.ENAMETOOLONG
            remedy = f"choose a shorter name than {name!r}" if is_name else "choose another folder"
            raise SettingsError(
                f"{path.parent}: cannot be written to ({reason(failure)}): {remedy}"
            ) from None
        if not _try_lock(file):
            file.seek(0)
            owner = file.read(80).decode(errors="replace").strip() or "unknown"
            file.close()
            raise HeldError(
                f"{path.parent}: {name!r} is being baked here by another process ({owner}): wait "
                "for it, or choose another folder or name"
            )
        if _is_still_there(file, path):
            _sign(file, path)
            return file
        file.close()


def _sign(file: IO[bytes], path: Path) -> None:
    try:
        file.truncate(0)
        file.write(str(os.getpid()).encode())
        file.flush()
    except OSError as failure:
        with contextlib.suppress(OSError):
            path.unlink()
        with contextlib.suppress(OSError):
            file.close()
        raise SettingsError(
            f"{path.parent}: cannot be written to ({reason(failure)}): {suggest_elsewhere(failure)}"
        ) from None


def _is_still_there(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        file.seek(_LOCKED_BYTE)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            # a network folder without locks: bake without a lock
            return True
        return True
