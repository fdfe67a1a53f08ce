"""Reads what anyone may have written into a manifest: of its free fields any may be absent, or be
something else than Verdigris writes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

_LARGEST_WHOLE = (1 << 63) - 1


def table(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object of this name; an empty one where there is none."""
    found = values.get(name)
    return found if isinstance(found, Mapping) else {}


def find_number(values: Mapping[str, Any], name: str) -> float | None:
    """The number of this name, if floats hold it."""
    value = values.get(name)
    # true and false are numbers for Python
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= sys.float_info.max else None


def find_whole(values: Mapping[str, Any], name: str) -> int | None:
    """The whole number of this name, if 64 bits hold it."""
    value = values.get(name)
    return value if type(value) is int and abs(value) <= _LARGEST_WHOLE else None
