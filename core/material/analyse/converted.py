"""The notice of a report on values and connections whose type was converted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.features import KEPT, Part

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.load.mtlx_document import Document

_MOST_LISTED = 12


def converted_types(document: Document, nodes: Sequence[mx.Node]) -> list[Part]:
    """One notice of all conversions in the nodes of a material."""
    places = {each.getNamePath() for node in nodes for each in (node, node.getParent())}
    places |= {node.getNodeDef().getName() for node in nodes if node.getNodeDef() is not None}
    found = [each.what for each in document.conversions if each.place in places]
    if not found:
        return []
    more = len(found) - _MOST_LISTED
    listed = "; ".join(found[:_MOST_LISTED]) + (f"; and {more} more" if more > 0 else "")
    return [Part("types", KEPT, f"{len(found)} converted where the document mixes them: {listed}")]
