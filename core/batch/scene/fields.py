"""Reads the values of a scene's JSON; what is wrong is an error with file and field."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from verdigris.core.base.errors import VerdigrisError, reason
from verdigris.core.base.working_folder import require_for

LARGEST_SCENE = 64 << 20


class SceneError(VerdigrisError):
    """A scene that cannot be read, or that asks for what cannot be."""


def read_json(path: Path) -> Any:
    """The contents of a JSON file."""
    try:
        if path.stat().st_size > LARGEST_SCENE:
            raise SceneError(f"{path}: has more than {LARGEST_SCENE >> 20} MB: split the scene")
        text = path.read_text(encoding="utf-8-sig")
        return json.loads(text, object_pairs_hook=partial(_require_once, path=path))
    except FileNotFoundError:
        require_for(path)
        raise SceneError(f"{path}: there is no such file") from None
    except OSError as failure:
        raise SceneError(f"{path}: cannot be read ({failure.strerror}): choose a file") from None
    except (ValueError, RecursionError) as failure:
        raise SceneError(f"{path}: is not JSON: {failure}") from None


def _is_text(value: Any) -> bool:
    """One that a file may be called by: half a letter, as JSON can escape it, is none."""
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _require_once(fields: list[tuple[str, Any]], path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in fields:
        if name in found:
            raise SceneError(f"{path}: {name!r} is given twice: leave one out")
        found[name] = value
    return found


def unreadable(failure: OSError) -> str:
    """What the system says of a file that a scene names, with what to do."""
    why = reason(failure)
    return f"{failure.filename or 'a file'}: cannot be read ({why}): correct the path, or the file"


class Values:
    """An object of the file, every field of which must be known."""

    def __init__(self, values: Any, where: str, known: tuple[str, ...]) -> None:
        self.where = where
        if not isinstance(values, Mapping):
            raise SceneError(f"{where}: is {values!r}: use an object with {', '.join(known)}")
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise SceneError(
                f"{where}: {', '.join(map(repr, unknown))} is not known: use {', '.join(known)}"
            )
        self.values = values

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def refuse(self, name: str, wanted: str) -> NoReturn:
        raise SceneError(f"{self.where}: {name} is {self.values[name]!r}: use {wanted}")

    def text(self, name: str, default: str = "") -> str:
        value = self.values.get(name, default)
        if not _is_text(value):
            self.refuse(name, "a text")
        return str(value)

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.values.get(name, default)
        if not isinstance(value, bool):
            self.refuse(name, "true or false")
        return value

    def number(self, name: str) -> float | None:
        value = self.values.get(name)
        if value is None:
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 < value <= sys.float_info.max:
            self.refuse(name, "a number above 0")
        return float(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, or one alone."""
        value = self.values.get(name, [])
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, list) or not all(map(_is_text, found)):
            self.refuse(name, "a text, or a list of texts")
        return tuple(found)

    def table(self, name: str) -> dict[str, Any]:
        value = self.values.get(name, {})
        if not isinstance(value, dict):
            self.refuse(name, "an object")
        return value

    def list(self, name: str) -> list[Any]:
        value = self.values.get(name, [])
        if not isinstance(value, list):
            self.refuse(name, "a list")
        return value
