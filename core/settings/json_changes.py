"""Settings of which some fields are changed, as commands and scenes say it in JSON."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.settings.bake_settings import BakeSettings


def changed(settings: BakeSettings, changes: Mapping[str, Any]) -> BakeSettings:
    """Settings with some fields replaced; those of `draw` each for itself."""
    check_kinds(settings.to_json(), changes)
    return settings.changed(changes)


def check_kinds(values: Mapping[str, Any], changes: Mapping[str, Any], prefix: str = "") -> None:
    """Refuses names that are not among the values, and changes of another kind than these."""
    for name, value in changes.items():
        if name not in values:
            known = ", ".join(f"{prefix}{each}" for each in sorted(values))
            raise SettingsError(f"setting {prefix}{name} is not known: use one of {known}")
        kept = values[name]
        if isinstance(kept, dict):
            if not isinstance(value, Mapping):
                raise SettingsError(f"{prefix}{name} is {value!r}: use an object of settings")
            check_kinds(kept, value, f"{prefix}{name}.")
            continue
        fits: tuple[type, ...] = (type(kept),)
        if isinstance(kept, float):
            fits = (int, float)
        elif isinstance(kept, tuple):
            # JSON has no other
            fits = (list, tuple)
        # true and false are whole numbers for Python
        is_other = isinstance(value, bool) != isinstance(kept, bool)
        if is_other or not isinstance(value, fits) or not _is_finite(value):
            raise SettingsError(f"{prefix}{name} is {value!r}: use a value such as {kept!r}")


def _is_finite(value: Any) -> bool:
    """Whether all numbers in it are such as floats can be."""
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, int | float) or abs(value) <= sys.float_info.max
