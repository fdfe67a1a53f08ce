"""A lock that allows one set-up at a time. It ends with its process."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from provision.console import report

# The file begins with the process id of the holder, and Windows forbids reading a locked byte.
LOCKED_BYTE = 1 << 20


@contextmanager
def held(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        if not try_lock(file):
            file.seek(0)
            owner = file.read().strip() or "unknown"
            report(f"another set-up is running here (process {owner}); waiting for it…")
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
            # Some network file systems have no locks; the set-up continues without one.
            return True
        return True
