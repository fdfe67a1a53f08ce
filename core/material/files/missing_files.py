"""Guesses where missing files are, and the folders to search for them.

The guess looks through the folders of the search path, those of other images, and the folders
around them, for a limited time.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING

from verdigris.core.base.errors import MissingTextureError
from verdigris.core.base.outputs import resolved
from verdigris.core.material.files.similar_names import pattern_of, trailing_parts

if TYPE_CHECKING:
    from verdigris.core.material.files.paths import SearchPath

MOST_SECONDS = 0.5
MOST_FILES = 20_000
_LEVELS_UP, _LEVELS_DOWN = 2, 3
# A material with many missing files searches once.
_VALID_SECONDS = 5.0
_SUFFIX_OF_BUNDLES = ".vdg"
_MOST_LISTED = 5
# A search through a whole disk must not block the panel for long.
_MOST_FOLDERS = 5000


@dataclass(frozen=True)
class Guess:
    """A file that a name probably stands for."""

    path: Path
    """The file, with the token for its tiles if the name has one."""
    folders: tuple[Path, ...]
    """Folders of which each makes the file found if it is added to the search path; the best is
    first."""


def guess_file(name: str, search: SearchPath, start: Path | None = None) -> Guess | None:
    """The most probable file of a name, or None."""
    parts = trailing_parts(name)
    if not parts:
        return None
    pattern = pattern_of(name)
    ranked = [
        (rank, -_common_folders(path, parts), order, path)
        for order, path in _index(_roots(name, search, start)).candidates(name)
        if (rank := pattern.rank(path.name)) is not None
        and (not search.confined or search.allows(resolved(path)))
    ]
    if not ranked:
        return None
    _, common, _, path = min(ranked)
    found = path.with_name(pattern.with_tokens(path.name))
    return Guess(found, _folders(path, name, parts, -common))


def _folders(path: Path, name: str, parts: Sequence[str], common: int) -> tuple[Path, ...]:
    """Folders that make a file found. The best is the one from which a relative name leads to the
    file, then the innermost."""
    folders = tuple(path.parents)[: common + 1]
    if PureWindowsPath(name).parts == tuple(parts) and common == len(parts) - 1:
        return folders[::-1]
    return folders


def _common_folders(path: Path, parts: Sequence[str]) -> int:
    """The number of innermost folders that a path and a name share."""
    pairs = zip(reversed(path.parent.parts), reversed(parts[:-1]), strict=False)
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _roots(name: str, search: SearchPath, start: Path | None) -> tuple[tuple[Path, ...], int]:
    """Folders to search, the nearest first, and the number of levels above them."""
    own = dict.fromkeys([*([resolved(start)] if start else []), *search.folders])
    if search.confined:
        return tuple(own), 0
    near = _existing_folder(Path(name))
    return tuple(dict.fromkeys([*own, *search.hints, *([near] if near else [])])), _LEVELS_UP


def _existing_folder(path: Path) -> Path | None:
    """The innermost folder of an absolute path that exists, unless that is the root."""
    found = path
    while path.is_absolute() and found != found.parent:
        found = found.parent
        if found.is_dir():
            break
    return found if path.is_absolute() and found != found.parent else None


class _Index:
    """All files in and around folders, in the order of their distance."""

    def __init__(self, folders: Sequence[Path], levels_up: int) -> None:
        self.made = time.monotonic()
        self.files: list[Path] = []
        self.by_stem: defaultdict[str, list[int]] = defaultdict(list)
        for path in _files_around(folders, levels_up, self.made + MOST_SECONDS):
            self.by_stem[path.stem.lower()].append(len(self.files))
            self.files.append(path)
            if len(self.files) >= MOST_FILES:
                break

    def candidates(self, name: str) -> Iterator[tuple[int, Path]]:
        pattern = pattern_of(name)
        numbers: Iterable[int] = range(len(self.files))
        if not pattern.is_tiled:
            numbers = (each for stem in pattern.stems for each in self.by_stem.get(stem, ()))
        return ((number, self.files[number]) for number in numbers)


_last: dict[tuple[tuple[Path, ...], int], _Index] = {}


def _index(roots: tuple[tuple[Path, ...], int]) -> _Index:
    found = _last.get(roots)
    if found is None or time.monotonic() - found.made > _VALID_SECONDS:
        found = _Index(*roots)
        _last.clear()
        _last[roots] = found
    return found


def _files_around(folders: Sequence[Path], levels_up: int, until: float) -> Iterator[Path]:
    """Files in the folders and below, then around the folders above them."""
    seen: set[str] = set()
    for level in range(levels_up + 1):
        for folder in folders:
            root = folder if level == 0 else next(iter(folder.parents[level - 1 : level]), None)
            # the root of a file system contains everything
            if root is not None and (root != root.parent or level == 0):
                yield from _files_below(root, seen, until)


def _files_below(root: Path, seen: set[str], until: float) -> Iterator[Path]:
    queue = [(str(root), 0)]
    for folder, depth in queue:
        if folder in seen or time.monotonic() > until:
            continue
        seen.add(folder)
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except (OSError, ValueError):
            continue
        for entry in listed:
            if entry.name.startswith("."):
                continue
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
                is_file = not is_folder and entry.is_file()
            except OSError:
                continue
            if is_file:
                yield Path(entry.path)
            elif is_folder and depth < _LEVELS_DOWN and not entry.name.endswith(_SUFFIX_OF_BUNDLES):
                queue.append((entry.path, depth + 1))


def search_option(folders: Sequence[Path]) -> str:
    """The options that add these folders to a command."""
    return " ".join(f"--search {_quoted(str(folder))}" for folder in folders)


def _quoted(text: str) -> str:
    is_plain = all(letter.isalnum() or letter in "/\\:._-+~" for letter in text)
    return text if is_plain else f'"{text}"'


def repairing_folders(missing: Sequence[MissingTextureError]) -> tuple[Path, ...]:
    """A few folders that make all files found for which there is a guess."""
    left = [each for each in missing if each.folders]
    chosen: list[Path] = []
    while left:
        count: dict[Path, int] = {}
        for each in left:
            for folder in each.folders:
                count[folder] = count.get(folder, 0) + 1
        best = max(count, key=lambda folder: count[folder])
        chosen.append(best)
        left = [each for each in left if best not in each.folders]
    return tuple(chosen)


def describe_missing(
    missing: Sequence[MissingTextureError], name: str, has_options: bool
) -> MissingTextureError:
    """One error for all missing files of a document."""
    names = list(dict.fromkeys(each.file for each in missing))
    if len(names) == 1:
        return missing[0]
    more = len(names) - _MOST_LISTED
    # without repr, as in paths.py
    listed = ", ".join(f"'{each}'" for each in names[:_MOST_LISTED])
    listed += f" and {more} more" if more > 0 else ""
    folders = repairing_folders(missing)
    found = len({each.file for each in missing if each.folders})
    how_many = "all of them were" if found == len(names) else f"{found} of them were"
    if found == 1:
        how_many = "one of them was"
    if not folders:
        remedy = "correct their names" + (" or add their folder with --search" * has_options)
    elif has_options:
        remedy = f"add {search_option(folders)}, where {how_many} found"
    else:
        where = ", ".join(map(str, folders))
        remedy = f"search in {where}, where {how_many} found"
    text = f"{name}: {len(names)} textures were not found: {listed}: {remedy}"
    return MissingTextureError(text, names[0], folders, is_of_several=True)


def find_folders(folder: Path, names: Sequence[str]) -> list[Path]:
    """The folder, and folders in it, with a file that has one of these names. Folders in the names
    and upper case do not matter. If several folders have the same file, the first counts."""
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
