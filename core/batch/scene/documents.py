"""The documents of a scene, each parsed once however many materials of it are baked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.batch.scene.entry import Source

if TYPE_CHECKING:
    from verdigris.core.material.load.mtlx_document import Document


class Documents:
    """Loads documents, and keeps them for as long as it lives."""

    def __init__(self) -> None:
        self._loaded: dict[Source, Document] = {}

    def load(self, source: Source) -> Document:
        if source not in self._loaded:
            self._loaded[source] = source.load()
        return self._loaded[source]
