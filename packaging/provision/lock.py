"""One set-up at a time. The operating system frees the lock of a process that died."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from provision.console import say

# Windows forbids reading a locked byte, and the file's beginning tells who holds the lock.
LOCKED_BYTE = 1 << 20


@contextmanager
def held(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        if not try_lock(file):
            file.seek(0)
            owner = file.read().strip() or "unknown"
            say(f"another set-up is at work here (process {owner}); waiting for it to end…")
            while not try_lock(file):
                time.sleep(0.2)
        file.seek(0)
        file.truncate()
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


if sys.platform == "win32":
    import msvcrt

    def try_lock(file: IO[str]) -> bool:
        file.seek(LOCKED_BYTE)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def try_lock(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            # Some network file systems have no locks; going on without one is all that is left.
            return True
        return True
