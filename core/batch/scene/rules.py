"""Rules of a scene: requests for the materials whose names match. Later rules override earlier
ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import lru_cache
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import SceneError, SettingsError
from verdigris.core.base.json_fields import fields_of
from verdigris.core.base.text import why_invalid_name
from verdigris.core.batch.scene.entry import BakeRequest, check_changes
from verdigris.core.material.live_inputs.live_input import WantedInput, parse_all_wanted
from verdigris.core.pictures.compare.verdict import require_target
from verdigris.core.settings.bake_settings import TABLES, TRAINERS
from verdigris.core.settings.presets import require_recipe

REQUEST_FIELDS = (
    *("preset", "settings", "importance", "directions"),
    *("time_limit", "target_error", "target", "live", "group", "out", "skip"),
)
_FIELDS = ("match", *REQUEST_FIELDS)
_NAME = "{name}"


@dataclass(frozen=True)
class Rule:
    """A request for materials with matching names. None leaves a field as it is."""

    match: tuple[str, ...] = ("*",)
    """Patterns of bundle names."""
    preset: str | None = None
    """As for `verdigris bake`."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    importance: str | None = None
    """A file; {name} stands for the bundle's name."""
    directions: str | None = None
    time_limit: float | None = None
    target_error: float | None = None
    target: str | None = None
    live: tuple[WantedInput, ...] | None = None
    """Inputs that stay open; none closes those of an earlier rule or of the bundle."""
    group: str | None = None
    folder: str | None = None
    skip: bool | None = None
    """Whether to leave the material out."""
    base: Path = Path()
    """The folder of relative paths."""

    def fits(self, name: str) -> bool:
        return fits_any(name, self.match)


def parse_rule(values: Any, file: str, path: str, base: Path, match: tuple[str, ...] = ()) -> Rule:
    """Reads a rule. `match` is given where the object itself names its materials."""
    found = fields_of(values, file, path, SceneError)
    found.require_known(REQUEST_FIELDS if match else _FIELDS)
    where = f"{file}: {path}"

    def text(name: str) -> str | None:
        value: str | None = found.typed(name, str, None)
        return value

    folder = text("out")
    if folder is not None and (Path(folder).is_absolute() or ".." in Path(folder).parts):
        found.refuse("out", "use a folder below that of the scene's bundles")
    group = text("group")
    if group and why_invalid_name(group):
        raise SceneError(f"{where}: group: {why_invalid_name(group)}")
    settings, preset = found.typed("settings", dict, {}), text("preset")
    try:
        # reported once, and not for each material
        check_changes(settings)
        if preset:
            require_recipe(preset, TRAINERS[0])
        target = text("target")
        target = require_target(target) if target else target
        live = parse_all_wanted(found.texts("live")) if "live" in found else None
    except SettingsError as failure:
        raise SceneError(f"{where}: {failure}") from None
    return Rule(
        match or found.texts("match") or ("*",),
        preset,
        settings,
        text("importance"),
        text("directions"),
        found.find_positive("time_limit"),
        found.find_positive("target_error"),
        target,
        live,
        group,
        folder,
        found.typed("skip", bool, None),
        base,
    )


def resolve_request(name: str, rules: Sequence[Rule], request: BakeRequest) -> BakeRequest | None:
    """The request for a material, changed by all rules that match; None if it is left out."""
    skipped = False
    for rule in rules:
        if not rule.fits(name):
            continue
        changes: dict[str, Any] = {"settings": merged(request.settings, rule.settings)}
        for what in ("preset", "time_limit", "target_error", "target", "live", "group", "folder"):
            value = getattr(rule, what)
            if value is not None:
                changes[what] = value
        if rule.importance is not None:
            file = rule.importance.replace(_NAME, name)
            changes["importance"] = rule.base / file if file else None
        if rule.directions is not None:
            changes["directions"] = _file_or_profile(rule.directions, rule.base)
        skipped = skipped if rule.skip is None else rule.skip
        request = replace(request, **changes)
    return None if skipped else request


def fits_any(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name matches a pattern: * is any text, ? is any character, and \\ makes them
    literal."""
    return any(_expression(pattern).match(name) for pattern in patterns)


@lru_cache(maxsize=32768)
def _expression(pattern: str) -> re.Pattern[str]:
    # fnmatch can escape a character only as a set
    return re.compile(translate(re.sub(r"\\([*?])|(\[)", r"[\1\2]", pattern)))


def quoted(name: str) -> str:
    """A pattern that matches only this name."""
    return re.sub(r"([*?])", r"\\\1", name)


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in which those of the second replace those of the first."""
    merged = {**first, **second}
    for name in TABLES:
        if isinstance(first.get(name), Mapping) and isinstance(second.get(name), Mapping):
            merged[name] = {**first[name], **second[name]}
    return merged


def _file_or_profile(text: str, base: Path) -> str:
    return str(base / text) if Path(text).suffix.lower() in (".json", ".npy") else text


def parse_setting(text: str) -> dict[str, Any]:
    """Parses NAME=VALUE of a command line; `draw.NAME=VALUE` sets a field of `draw`."""
    import json

    name, sign, value = text.partition("=")
    if not sign:
        raise SceneError(f"{text!r}: use NAME=VALUE, such as resolution=256")
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = value
    for part in reversed(name.split(".")):
        parsed = {part: parsed}
    return dict(parsed)
