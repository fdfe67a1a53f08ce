"""Changes of settings: as JSON, and as NAME=VALUE of a command line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.json_fields import Fields
from verdigris.core.settings.bake_settings import TABLES, BakeSettings

# Settings that are compatible with every value of any other field.
_ROOMY = BakeSettings(encode_from=0, small_resolution=4)


def parse_changes(texts: Iterable[str]) -> dict[str, Any]:
    """The changes in texts such as `resolution=256` and `draw.pairs=2`; later ones override earlier
    ones."""
    changes: dict[str, Any] = {}
    for text in texts:
        changes = merge_changes(changes, _parse_change(text))
    check_changes(changes)
    return changes


def write_changes(changes: Mapping[str, Any], table: str = "") -> list[str]:
    """The inverse of `parse_changes`."""
    texts: list[str] = []
    for name, value in changes.items():
        if isinstance(value, Mapping):
            texts += write_changes(value, f"{table}{name}.")
        else:
            texts.append(f"{table}{name}={json.dumps(value)}")
    return texts


def merge_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Changes in which those of the second override those of the first."""
    merged = {**first, **second}
    for name in TABLES:
        if isinstance(first.get(name), Mapping) and isinstance(second.get(name), Mapping):
            merged[name] = {**first[name], **second[name]}
    return merged


def changes_to(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The changes that make settings of any preset, such as those of a checkpoint. The number of
    live inputs is not among them, as the material has it."""
    changes = dict(settings)
    if isinstance(draw := settings.get("draw"), Mapping):
        changes["draw"] = {name: value for name, value in draw.items() if name != "live_inputs"}
    return changes


def check_changes(changes: Mapping[str, Any]) -> None:
    """Refuses unknown fields, values of another type, and values that are invalid with any preset.
    Whether values are compatible depends on the preset."""
    _check_kinds(BakeSettings().to_json(), changes)
    for name, value in changes.items():
        if name not in TABLES:
            # the network spec checks the activation
            _ = replace(_ROOMY, **{name: value}).spec
    for table, (kind, _) in TABLES.items():
        for name, value in changes.get(table, {}).items():
            kind(**{name: value})


def _parse_change(text: str) -> dict[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise SettingsError(f"{text!r}: use NAME=VALUE, such as resolution=256")
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = value
    for part in reversed(name.split(".")):
        parsed = {part: parsed}
    return dict(parsed)


def _check_kinds(values: Mapping[str, Any], changes: Mapping[str, Any], path: str = "") -> None:
    """Refuses names that are not among the values, and changes of another type."""
    found = Fields("settings", path, dict(changes), SettingsError)
    found.require_known(sorted(values))
    for name, value in changes.items():
        if isinstance(values[name], dict):
            found.require(isinstance(value, Mapping), name, "use an object of settings")
            _check_kinds(values[name], value, found.name_of(name))
        else:
            found.require_like(name, values[name])
