"""What scripts hand over where a path or a text is wanted: refused by name if it is neither."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import SettingsError


def path_from(value: Any, name: str) -> Path:
    """The path that a text or a path-like object is."""
    if isinstance(value, str):
        return Path(value)
    plain = os.fspath(value) if isinstance(value, os.PathLike) else None
    if not isinstance(plain, str):
        raise SettingsError(f"{name} is {value!r}: use a path, as a text or a pathlib.Path")
    return Path(plain)


def require_text(value: Any, name: str) -> None:
    if not isinstance(value, str):
        raise SettingsError(f"{name} is {value!r}: use a text")
