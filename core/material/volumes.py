"""What scatters within a volume: none of it is baked, and of most of its nodes MaterialX has no
code, not even where they lie below a surface."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

# The one kind that there is code of.
_EMPTY = "anisotropic_vdf"


def empty_volumes(root: mx.Document) -> None:
    """Puts an empty volume in the place of every node that makes one."""
    import MaterialX as mx

    for node in list(root.traverseTree()):
        if isinstance(node, mx.Node) and node.getType() == "VDF":
            node.setCategory(_EMPTY)
            node.removeAttribute("nodedef")
            for port in node.getInputs():
                node.removeChild(port.getName())
