"""One material of a scene: its document, its request, and the rules that change requests."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.bake_request import BakeRequest, names_in_scenes
from verdigris.core.base.errors import SceneError
from verdigris.core.base.json_fields import fields_of
from verdigris.core.base.text import why_invalid_name
from verdigris.core.material.load.changes import NO_CHANGES, DocumentChanges
from verdigris.core.settings.draw_settings import names_table

if TYPE_CHECKING:
    from verdigris.core.material.load.mtlx_document import Document

_MOST_LINKS = 3
# Stands for the name of the bundle in the file name of an importance map.
_NAME = "{name}"


@dataclass(frozen=True)
class Source:
    """A MaterialX document, as a file or as text."""

    name: str
    """The name in messages: the path of the file, or the origin of the text."""
    text: str | None = None
    """The document as text; None for a file."""
    search: tuple[Path, ...] = ()
    """Folders that its files may lie in."""
    confined: bool = False
    """Whether files outside of these folders and that of the document are refused."""
    changes: DocumentChanges = NO_CHANGES
    """Values of its inputs, and definitions of its shader."""

    def load(self) -> Document:
        from verdigris.core.material.load.mtlx_document import load_document, parse_document

        if self.text is None:
            return load_document(self.name, self.search, self.confined, changes=self.changes)
        return parse_document(
            self.text, self.search, self.name, self.confined, changes=self.changes
        )

    def absolute(self) -> Source:
        """The source with absolute paths."""
        name = self.name if self.text is not None else str(Path(self.name).absolute())
        search = tuple(folder.absolute() for folder in self.search)
        return replace(self, name=name, search=search)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "text": self.text,
            "search": [str(folder) for folder in self.search],
            "confined": self.confined,
            **self.changes.as_json(),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Source:
        search = tuple(Path(folder) for folder in values["search"])
        changes = DocumentChanges.of(values.get("inputs", {}), values.get("defines", {}))
        return cls(values["name"], values["text"], search, values["confined"], changes)


@dataclass(frozen=True)
class Entry:
    """A material of a scene."""

    name: str
    """The name of its bundle, unique in the scene."""
    source: Source
    """Its document."""
    material: str = ""
    """Its name in the document; empty if the document cannot be read."""
    request: BakeRequest = field(default_factory=BakeRequest)
    """How to bake it."""
    group: str = ""
    """Materials of one group share a decoder."""
    folder: str = ""
    """The folder of the bundle, below that of the scene."""
    problem: str = ""
    """Why it cannot be baked, if that is known."""
    notes: tuple[str, ...] = ()
    """What was repaired or left out while reading."""
    links: tuple[str, ...] = ()
    """Other paths of its document, such as links, or other places on its stage."""
    stage: str = ""
    """The USD stage that it is on."""

    @property
    def prims(self) -> tuple[str, ...]:
        """Its paths on the stage."""
        places = (self.source.name, *self.links) if self.stage else ()
        return tuple(each.removeprefix(self.stage) for each in places)

    @property
    def links_note(self) -> str:
        """A note about its links; empty without links."""
        if not self.links:
            return ""
        more = len(self.links) - _MOST_LINKS
        shown = ", ".join(self.links[:_MOST_LINKS]) + (f" and {more} more" if more > 0 else "")
        return f"baked once: {shown} {'leads' if len(self.links) == 1 else 'lead'} to its document"

    @property
    def all_notes(self) -> tuple[str, ...]:
        return (*self.notes, self.links_note) if self.links else self.notes

    def with_links(self, links: Iterable[str]) -> Entry:
        """The entry with further paths of its document. Different spellings of one path count as
        one."""
        if self.source.text is not None:
            return self
        names = (self.source.name, *self.links, *links)
        _, *others = {os.path.normpath(Path(each).absolute()): each for each in names}.values()
        return replace(self, links=tuple(others))

    def with_problem(self, problem: str) -> Entry:
        return replace(self, problem=self.problem or problem)


class DocumentCache:
    """Loads each document once."""

    def __init__(self) -> None:
        self._loaded: dict[Source, Document] = {}

    def load(self, source: Source) -> Document:
        if source not in self._loaded:
            self._loaded[source] = source.load()
        return self._loaded[source]


@dataclass(frozen=True)
class Rule:
    """A request for materials with matching names. A later rule overrides an earlier one; None
    leaves a field as it is."""

    match: tuple[str, ...] = ("*",)
    """Patterns of bundle names."""
    request: BakeRequest = field(default_factory=BakeRequest)
    """A partial request. Its files are texts; in that of the importance map, {name} stands for the
    bundle's name."""
    group: str | None = None
    folder: str | None = None
    skip: bool | None = None
    """Whether to leave the material out."""
    base: Path = Path()
    """The folder of relative paths."""

    def fits(self, name: str) -> bool:
        return fits_any(name, self.match)

    def request_for(self, name: str) -> BakeRequest:
        """The request for the material of this name, with the paths of its files."""
        request, files = self.request, dict[str, Any]()
        if request.importance:
            files["importance"] = self.base / str(request.importance).replace(_NAME, name)
        if request.directions and names_table(request.directions):
            files["directions"] = str(self.base / request.directions)
        return replace(request, **files)


def rule_fields() -> tuple[str, ...]:
    """The fields of a rule in a scene file, except its patterns."""
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
    """The entry with the requests of all matching rules; the last rule wins. None if the rules
    leave the material out."""
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
    """Whether a name matches a pattern. * is any text and ? any character; \\ makes them
    literal."""
    return any(_expression(pattern).match(name) for pattern in patterns)


@lru_cache(maxsize=32768)
def _expression(pattern: str) -> re.Pattern[str]:
    # fnmatch can escape a character only in a set
    return re.compile(translate(re.sub(r"\\([*?])|(\[)", r"[\1\2]", pattern)))


def quoted(name: str) -> str:
    """A pattern that matches only this name."""
    return re.sub(r"([*?])", r"\\\1", name)
