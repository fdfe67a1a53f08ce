"""The folder that relative paths begin at, which another process can take away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from verdigris.core.base.errors import VerdigrisError

GONE = "the working folder is gone: change to one that is there"


def is_gone() -> bool:
    """Whether the folder that the program was started in was removed since then, or before."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def require_for(path: Path) -> None:
    """Refuses a relative path where what it begins at is gone, before it is said that nothing is
    there by that name."""
    if not path.is_absolute() and is_gone():
        raise VerdigrisError(GONE)


@contextmanager
def explain_missing_folder() -> Iterator[None]:
    """Says so in place of what the system says, which names no file."""
    try:
        yield
    except FileNotFoundError:
        if is_gone():
            raise VerdigrisError(GONE) from None
        raise
