"""The working folder, which another process can remove."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from verdigris.core.base.errors import VerdigrisError

GONE = "the working folder was removed: change to an existing folder"


def is_gone() -> bool:
    """Whether the working folder was removed."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def require_for(path: Path) -> None:
    """Refuses a relative path if the working folder was removed: the file itself may exist."""
    if not path.is_absolute() and is_gone():
        raise VerdigrisError(GONE)


@contextmanager
def explain_missing_folder() -> Iterator[None]:
    """Replaces the system's error, which names no file, if the working folder was removed."""
    try:
        yield
    except FileNotFoundError:
        if is_gone():
            raise VerdigrisError(GONE) from None
        raise
