"""Tells of which materials it is known that they neither glow nor have holes.

Nothing has to be compiled, or run over a map, to see that there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.features import SURFACE_FEATURES
from verdigris.core.material.analyse.parts import is_on
from verdigris.core.material.graph.traversal import is_fed, is_of_document, own_graph

if TYPE_CHECKING:
    import MaterialX as mx

# Surfaces of which the table of features names all that makes them glow or gives them holes; what
# lets light through is left out.
_KNOWN = ("standard_surface", "open_pbr_surface", "gltf_pbr", "UsdPreviewSurface", "surface")
_SEEN_UNLIT = ("emission", "opacity")


def is_plain(nodes: Iterable[mx.Node]) -> bool:
    """Whether a material of these nodes is dark and solid, whatever feeds it. What is not known is
    not plain."""
    found = list(nodes)
    materials = (node for node in found if node.getType() == "material")
    surfaces = [node for node in found if node.getType() == "surfaceshader"]
    return (
        bool(surfaces)
        and all(node.getCategory() == "surfacematerial" for node in materials)
        and all(map(_is_plain_surface, surfaces))
    )


def _is_plain_surface(surface: mx.Node) -> bool:
    definition = surface.getNodeDef()
    if definition is None or is_of_document(definition, surface) or own_graph(surface):
        return False
    if surface.getCategory() == "mix":
        return True
    if surface.getCategory() not in _KNOWN or is_fed(surface, "edf"):
        return False
    features = SURFACE_FEATURES[surface.getCategory()]
    return not any(is_on(surface, each) for each in features if each.name in _SEEN_UNLIT)
