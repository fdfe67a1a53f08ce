"""What USD means by the inputs of its texture node, where MaterialX's graph of it means another."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

_READER, _FALLBACK, _BLACK = "UsdUVTexture", "fallback", "black"


def leave_black_outside(root: mx.Document) -> None:
    """Takes the fallback from those that are black outside of their image: it stands for a file
    that cannot be read, and MaterialX gives it there."""
    import MaterialX as mx

    for node in list(root.traverseTree()):
        if isinstance(node, mx.Node) and node.getCategory() == _READER and _said(node, "file"):
            is_black = _BLACK in (_said(node, "wrapS"), _said(node, "wrapT"))
            if is_black and node.getInput(_FALLBACK) is not None:
                node.removeInput(_FALLBACK)


def _said(node: mx.Node, name: str) -> str:
    """The value of an input, or of that of the graph which it reads."""
    port = node.getInput(name)
    return str((port.getInterfaceInput() or port).getValueString()) if port is not None else ""
