"""Names of files that probably mean the same file: with other case, with another image suffix, as
tiles, or encoded as in a URL."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import PurePath, PureWindowsPath
from urllib.parse import unquote

TILE_TOKENS = {"<UDIM>": r"(?P<udim>[1-9]\d{3})", "<UVTILE>": r"u(?P<u>\d+)_v(?P<v>\d+)"}
IMAGE_SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".exr", ".tx", ".hdr", ".tga", ".bmp"}
)
EXACT, OTHER_CASE, OTHER_SUFFIX = range(3)


class NamePattern:
    """The last part of a written file name, to compare with the names of files."""

    def __init__(self, name: str) -> None:
        self._written = [_last_part(each) for each in dict.fromkeys((name, unquote(name)))]
        self._patterns = [
            re.compile(_pattern(each), re.IGNORECASE) for each in map(_stem, self._written)
        ]
        self.is_tiled = any(token in self._written[0] for token in TILE_TOKENS)

    @property
    def stems(self) -> set[str]:
        """The stems of fitting files in lower case, for a name without tiles."""
        return {_stem(each).lower() for each in self._written}

    def rank(self, actual: str) -> int | None:
        """How well a file name fits; smaller is better. None if it does not fit."""
        stem, suffix = _stem(actual), PurePath(actual).suffix
        for number, (written, pattern) in enumerate(
            zip(self._written, self._patterns, strict=True)
        ):
            if pattern.fullmatch(stem):
                wanted = PurePath(written).suffix
                if self.with_tokens(actual) == written:
                    return OTHER_CASE if number else EXACT
                if suffix.lower() == wanted.lower():
                    return OTHER_CASE
                if {suffix.lower(), wanted.lower()} <= IMAGE_SUFFIXES:
                    return OTHER_SUFFIX
        return None

    def with_tokens(self, actual: str) -> str:
        """The name of a fitting file with the token for its tiles."""
        for token, digits in TILE_TOKENS.items():
            if self.is_tiled and token in self._written[0]:
                before, _, _ = _stem(self._written[0]).partition(token)
                found = re.compile(digits).match(actual, len(before))
                if found:
                    return actual[: found.start()] + token + actual[found.end() :]
        return actual


@lru_cache(maxsize=256)
def pattern_of(name: str) -> NamePattern:
    """The pattern for a name, cached."""
    return NamePattern(name)


def trailing_parts(name: str) -> tuple[str, ...]:
    """The parts of a name from any system, without drive, root and steps upwards."""
    path = PureWindowsPath(name)
    plain = os.path.normpath(path.relative_to(path.anchor).as_posix()) if name else ""
    return tuple(part for part in PurePath(plain).parts if part not in ("..", "/"))


def _last_part(name: str) -> str:
    return PureWindowsPath(name).name


def _stem(name: str) -> str:
    return PurePath(name).stem


def _pattern(stem: str) -> str:
    pattern = re.escape(stem)
    for token, digits in TILE_TOKENS.items():
        pattern = pattern.replace(re.escape(token), digits, 1)
    return pattern
