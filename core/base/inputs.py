"""Files that are read: plain ones, and from a working folder that still exists.

Pipes and devices may have no end, or wait for ever. Another process can remove the working folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from verdigris.core.base.errors import VerdigrisError, reason

WORKING_FOLDER_GONE = "the working folder was removed: change to an existing folder"


def require_file(path: Path, error: type[VerdigrisError], remedy: str) -> None:
    """Refuses a path that is not a plain file."""
    try:
        if path.is_file():
            return
        is_folder, is_there = path.is_dir(), path.exists()
    except (OSError, ValueError) as failure:
        raise error(f"{path}: cannot be read ({reason(failure)}): {remedy}") from None
    require_working_folder_for(path)
    what = "is a folder" if is_folder else "is not a plain file"
    raise error(f"{path}: {what if is_there else 'there is no such file'}: {remedy}")


def is_working_folder_gone() -> bool:
    """Whether the working folder was removed."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def require_working_folder_for(path: Path) -> None:
    """Refuses a relative path if the working folder was removed: the file itself may exist."""
    if not path.is_absolute() and is_working_folder_gone():
        raise VerdigrisError(WORKING_FOLDER_GONE)


@contextmanager
def explain_missing_folder() -> Iterator[None]:
    """Replaces the system's error, which names no file, if the working folder was removed."""
    try:
        yield
    except FileNotFoundError:
        if is_working_folder_gone():
            raise VerdigrisError(WORKING_FOLDER_GONE) from None
        raise
