"""Finds the files that a document names.

A confined search path refuses files outside of its folders. Includes are always confined.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath

from verdigris.core.base.errors import MissingTextureError, TextureError, VerdigrisError
from verdigris.core.base.outputs import resolved
from verdigris.core.base.text import describe_locale
from verdigris.core.material.files.missing_files import Guess, guess_file, search_option
from verdigris.core.material.files.similar_names import TILE_TOKENS, pattern_of, trailing_parts

FileMark = tuple[int, int, int]
# Tokens that other programs replace with a part of a name.
_UNKNOWN_TOKEN = re.compile(r"<(?!UDIM>|UVTILE>)\w+>|\$?\{\w+\}|\$\w+|\[[A-Za-z]\w*\]")


def is_tiled(file: str) -> bool:
    """Whether a file name has a token for tiles."""
    return any(token in file for token in TILE_TOKENS)


def file_mark(path: Path) -> FileMark | None:
    """Size, time and number of a file, which differ once it has changed; None if it does not
    exist."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns, state.st_ino


@dataclass(frozen=True)
class SearchPath:
    """Folders for relative names."""

    folders: tuple[Path, ...] = ()
    confined: bool = False
    """Whether files outside of the folders are refused, for untrusted documents."""
    has_options: bool = True
    """Whether the reader of an error can add folders with options of a command."""
    given: tuple[Path, ...] = ()
    """The folders that the user named. In them, images are also found by the last parts of their
    name, with other case and with another suffix."""
    hints: tuple[Path, ...] = ()
    """Further folders to look for missing files in."""

    @classmethod
    def of(
        cls,
        folders: str | Path | Sequence[str | Path],
        confined: bool = False,
        has_options: bool = True,
    ) -> SearchPath:
        """The search path for one folder or several. A string is one folder, although it is also a
        sequence."""
        folders = [folders] if isinstance(folders, str | Path) else folders
        found = tuple(resolved(Path(folder)) for folder in folders)
        return cls(found, confined, has_options, found)

    def with_folder(self, folder: Path) -> SearchPath:
        """This search path with another first folder."""
        folder = resolved(folder)
        rest = tuple(other for other in self.folders if other != folder)
        return replace(self, folders=(folder, *rest))

    def candidates(self, name: str, start: Path | None = None) -> list[Path]:
        """Paths that a name may mean, in order, whether they exist or not."""
        path = _to_path(name)
        if path.is_absolute():
            return [resolved(path)]
        starts = ([resolved(start)] if start else []) + list(self.folders)
        return list(dict.fromkeys(resolved(folder / path) for folder in starts))

    def repaired(self, name: str) -> Iterator[Path]:
        """Further paths that the name of an image may mean: its last parts in the given folders,
        then similar names there. A similar name has the token for its tiles."""
        parts = trailing_parts(name)
        below = [parts[first:-1] for first in range(len(parts))]
        places = [folder.joinpath(*inner) for folder in self.given for inner in below]
        places = [each for each in places if self.allows(resolved(each))]
        yield from (place / parts[-1] for place in places)
        pattern = pattern_of(name)
        for place in places:
            fitting = [(pattern.rank(each.name), each.name) for each in _files_in(place)]
            for _, found in sorted((rank, each) for rank, each in fitting if rank is not None):
                yield place / pattern.with_tokens(found)

    def allows(self, path: Path) -> bool:
        """Whether a resolved path is in one of the folders, or may be elsewhere."""
        return not self.confined or any(path.is_relative_to(folder) for folder in self.folders)

    def for_includes(self) -> SearchPath:
        """The search path for included documents, which stay in its folders."""
        return replace(self, confined=True)

    def require(
        self, name: str, start: Path | None, asker: str, error: type[VerdigrisError]
    ) -> Path:
        """The file of this name. The error names the asker, the file and the folders searched."""
        if not name or "\0" in name:
            raise error(f"{asker}: {name!r} is not a file name")
        is_image = issubclass(error, TextureError)
        found = [path for path in self.candidates(name, start) if is_file(path)]
        for path in found:
            if self.allows(path):
                return path
        if found:
            remedy = (
                f"allow its folder with {search_option([found[0].parent])}"
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
        for path in map(resolved, self.repaired(name) if is_image else ()):
            if is_file(path) and self.allows(path):
                return path
        # without repr, which doubles the backslashes of Windows
        what = f"{asker}: '{name}' was not found in {self.described(start)}"
        raise self.missing(what, name, start, error)

    def missing(
        self, what: str, name: str, start: Path | None, error: type[VerdigrisError]
    ) -> VerdigrisError:
        """The error for a file that was not found."""
        guess = guess_file(name, self, start)
        text = f"{what}: {self.remedy(name, guess, error)}"
        if issubclass(error, TextureError):
            return MissingTextureError(text, name, guess.folders if guess else ())
        return error(text)

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

    def remedy(self, name: str, guess: Guess | None, error: type[VerdigrisError]) -> str:
        """What to do if no file with this name was found."""
        if not name.isascii() and sys.getfilesystemencoding() != "utf-8":
            return f"its letters do not exist in {describe_locale()}"
        token = _UNKNOWN_TOKEN.search(name)
        if token:
            return f"replace {token[0]} with its value"
        if guess is not None and issubclass(error, TextureError):
            folder = guess.folders[0]
            how = f"add {search_option([folder])}" if self.has_options else f"search in {folder}"
            return f"{how}, where {guess.path} may be intended"
        elsewhere = "add its folder with --search" if self.has_options else "put the file there"
        question = f"; did you mean {guess.path}?" if guess else ""
        return f"correct the name or {elsewhere}{question}"

    def described(self, start: Path | None = None) -> str:
        """The folders of the search path, for messages."""
        folders = dict.fromkeys(([resolved(start)] if start else []) + list(self.folders))
        return ", ".join(str(folder) for folder in folders) or "no folder"


def _to_path(name: str) -> Path:
    windows = PureWindowsPath(name)
    return Path(windows.as_posix()) if "\\" in name else Path(name)


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


def is_file(path: Path) -> bool:
    """Whether a path is a file; False for a path that the system refuses."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
