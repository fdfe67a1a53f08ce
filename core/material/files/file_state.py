"""What tells one state of a file from another without reading it."""

from __future__ import annotations

from pathlib import Path

FileMark = tuple[int, int, int]


def file_mark(path: Path) -> FileMark | None:
    """The file as it is now; None where it is gone."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns, state.st_ino
