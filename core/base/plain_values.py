"""Converts values that scripts pass to Python's own types, or refuses them by name."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from verdigris.core.base.errors import SettingsError


def path_from(value: Any, name: str) -> Path:
    """The path of a text or a path-like object."""
    if isinstance(value, str):
        return Path(value)
    plain = os.fspath(value) if isinstance(value, os.PathLike) else None
    if not isinstance(plain, str):
        raise SettingsError(f"{name} is {value!r}: use a path, as a text or a pathlib.Path")
    return Path(plain)


def require_text(value: Any, name: str) -> None:
    """Refuses a value that is not a text."""
    if not isinstance(value, str):
        raise SettingsError(f"{name} is {value!r}: use a text")


def _truth(value: Any) -> bool:
    """A truth value as a bool. Refuses other types, numbers too."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError
    return bool(value)


_KINDS: dict[object, tuple[Callable[[Any], Any], str]] = {
    "bool": (_truth, "true or false"),
    "int": (operator.index, "a whole number"),
    "float": (float, "a number"),
    "float | None": (lambda value: None if value is None else float(value), "a number"),
}


def convert_numbers(settings: Any) -> None:
    """Converts the numbers and truth values of a frozen dataclass to Python's own types: numpy's
    cannot be written to JSON."""
    for entry in fields(settings):
        if entry.type in _KINDS:
            convert, wanted = _KINDS[entry.type]
            value = getattr(settings, entry.name)
            try:
                object.__setattr__(settings, entry.name, convert(value))
            except (TypeError, ValueError):
                raise SettingsError(f"{entry.name} is {value!r}: use {wanted}") from None
            except OverflowError:
                raise SettingsError(
                    f"{entry.name} is too large for a float: use a smaller value"
                ) from None
