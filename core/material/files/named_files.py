"""Finds folders that have files of given names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

# A folder of a whole disk must not hold the panel for long.
_MOST_FOLDERS = 5000


def find_folders(folder: Path, names: Sequence[str]) -> list[Path]:
    """The folder and folders in it that have one of these files, whatever path the names have and
    whether letters are capitals. The last of several that have the same file are left out."""
    wanted = {name.replace("\\", "/").rsplit("/", 1)[-1].lower() for name in names}
    found = []
    for number, (path, folders, files) in enumerate(os.walk(folder)):
        here = wanted & {file.lower() for file in files}
        if here:
            found.append(Path(path))
            wanted -= here
        if not wanted or number >= _MOST_FOLDERS:
            break
        folders[:] = sorted(each for each in folders if not each.startswith("."))
    return found
