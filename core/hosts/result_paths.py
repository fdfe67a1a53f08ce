"""Results as scenes note them: relative to a folder of the project, so that they are found on a
farm, on the next machine, and after the project has moved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PureWindowsPath


def named_in(file: Path, roots: Sequence[Path]) -> str:
    """The name of a file, relative to the first of these folders that contains it."""
    for root in roots:
        if file.is_relative_to(root):
            return file.relative_to(root).as_posix()
    return file.as_posix()


def found_in(name: str, roots: Sequence[Path]) -> Path:
    """The file with this name: in the first of these folders that has it, or else in the first."""
    if Path(name).is_absolute() or PureWindowsPath(name).drive or not roots:
        return Path(name)
    candidates = [root / name for root in roots]
    return next((each for each in candidates if each.exists()), candidates[0])
