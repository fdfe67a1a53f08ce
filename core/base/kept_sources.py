"""Generated shader modules as files of the cache folder, so that the compiler keeps what it makes
of them: it reads and checks a module that is given as text anew in each process."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SUFFIX = ".slang"
# Bytes of all compiled modules: those of some 1,600 materials.
MOST_BYTES = 512 << 20


class KeptSources:
    """The modules in one folder. The compiler searches it, and keeps `compiled` modules two folders
    below another."""

    def __init__(self, folder: Path, compiled: Path) -> None:
        self.folder = folder
        self.compiled = compiled
        # where it cannot be made, nothing is kept
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)

    def keep(self, name: str, text: str) -> bool:
        """Whether there is a file of this module now, which the compiler finds by its name."""
        path = self.folder / (name + _SUFFIX)
        data = text.encode()
        try:
            if not (path.is_file() and path.read_bytes() == data):
                self._write(path, data)
                self._limit()
            # the time of its last use
            os.utime(path)
        except OSError:
            return False
        return True

    def _write(self, path: Path, data: bytes) -> None:
        temporary = path.with_suffix(f".{secrets.token_hex(4)}.tmp")
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    def _limit(self) -> None:
        """Removes what was not used for longest, until the rest is small enough. The newest stay:
        other processes may be about to read them."""
        sizes = {each: each.stat().st_size for each in self.compiled.glob("*/*/*.slang-module")}
        total = sum(sizes.values())
        used = sorted(self.folder.glob("*" + _SUFFIX), key=lambda each: each.stat().st_mtime)
        for source in used[: len(used) // 2]:
            if total <= MOST_BYTES:
                return
            for each in [each for each in sizes if each.stem == source.stem]:
                total -= sizes.pop(each)
                each.unlink(missing_ok=True)
            source.unlink(missing_ok=True)
