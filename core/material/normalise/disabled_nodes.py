"""Nodes with the input `disable`, which MaterialX's specification gives to all that say what they
hand on instead. MaterialX has no code for it, and knows none of its definitions to have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.material.graph.traversal import is_connected

if TYPE_CHECKING:
    import MaterialX as mx

DISABLE = "disable"


def pass_disabled_nodes_by(root: mx.Document) -> None:
    """Puts in the place of each disabled node what it hands on, as the specification proposes.

    One that names nothing to hand on keeps the input, and so do those that something else may
    disable: the checks refuse them by name.
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
        if given.getValue() and not _hand_on(node):
            node.addInput(DISABLE, "boolean").setValueString("true")


def _is_defined(node: mx.Node) -> bool:
    definition = node.getNodeDef()
    return definition is not None and definition.getActiveInput(DISABLE) is not None


def _hand_on(node: mx.Node) -> bool:
    """Whether the definition says what instead of the node: an input, or else a value."""
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
        _become(node, "dot")
        node.addInput("in", node.getType()).copyContentFrom(given)
    elif default:
        _give(node, default)
    elif defined is not None and defined.getDefaultGeomPropString():
        place = node.getDocument().getGeomPropDef(defined.getDefaultGeomPropString())
        _become(node, place.getGeomProp())
        if place.getSpace():
            node.addInput("space", "string").setValueString(place.getSpace())
    elif defined is not None and defined.hasValueString():
        _give(node, defined.getValueString())
    else:
        return False
    return True


def _give(node: mx.Node, value: str) -> None:
    _become(node, "constant")
    node.addInput("value", node.getType()).setValueString(value)


def _become(node: mx.Node, category: str) -> None:
    for port in node.getInputs():
        node.removeInput(port.getName())
    node.removeAttribute("nodedef")
    node.removeAttribute("version")
    node.setCategory(category)
