"""One material of a scene: its source, and the request for its bake."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.bake_request import BakeRequest

if TYPE_CHECKING:
    from verdigris.core.material.load.mtlx_document import Document

_MOST_LINKS = 3


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
    group: str = ""
    """Materials of one group share a decoder."""
    folder: str = ""
    """The folder of the bundle, below that of the scene."""
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


class DocumentCache:
    """Loads each document once."""

    def __init__(self) -> None:
        self._loaded: dict[Source, Document] = {}

    def load(self, source: Source) -> Document:
        if source not in self._loaded:
            self._loaded[source] = source.load()
        return self._loaded[source]
