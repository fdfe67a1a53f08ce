"""Names under which applications keep the texture coordinates of a mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

# USD and Houdini: st, uv. Maya: map1. Blender: UVMap. glTF: TEXCOORD_0.
TEXTURE_COORDINATES = frozenset(
    {"st", "st0", "uv", "UV", "uv0", "UV0", "map1", "UVMap", "TEXCOORD_0", "Texture_uv"}
)
# An attribute of nodes that are loaded.
AS_WRITTEN = "property"


def reads_texture_coordinates(node: mx.Node) -> bool:
    """Whether a node that reads a property of the geometry reads its texture coordinates."""
    return node.getType() == "vector2" and property_of(node) in TEXTURE_COORDINATES


def stands_for_texture_coordinates(node: mx.Node) -> bool:
    """Whether a node reads a pair of numbers by a name that tells nothing, without a default: a set
    of texture coordinates, which artists may name as they like."""
    return (
        node.getType() == "vector2"
        and node.getInput("default") is None
        and not reads_texture_coordinates(node)
    )


def name_as_written(node: mx.Node) -> str:
    """The name of the property as the document has it: code may call it otherwise."""
    return str(node.getAttribute(AS_WRITTEN))


def property_of(node: mx.Node) -> str:
    """The name of the property of the geometry that a node reads; empty if it reads none."""
    port = node.getInput("geomprop")
    return str((port.getInterfaceInput() or port).getValueString()) if port is not None else ""
