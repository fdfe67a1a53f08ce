"""Settings of which JSON changes some fields: in commands, scenes and options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.json_fields import Fields
from verdigris.core.settings.recipe import Recipe

_FILE = "settings"


def changed(recipe: Recipe, changes: Mapping[str, Any]) -> Recipe:
    """Settings with some fields replaced; those of `draw` each for itself."""
    check_kinds(recipe.largest.to_json(), changes)
    return recipe.changed(changes)


def check_kinds(values: Mapping[str, Any], changes: Mapping[str, Any], path: str = "") -> None:
    """Refuses names that are not among the values, and changes of another type than these."""
    found = Fields(_FILE, path, dict(changes), SettingsError)
    found.require_known(sorted(values))
    for name, value in changes.items():
        if isinstance(values[name], dict):
            found.require(isinstance(value, Mapping), name, "use an object of settings")
            check_kinds(values[name], value, found.name_of(name))
        else:
            found.require_like(name, values[name])
