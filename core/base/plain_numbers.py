"""Numbers and truths of settings as Python has them: those of numpy cannot be written to JSON."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from verdigris.core.base.errors import SettingsError


def _truth(value: Any) -> bool:
    """What is merely no zero is not meant."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError
    return bool(value)


_KINDS: dict[object, tuple[Callable[[Any], Any], str]] = {
    "bool": (_truth, "true or false"),
    "int": (operator.index, "a whole number"),
    "float": (float, "a number"),
    "float | None": (lambda value: None if value is None else float(value), "a number"),
}


def take_plain_numbers(settings: Any) -> None:
    """Makes every field of a frozen dataclass that is said to be a number, or true or false, one of
    Python's."""
    for entry in fields(settings):
        if entry.type in _KINDS:
            convert, wanted = _KINDS[entry.type]
            value = getattr(settings, entry.name)
            try:
                object.__setattr__(settings, entry.name, convert(value))
            except (TypeError, ValueError):
                raise SettingsError(f"{entry.name} is {value!r}: use {wanted}") from None
            except OverflowError:
                raise SettingsError(f"{entry.name} is beyond what floats hold: use less") from None
