"""One material of a scene: its source, and the request for its bake."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.settings.bake_settings import TABLES, BakeSettings
from verdigris.core.settings.json_changes import changed, check_kinds
from verdigris.core.settings.presets import default_preset, for_live_inputs, require_recipe
from verdigris.core.settings.recipe import Recipe

if TYPE_CHECKING:
    from verdigris.core.material.live_inputs.live_input import WantedInput
    from verdigris.core.material.load.mtlx_document import Document

# Settings that are compatible with every value of any other field.
_ROOMY = BakeSettings(encode_from=0, small_resolution=4)
_MOST_LINKS = 3


@dataclass(frozen=True)
class BakeRequest:
    """How to bake a material. Defaults are those of `verdigris bake`."""

    preset: str = ""
    """draft, standard or final; by default the preset of the device."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `BakeSettings` that replace those of the preset."""
    importance: Path | None = None
    """An image of weights of places."""
    directions: str = ""
    """A direction profile, or the file of a table."""
    time_limit: float | None = None
    """Seconds for the training."""
    target_error: float | None = None
    """The log MAE at which training stops."""
    target: str = ""
    """What training shall reach, a key of TARGETS in core/pictures/compare/verdict.py."""
    live: tuple[WantedInput, ...] | None = None
    """Inputs that stay open. None: those of the bundle, if it has any."""
    group: str = ""
    """Materials of one group share a decoder."""
    folder: str = ""
    """The folder of the bundle, below that of the scene."""

    def recipe_for(self, trainer: str, materials: int = 1) -> Recipe:
        """The settings for this trainer. Materials that share a decoder train for the steps of all,
        because each batch is divided among them."""
        changes = json.dumps(self.settings)
        count = len(self.live or ())
        return _resolved(self.preset, changes, self.directions, trainer, materials, count)


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
    """Whether files outside of these folders are refused."""

    def load(self) -> Document:
        from verdigris.core.material.load.mtlx_document import load_document, parse_document

        if self.text is None:
            return load_document(self.name, self.search, self.confined)
        return parse_document(self.text, self.search, self.name, self.confined)

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
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Source:
        search = tuple(Path(folder) for folder in values["search"])
        return cls(values["name"], values["text"], search, values["confined"])


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
    problem: str = ""
    """Why it cannot be baked, if that is known."""
    notes: tuple[str, ...] = ()
    """What was repaired or left out while reading."""
    links: tuple[str, ...] = ()
    """Other names of its document, such as links."""

    @property
    def links_note(self) -> str:
        """A note on its links; empty without links."""
        if not self.links:
            return ""
        more = len(self.links) - _MOST_LINKS
        shown = ", ".join(self.links[:_MOST_LINKS]) + (f" and {more} more" if more > 0 else "")
        return f"baked once: {shown} {'leads' if len(self.links) == 1 else 'lead'} to its document"

    @property
    def all_notes(self) -> tuple[str, ...]:
        return (*self.notes, self.links_note) if self.links else self.notes

    def with_links(self, links: Iterable[str]) -> Entry:
        """The entry with further names of its document. Other spellings of one path are not
        kept."""
        if self.source.text is not None:
            return self
        names = (self.source.name, *self.links, *links)
        _, *others = {os.path.normpath(Path(each).absolute()): each for each in names}.values()
        return replace(self, links=tuple(others))

    def with_problem(self, problem: str) -> Entry:
        return replace(self, problem=self.problem or problem)


@lru_cache(maxsize=512)
def _resolved(
    preset: str, changes: str, directions: str, trainer: str, materials: int, live: int
) -> Recipe:
    """cached: most materials of a scene have the same settings"""
    chosen = require_recipe(preset or default_preset(trainer), trainer, materials)
    chosen = for_live_inputs(chosen, live)
    found = _directed(changed(chosen, json.loads(changes)), directions)
    return found.map(lambda each: replace(each, iterations=each.iterations * materials))


def check_changes(changes: Mapping[str, Any]) -> None:
    """Refuses unknown fields, values of another type, and values that are invalid with any preset.
    Whether values are compatible depends on the preset."""
    check_kinds(BakeSettings().to_json(), changes)
    for name, value in changes.items():
        if name not in TABLES:
            # the network spec checks the activation
            _ = replace(_ROOMY, **{name: value}).spec
    for table, (kind, _) in TABLES.items():
        for name, value in changes.get(table, {}).items():
            kind(**{name: value})


def _directed(recipe: Recipe, directions: str) -> Recipe:
    if not directions:
        return recipe
    from verdigris.core.settings.direction_profiles import read_directions

    name, table = read_directions(directions)
    return recipe.changed({"draw": {"directions": name, "direction_table": table}})


class DocumentCache:
    """Loads each document once."""

    def __init__(self) -> None:
        self._loaded: dict[Source, Document] = {}

    def load(self, source: Source) -> Document:
        if source not in self._loaded:
            self._loaded[source] = source.load()
        return self._loaded[source]
