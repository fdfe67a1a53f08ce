"""Geometry properties that a sample provides: nodes read those of a mesh, or numbers of a texel.

The generator makes a variable of the vertex data from each property. The name of such a property
gives the place of its value, for which generated code reads the mesh or the texel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import COMPONENTS, copy_document
from verdigris.core.material.graph.traversal import all_nodes
from verdigris.core.material.normalise.geometry_properties import (
    GEOMPROP,
    VALUE,
    property_name,
    reads_texture_coordinates,
)

if TYPE_CHECKING:
    import MaterialX as mx

_PROPERTY = "verdigris_mesh"
_TEXEL_PROPERTY = "verdigris_texel"
# For each type, its components of four numbers.
_PARTS = {
    "float": ".x", "vector2": ".xy", "vector3": ".xyz", "color3": ".xyz", "vector4": "",
    "color4": "",
}  # fmt: skip
_CONVERTED = {"integer": "int(round({}.x))", "boolean": "({}.x > 0.5)"}


def read_properties(root: mx.Document, names: Sequence[str]) -> mx.Document:
    """A copy of a document in which nodes read these properties from the mesh."""
    copied = copy_document(root)
    for node in all_nodes(copied):
        name = plain_name(node)
        if is_read_from_mesh(node) and name in names:
            node.removeAttribute("nodedef")
            port = node.getInput(GEOMPROP)
            port.removeAttribute("interfacename")
            port.setValueString(f"{_PROPERTY}{names.index(name)}_{node.getType()}")
    return copied


def is_read_from_mesh(node: mx.Node) -> bool:
    """Whether a node reads a property that is not the texture coordinates."""
    return node.getCategory() == VALUE and not reads_texture_coordinates(node)


def plain_name(node: mx.Node) -> str:
    """The name that a node's property has on a mesh."""
    return property_name(node).removeprefix("primvars:")


def texel_property(first: int) -> str:
    """The name of a property whose value begins at this channel of a texel."""
    return f"{_TEXEL_PROPERTY}{first}"


def sample_code(variable: str, kind: str) -> str | None:
    """The code for a variable of the vertex data that a mesh or a texel provides; None for other
    variables."""
    return _mesh_code(variable, kind) or _texel_code(variable, kind)


def _mesh_code(variable: str, kind: str) -> str | None:
    _, found, rest = variable.partition(f"geomprop_{_PROPERTY}")
    if not found:
        return None
    value = f"gMeshProperties[{rest.partition('_')[0]}]"
    if kind in _CONVERTED:
        return _CONVERTED[kind].format(value)
    return value + _PARTS[kind]


def _texel_code(variable: str, kind: str) -> str | None:
    _, found, rest = variable.partition(f"geomprop_{_TEXEL_PROPERTY}")
    if not found:
        return None
    first, width = int(rest.partition("_")[0]), COMPONENTS[kind]
    parts = ", ".join(f"gTexelValues[{first + part}]" for part in range(width))
    return parts if width == 1 else f"float{width}({parts})"
