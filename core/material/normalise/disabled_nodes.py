"""The input `disable` of nodes. MaterialX's specification has it for each node that names what it
returns instead; MaterialX itself has neither code nor definitions for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.material.graph.traversal import is_connected

if TYPE_CHECKING:
    import MaterialX as mx

DISABLE = "disable"


def bypass_disabled_nodes(root: mx.Document) -> None:
    """Replaces each disabled node by what it returns instead.

    A node that names nothing to return keeps the input, as does one whose input is connected: the
    checks refuse them by name.
    """
    import MaterialX as mx

    for node in list(root.traverseTree()):
        port = node.getInput(DISABLE) if isinstance(node, mx.Node) else None
        if port is None or port.getType() != "boolean" or _is_defined(node):
            continue
        given = port.getInterfaceInput() or port
        if is_connected(given) or given.getValue() is None:
            continue
        node.removeInput(DISABLE)
        if given.getValue() and not _replace(node):
            node.addInput(DISABLE, "boolean").setValueString("true")


def _is_defined(node: mx.Node) -> bool:
    definition = node.getNodeDef()
    return definition is not None and definition.getActiveInput(DISABLE) is not None


def _replace(node: mx.Node) -> bool:
    """Whether the definition names an input or a value that replaces the node."""
    definition = node.getNodeDef()
    outputs = definition.getActiveOutputs() if definition is not None else []
    if len(outputs) != 1:
        return False
    name, default = (outputs[0].getAttribute(each) for each in ("defaultinput", "default"))
    given = node.getInput(name) if name else None
    defined = definition.getActiveInput(name) if name else None
    if defined is not None and defined.getType() != node.getType():
        return False
    if given is not None:
        _make(node, "dot")
        node.addInput("in", node.getType()).copyContentFrom(given)
    elif default:
        _make_constant(node, default)
    elif defined is not None and defined.getDefaultGeomPropString():
        place = node.getDocument().getGeomPropDef(defined.getDefaultGeomPropString())
        _make(node, place.getGeomProp())
        if place.getSpace():
            node.addInput("space", "string").setValueString(place.getSpace())
    elif defined is not None and defined.hasValueString():
        _make_constant(node, defined.getValueString())
    else:
        return False
    return True


def _make_constant(node: mx.Node, value: str) -> None:
    _make(node, "constant")
    node.addInput("value", node.getType()).setValueString(value)


def _make(node: mx.Node, category: str) -> None:
    for port in node.getInputs():
        node.removeInput(port.getName())
    node.removeAttribute("nodedef")
    node.removeAttribute("version")
    node.setCategory(category)
