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
from verdigris.core.base.files import Folder, PlantedError

# Lies beyond the text: on Windows, other processes cannot read locked bytes.
_LOCKED_BYTE = 1 << 30


class HeldError(SettingsError):
    """Another process holds the lock."""


@contextlib.contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Holds the lock for the name of a result. The system releases it if the process dies."""
    with contextlib.ExitStack() as opened:
        file, held = _acquire(folder, name, opened)
        try:
            yield
        finally:
            # before the release: otherwise another process could lock a file that is then removed
            with contextlib.suppress(OSError):
                held.remove(_lock_of(name))
            file.close()


def clear_locks(folder: Path, names: Iterable[str]) -> None:
    """Removes the lock files of an ended bake, unless a process holds them."""
    for name in names:
        with contextlib.suppress(SettingsError, OSError):
            if (folder / _lock_of(name)).is_file():
                with locked(folder, name):
                    pass


def _acquire(folder: Path, name: str, opened: contextlib.ExitStack) -> tuple[IO[bytes], Folder]:
    """The locked file, and its folder, which stays open as long as `opened`."""
    try:
        held = opened.enter_context(Folder.at(folder))
        while True:
            file = os.fdopen(held.open(_lock_of(name), os.O_RDWR | os.O_CREAT), "r+b")
            if not _try_lock(file):
                owner = file.read(80).decode(errors="replace").strip() or "unknown"
                file.close()
                raise HeldError(
                    f"{folder}: {name!r} is being baked here by another process ({owner}): wait "
                    "for it, or choose another folder or name"
                )
            if held.has(_lock_of(name), os.fstat(file.fileno())):
                _sign(file, held, name)
                return file, held
            file.close()
    except PlantedError as failure:
        raise SettingsError(f"{folder}: {reason(failure)}, or choose another folder") from None
    except OSError as failure:
        is_name = failure.errno == errno.ENAMETOOLONG
        remedy = f"choose a shorter name than {name!r}" if is_name else "choose another folder"
        raise SettingsError(
            f"{folder}: cannot be written to ({reason(failure)}): {remedy}"
        ) from None


def _lock_of(name: str) -> str:
    return f".{name}.lock"


def _sign(file: IO[bytes], held: Folder, name: str) -> None:
    try:
        file.truncate(0)
        file.write(str(os.getpid()).encode())
        file.flush()
    except OSError as failure:
        with contextlib.suppress(OSError):
            held.remove(_lock_of(name))
        with contextlib.suppress(OSError):
            file.close()
        raise SettingsError(
            f"{held.path}: cannot be written to ({reason(failure)}): {suggest_elsewhere(failure)}"
        ) from None


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
