"""Texts that anyone may have written, as they are shown."""

from __future__ import annotations

from typing import Any

_LONGEST = 4096


def printable(value: Any) -> str:
    """One line, without a terminal's escape sequences."""
    text = str(value)[:_LONGEST]
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
