"""Rules of a scene: requests for the materials whose names match. Later rules override earlier
ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import lru_cache
from pathlib import Path
from typing import Any

from verdigris.core.baking.bake_request import BakeRequest, names_in_scenes
from verdigris.core.base.errors import SceneError
from verdigris.core.base.json_fields import fields_of
from verdigris.core.base.text import why_invalid_name
from verdigris.core.batch.scene.entry import Entry
from verdigris.core.settings.draw_settings import names_table

_NAME = "{name}"


@dataclass(frozen=True)
class Rule:
    """A request for materials with matching names. None leaves a field as it is."""

    match: tuple[str, ...] = ("*",)
    """Patterns of bundle names."""
    request: BakeRequest = field(default_factory=BakeRequest)
    """Files are texts; in that of the importance map, {name} stands for the bundle's name."""
    group: str | None = None
    folder: str | None = None
    skip: bool | None = None
    """Whether to leave the material out."""
    base: Path = Path()
    """The folder of relative paths."""

    def fits(self, name: str) -> bool:
        return fits_any(name, self.match)

    def request_for(self, name: str) -> BakeRequest:
        """The request for a material, with its files."""
        request, files = self.request, dict[str, Any]()
        if request.importance:
            files["importance"] = self.base / str(request.importance).replace(_NAME, name)
        if request.directions and names_table(request.directions):
            files["directions"] = str(self.base / request.directions)
        return replace(request, **files)


def rule_fields() -> tuple[str, ...]:
    """The fields of a rule, without its patterns."""
    return (*names_in_scenes().values(), "group", "out", "skip")


def parse_rule(values: Any, file: str, path: str, base: Path, match: tuple[str, ...] = ()) -> Rule:
    """Reads a rule. `match` is given where the object itself names its materials."""
    found = fields_of(values, file, path, SceneError)
    found.require_known(rule_fields() if match else ("match", *rule_fields()))
    folder = found.typed("out", str, None)
    if folder is not None and (Path(folder).is_absolute() or ".." in Path(folder).parts):
        found.refuse("out", "use a folder below that of the scene's bundles")
    group = found.typed("group", str, None)
    if group and why_invalid_name(group):
        raise SceneError(f"{file}: {path}: group: {why_invalid_name(group)}")
    return Rule(
        match or found.texts("match") or ("*",),
        BakeRequest.from_json(found, names_in_scenes()),
        group,
        folder,
        found.typed("skip", bool, None),
        base,
    )


def apply_rules(entry: Entry, rules: Sequence[Rule]) -> Entry | None:
    """The entry with the requests of all rules that match, the last one first; None if they leave
    it out."""
    skipped = False
    for rule in rules:
        if not rule.fits(entry.name):
            continue
        entry = replace(
            entry,
            request=rule.request_for(entry.name).over(entry.request),
            group=entry.group if rule.group is None else rule.group,
            folder=entry.folder if rule.folder is None else rule.folder,
        )
        skipped = skipped if rule.skip is None else rule.skip
    return None if skipped else replace(entry, request=entry.request.without_empty())


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
