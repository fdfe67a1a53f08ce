"""Finds materials that certainly need no maps of emission and opacity, without evaluating them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.features import SURFACE_FEATURES
from verdigris.core.material.analyse.parts import is_on
from verdigris.core.material.graph.traversal import is_fed, is_of_document, own_graph

if TYPE_CHECKING:
    import MaterialX as mx

# Surfaces whose features in the table include everything that emits light or makes holes.
# Transmission is dropped anyway.
_KNOWN = ("standard_surface", "open_pbr_surface", "gltf_pbr", "UsdPreviewSurface", "surface")
_UNLIT_FEATURES = ("emission", "opacity")


def is_dark_and_opaque(nodes: Iterable[mx.Node]) -> bool:
    """Whether a material with these nodes emits nothing and is opaque, for all inputs. False where
    that is unknown."""
    found = list(nodes)
    materials = (node for node in found if node.getType() == "material")
    surfaces = [node for node in found if node.getType() == "surfaceshader"]
    return (
        bool(surfaces)
        and all(node.getCategory() == "surfacematerial" for node in materials)
        and all(map(_is_dark_and_opaque_surface, surfaces))
    )


def _is_dark_and_opaque_surface(surface: mx.Node) -> bool:
    definition = surface.getNodeDef()
    if definition is None or is_of_document(definition, surface) or own_graph(surface):
        return False
    if surface.getCategory() == "mix":
        return True
    if surface.getCategory() not in _KNOWN or is_fed(surface, "edf"):
        return False
    features = SURFACE_FEATURES[surface.getCategory()]
    return not any(is_on(surface, each) for each in features if each.name in _UNLIT_FEATURES)
