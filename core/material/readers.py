"""Nodes that read a property of the geometry by USD's name for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

READER, VALUE, UNIFORM_VALUE = "UsdPrimvarReader", "geompropvalue", "geompropvalueuniform"
_UNIFORM = ("string", "filename")
# input of a reader -> that of the node that stands for it
PORTS = {"varname": "geomprop", "fallback": "default"}


def read_properties_directly(root: mx.Document) -> None:
    """Puts MaterialX's own node in the place of USD's, out of whose graph it cannot generate code:
    there the name of the property is an interface."""
    import MaterialX as mx

    for node in root.traverseTree():
        if not isinstance(node, mx.Node) or node.getCategory() != READER:
            continue
        node.setCategory(UNIFORM_VALUE if node.getType() in _UNIFORM else VALUE)
        node.removeAttribute("nodedef")
        for port in node.getInputs():
            if port.getName() in PORTS:
                port.setName(PORTS[port.getName()])
