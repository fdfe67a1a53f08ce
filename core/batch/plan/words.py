"""Numbers as people read them."""

from __future__ import annotations

_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def clock(seconds: float) -> str:
    """A length of time."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{max(seconds, 0):.1f} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d}"
    return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d} h"


def size(count_of_bytes: float) -> str:
    """An amount of bytes."""
    value, unit = float(count_of_bytes), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.0f} {_UNITS[unit]}" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def count(number: int, what: str) -> str:
    """A number of things."""
    return f"{number} {what}{'' if number == 1 else 's'}"
