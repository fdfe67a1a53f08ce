"""Results as scenes note them: relative to a folder of the project, so that they are found on a
farm, on the next machine, and after the project has moved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PureWindowsPath

# Marks a name that is relative to the last folder, which is the scene's own.
_BESIDE = "./"


def named_in(file: Path, roots: Sequence[Path]) -> str:
    """The name of a file, relative to the first of these folders that contains it. One in the last
    of several begins with `./`."""
    for root in roots:
        if file.is_relative_to(root):
            is_last = len(roots) > 1 and root == roots[-1]
            return f"{_BESIDE if is_last else ''}{file.relative_to(root).as_posix()}"
    return file.as_posix()


def found_in(name: str, roots: Sequence[Path]) -> Path:
    """The file with this name: in its folder, or in the first of these folders that has it."""
    if Path(name).is_absolute() or PureWindowsPath(name).drive or not roots:
        return Path(name)
    if name.startswith(_BESIDE):
        return roots[-1] / name.removeprefix(_BESIDE)
    candidates = [root / name for root in roots]
    return next((each for each in candidates if each.exists()), candidates[0])
