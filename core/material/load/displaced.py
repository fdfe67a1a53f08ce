"""The document that evaluates the heights of a displaced material."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.normalise.heights import is_displaced

if TYPE_CHECKING:
    from verdigris.core.material.load.mtlx_document import Document, Material


def height_document(document: Document, material: Material) -> tuple[Document, Material] | None:
    """A document whose material emits the height of this one, and that material; None if it does
    not displace its surface. Raises DocumentError if something behind the displacement is wrong."""
    if not any(map(is_displaced, document.nodes_of(material))):
        return None
    other = document.of_heights
    found = other.find_material(material.path)
    if found is None:
        raise DocumentError(f"{document.name}: nothing is connected to its displacement")
    other.check(found)
    return other, found
