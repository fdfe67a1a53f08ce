"""Finds the files that a document names, and refuses those outside of the allowed folders."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath
from urllib.parse import unquote

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.outputs import resolved
from verdigris.core.base.text import describe_locale

FileMark = tuple[int, int, int]
TILE_TOKENS = {"<UDIM>": r"(?P<udim>[1-9]\d{3})", "<UVTILE>": r"u(?P<u>\d+)_v(?P<v>\d+)"}
# Tokens that other programs replace by a part of a name.
_UNKNOWN_TOKEN = re.compile(r"<(?!UDIM>|UVTILE>)\w+>|\$?\{\w+\}|\$\w+|\[[A-Za-z]\w*\]")


def is_tiled(file: str) -> bool:
    """Whether a file name has a token for tiles."""
    return any(token in file for token in TILE_TOKENS)


def file_mark(path: Path) -> FileMark | None:
    """Size, time and number of a file, which differ once it has changed; None if it is gone."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns, state.st_ino


@dataclass(frozen=True)
class SearchPath:
    """Folders for relative names; files outside of them are refused unless allowed."""

    folders: tuple[Path, ...] = ()
    allow_outside: bool = False
    has_options: bool = True
    """Whether the reader of an error can add folders, as the options of a command do."""

    @classmethod
    def of(
        cls,
        folders: str | Path | Sequence[str | Path],
        allow_outside: bool = False,
        has_options: bool = True,
    ) -> SearchPath:
        """One folder or several. A string is one folder, though it is a sequence too."""
        folders = [folders] if isinstance(folders, str | Path) else folders
        found = tuple(resolved(Path(folder)) for folder in folders)
        return cls(found, allow_outside, has_options)

    def with_folder(self, folder: Path) -> SearchPath:
        """This search path with another first folder."""
        folder = resolved(folder)
        rest = tuple(other for other in self.folders if other != folder)
        return replace(self, folders=(folder, *rest))

    def candidates(self, name: str, start: Path | None = None) -> list[Path]:
        """Paths that a name may stand for, in order, whether they exist or not."""
        path = _to_path(name)
        if path.is_absolute():
            return [resolved(path)]
        starts = ([resolved(start)] if start else []) + list(self.folders)
        return list(dict.fromkeys(resolved(folder / path) for folder in starts))

    def allows(self, path: Path) -> bool:
        """Whether a resolved path is in one of the folders, or may be elsewhere."""
        return self.allow_outside or any(path.is_relative_to(folder) for folder in self.folders)

    def require(
        self, name: str, start: Path | None, asker: str, error: type[VerdigrisError]
    ) -> Path:
        """The file of this name. The error names the asker, the file and the folders searched."""
        if not name or "\0" in name:
            raise error(f"{asker}: {name!r} is no file name")
        found = [path for path in self.candidates(name, start) if _is_file(path)]
        for path in found:
            if self.allows(path):
                return path
        if found:
            remedy = (
                f"allow its folder with --search {found[0].parent} or any with --allow-outside"
                if self.has_options
                else "move it into one of them, and name it there"
            )
            raise error(
                f"{asker}: {name!r} is {found[0]}, outside of the allowed folders "
                f"({self.described()}): {remedy}"
            )
        folder = next((path for path in self.candidates(name, start) if _is_folder(path)), None)
        if folder:
            raise error(f"{asker}: {name!r} is the folder {folder}: name a file")
        self.check_open(name, start, asker, error)
        raise error(
            f"{asker}: {name!r} was not found in {self.described(start)}: "
            f"{self.remedy(name, start)}"
        )

    def check_open(
        self, name: str, start: Path | None, asker: str, error: type[VerdigrisError]
    ) -> None:
        """Raises if a folder of the name cannot be entered, so that the file cannot be found."""
        for path in self.candidates(name, start):
            closed = _find_closed_folder(path)
            if closed:
                raise error(
                    f"{asker}: {name!r} cannot be read: the folder {closed} does not permit it; "
                    "allow reading and entering it"
                )

    def remedy(self, name: str, start: Path | None = None) -> str:
        """What to do if no file of this name was found."""
        if not name.isascii() and sys.getfilesystemencoding() != "utf-8":
            return f"it has other letters in {describe_locale()}"
        token = _UNKNOWN_TOKEN.search(name)
        if token:
            return f"replace {token[0]} by its value"
        # absolute paths are not searched in other folders
        elsewhere = "add its folder with --search" if self.has_options else "put the file there"
        where = "" if _is_absolute(name) else f" or {elsewhere}"
        similar = self._find_similar(name, start)
        question = f"; did you mean {similar}?" if similar else ""
        return f"correct the name{where}{question}"

    def _find_similar(self, name: str, start: Path | None) -> Path | None:
        """A file with a similar name: in a folder of another machine, in other case, or encoded
        as in a URL."""
        found = (
            self._find_in_folders(each, start) for each in dict.fromkeys((name, unquote(name)))
        )
        return next(filter(None, found), None)

    def _find_in_folders(self, name: str, start: Path | None) -> Path | None:
        path = PureWindowsPath(name)
        *parts, last = path.relative_to(path.anchor).parts or ("",)
        pattern = re.escape(last)
        for token, digits in TILE_TOKENS.items():
            pattern = pattern.replace(re.escape(token), digits, 1)
        for outer in dict.fromkeys([*([resolved(start)] if start else []), *self.folders]):
            for first in range(len(parts) + 1):
                folder = resolved(outer.joinpath(*parts[first:]))
                for found in _files_in(folder) if self.allows(folder) else ():
                    is_similar = re.fullmatch(pattern, found.name, re.IGNORECASE)
                    if is_similar and self.allows(resolved(found)):
                        return found
        return None

    def described(self, start: Path | None = None) -> str:
        folders = dict.fromkeys(([resolved(start)] if start else []) + list(self.folders))
        return ", ".join(str(folder) for folder in folders) or "no folder"


def _to_path(name: str) -> Path:
    windows = PureWindowsPath(name)
    return Path(windows.as_posix()) if "\\" in name else Path(name)


def _is_absolute(name: str) -> bool:
    """Whether a name is absolute on this or another system."""
    return Path(name).is_absolute() or PureWindowsPath(name).is_absolute()


def _files_in(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_file())
    except (OSError, ValueError):
        return []


def _find_closed_folder(path: Path) -> Path | None:
    try:
        path.stat()
    except PermissionError:
        above = reversed(path.parents)
        return next((each for each in above if not os.access(each, os.X_OK)), path.parent)
    except (OSError, ValueError):
        pass
    return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
