"""Displacement, of which nothing is baked: a surface keeps its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

TYPE = "displacementshader"
# By which reports know it.
_EMPTY = "displacement"


def empty_displacements(root: mx.Document) -> None:
    """Puts one that moves nothing in the place of every displacement: the images behind it, often
    the largest of a material, need not be there, and nothing else behind it be known."""
    import MaterialX as mx

    for node in list(root.traverseTree()):
        if isinstance(node, mx.Node) and node.getType() == TYPE:
            node.setCategory(_EMPTY)
            node.removeAttribute("nodedef")
            for port in node.getInputs():
                node.removeChild(port.getName())
