"""A cache of file digests. An entry is valid while size and time of the file stay the same."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path

from verdigris.core.base.outputs import resolved
from verdigris.core.material.load.provenance import file_digest

FILE = "file_digests.json"
# A younger file can change again without a change of its time stamp.
_YOUNGEST_NANOSECONDS = 2_000_000_000
_MOST_KEPT = 200_000


class DigestCache:
    """Digests by path. Without a folder, the cache lives as long as the process."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = folder / FILE if folder else None
        self._known: dict[str, list[int | str]] = _read(self._file)
        self._fresh: dict[Path, str] = {}
        self._has_new = False
        self.read = 0
        """Number of files that were read."""

    def __call__(self, path: Path) -> str:
        if path in self._fresh:
            return self._fresh[path]
        state = path.stat()
        mark: list[int | str] = [state.st_size, state.st_mtime_ns, state.st_ino]
        key = str(resolved(path))
        kept = self._known.get(key)
        if kept is not None and kept[:3] == mark:
            found = str(kept[3])
        else:
            found = file_digest(path)
            self.read += 1
            if time.time_ns() - state.st_mtime_ns > _YOUNGEST_NANOSECONDS:
                self._known[key] = [*mark, found]
                self._has_new = True
        self._fresh[path] = found
        return found

    def save(self) -> None:
        """Saves the cache for the next process, if possible."""
        if self._file is None or not self._has_new:
            return
        kept = dict(list(self._known.items())[-_MOST_KEPT:])
        temporary = self._file.with_name(f".{FILE}.{os.getpid()}.tmp")
        with contextlib.suppress(OSError):
            temporary.write_text(json.dumps(kept), encoding="utf-8")
            temporary.replace(self._file)
        self._has_new = False


def _read(file: Path | None) -> dict[str, list[int | str]]:
    if file is None:
        return {}
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return {
                key: value
                for key, value in found.items()
                if isinstance(value, list) and len(value) == 4
            }
    return {}
