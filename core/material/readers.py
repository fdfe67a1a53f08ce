"""Nodes that read a property of the geometry, which a flat sample has not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from verdigris.core.material.coordinates import property_of

if TYPE_CHECKING:
    import MaterialX as mx

READER, VALUE, UNIFORM_VALUE = "UsdPrimvarReader", "geompropvalue", "geompropvalueuniform"
_SLANG_TYPES = {
    "boolean": "bool",
    "integer": "int",
    "float": "float",
    **{f"vector{size}": f"float{size}" for size in (2, 3, 4)},
    **{f"color{size}": f"float{size}" for size in (3, 4)},
}
_UNIFORM = ("string", "filename")
# input of a reader -> that of the node that stands for it
PORTS = {"varname": "geomprop", "fallback": "default"}


def read_properties_directly(root: mx.Document) -> None:
    """Puts MaterialX's own node in the place of USD's, out of whose graph it cannot generate code:
    there the name of the property is an interface."""
    import MaterialX as mx

    for node in root.traverseTree():
        if not isinstance(node, mx.Node) or node.getCategory() not in (READER, VALUE):
            continue
        if node.getCategory() == VALUE:
            _give_name_that_code_can_have(node)
            continue
        node.setCategory(UNIFORM_VALUE if node.getType() in _UNIFORM else VALUE)
        node.removeAttribute("nodedef")
        for port in node.getInputs():
            if port.getName() in PORTS:
                port.setName(PORTS[port.getName()])
        _give_name_that_code_can_have(node)


def _give_name_that_code_can_have(node: mx.Node) -> None:
    """The generator makes a variable of the name, which may be such as `UV Map` or `UVMap.001`."""
    port = node.getInput(PORTS["varname"])
    port = (port.getInterfaceInput() or port) if port is not None else None
    if port is not None and port.getValueString():
        name = port.getValueString().removeprefix("primvars:")
        port.setValueString(re.sub(r"[^A-Za-z0-9_]", "_", name))


def properties_without_geometry(nodes: Iterable[mx.Node]) -> dict[str, str]:
    """By the name of a property, what the nodes say it is where there is none, as Slang has it."""
    found: dict[str, str] = {}
    for node in nodes:
        default, slang = node.getInput(PORTS["fallback"]), _SLANG_TYPES.get(node.getType())
        value = default.getValue() if default is not None else None
        if node.getCategory() == VALUE and value is not None and slang:
            found.setdefault(property_of(node), f"{slang}({_numbers(value)})")
    return found


def _numbers(value: Any) -> str:
    """What MaterialX has read, and not the text that it has read it of: that may go on."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(repr, value.asTuple() if hasattr(value, "asTuple") else (value,)))
