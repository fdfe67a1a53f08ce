"""Nodes of which nothing is baked, in whose place others are put that do nothing.

Displacement: a surface keeps its shape. The images behind it, often the largest of a material, need
not be there, and nothing else behind it be known. What scatters within a volume: of most of its
nodes MaterialX has no code, not even where they lie below a surface.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

# By type, the category of a node that does nothing without inputs: the one volume that there is
# code of, and the displacement that reports know.
_EMPTY = {"VDF": "anisotropic_vdf", "displacementshader": "displacement"}


def empty_dropped_nodes(root: mx.Document) -> None:
    """Puts one that does nothing in the place of every volume and every displacement."""
    import MaterialX as mx

    for node in list(root.traverseTree()):
        if isinstance(node, mx.Node) and node.getType() in _EMPTY:
            node.setCategory(_EMPTY[node.getType()])
            node.removeAttribute("nodedef")
            for port in node.getInputs():
                node.removeChild(port.getName())
