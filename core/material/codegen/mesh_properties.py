"""Geometry properties that a mesh has: nodes read them in place of their defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.normalise.geometry_properties import (
    GEOMPROP,
    VALUE,
    property_name,
    reads_texture_coordinates,
)

if TYPE_CHECKING:
    import MaterialX as mx

_PROPERTY = "verdigris_mesh"
# By type: the components of four numbers.
_PARTS = {
    "float": ".x", "vector2": ".xy", "vector3": ".xyz", "color3": ".xyz", "vector4": "",
    "color4": "",
}  # fmt: skip
_CONVERTED = {"integer": "int(round({}.x))", "boolean": "({}.x > 0.5)"}


def read_properties(root: mx.Document, names: Sequence[str]) -> mx.Document:
    """A copy in which nodes read these properties from the mesh."""
    import MaterialX as mx

    copied = root.copy()
    copied.setDataLibrary(standard_library())
    for node in copied.traverseTree():
        if not isinstance(node, mx.Node) or not is_read_from_mesh(node):
            continue
        name = plain_name(node)
        if name in names:
            node.removeAttribute("nodedef")
            port = node.getInput(GEOMPROP)
            port.removeAttribute("interfacename")
            port.setValueString(f"{_PROPERTY}{names.index(name)}_{node.getType()}")
    return copied


def is_read_from_mesh(node: mx.Node) -> bool:
    """Whether a node reads a property that is not the texture coordinates."""
    return node.getCategory() == VALUE and not reads_texture_coordinates(node)


def plain_name(node: mx.Node) -> str:
    """The name of a node's property on a mesh."""
    return property_name(node).removeprefix("primvars:")


def property_code(variable: str, kind: str) -> str | None:
    """The code of the value of a variable of the vertex data; None of other variables."""
    _, found, rest = variable.partition(f"geomprop_{_PROPERTY}")
    if not found:
        return None
    value = f"gMeshProperties[{rest.partition('_')[0]}]"
    if kind in _CONVERTED:
        return _CONVERTED[kind].format(value)
    return value + _PARTS[kind]
