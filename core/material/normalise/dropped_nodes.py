"""Nodes that do not become code of a surface: displacement, volumes, its back, and disabled nodes.

They are emptied or replaced before anything resolves their inputs. Images of a displacement, often
the largest of a material, need not exist. MaterialX has no code for most volume nodes. The graph of
the back would be compiled too, and might fail. MaterialX's specification has an input `disable` for
each node that names what it returns instead; MaterialX has neither code nor definitions for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.material.graph.traversal import all_nodes, defined_input, is_connected, value_of

if TYPE_CHECKING:
    import MaterialX as mx

DISABLE = "disable"
# Attribute of an emptied displacement: `vector`, or the category of a node that is not evaluated.
DISPLACED_BY, VECTOR = "displacedby", "vector"
MIX = "mix"
# For each type, a category that does nothing without inputs: the only volume that has code, and the
# displacement that reports look for.
_DISPLACES = "displacementshader"
_EMPTY = {"VDF": "anisotropic_vdf", _DISPLACES: "displacement"}
# For each category, the inputs for the two sides of a surface.
_SIDES = {
    "surfacematerial": ("surfaceshader", "backsurfaceshader"),
    "LamaSurface": ("materialFront", "materialBack"),
}


def empty_volumes_and_displacements(root: mx.Document) -> None:
    """Replaces each volume and each displacement by one without inputs, which does nothing. Heights
    are evaluated in a document of their own (heights.py)."""
    nodes = [node for node in all_nodes(root) if node.getType() in _EMPTY]
    kinds = [_kind_of(node) for node in nodes]
    for node, kind in zip(nodes, kinds, strict=True):
        if kind:
            node.setAttribute(DISPLACED_BY, kind)
        node.setCategory(_EMPTY[node.getType()])
        node.removeAttribute("nodedef")
        for port in node.getInputs():
            node.removeChild(port.getName())


def _kind_of(node: mx.Node, seen: tuple[str, ...] = ()) -> str:
    """What reports tell of a displacement: `vector`, or a category that is not evaluated."""
    if node.getType() != _DISPLACES or node.getNamePath() in seen:
        return ""
    if node.getCategory() == MIX:
        ports = [port for port in node.getInputs() if port.getType() == _DISPLACES]
        if not all(port.getNodeName() for port in ports):
            return MIX
        behind = [port.getConnectedNode() for port in ports]
        kinds = {_kind_of(each, (*seen, node.getNamePath())) for each in behind if each is not None}
        return max(kinds - {VECTOR}, default="") or (VECTOR if VECTOR in kinds else "")
    if node.getCategory() != _EMPTY[_DISPLACES]:
        return str(node.getCategory())
    port = node.getInput("displacement")
    return VECTOR if port is not None and port.getType() == "vector3" else ""


def use_front_shader_for_back(root: mx.Document) -> None:
    """Connects the back of each surface to the shader of its front.

    The back then needs no code of its own, and reports still list it. A surface without a front
    loses its back.
    """
    left: list[tuple[str, str]] = []
    for node in all_nodes(root):
        names = _SIDES.get(node.getCategory())
        front, back = map(node.getInput, names) if names else (None, None)
        if back is None:
            continue
        left.append((back.getNodeGraphString(), back.getOutputString()))
        if front is None:
            node.removeChild(back.getName())
        elif back.getConnectedNode() or back.getConnectedOutput() or back.hasInterfaceName():
            back.copyContentFrom(front)
    for graph, output in left:
        _remove_unless_read(root, graph, output)


def _remove_unless_read(root: mx.Document, graph: str, name: str) -> None:
    """Removes an output that nothing reads any more: its surface would count as a material."""
    import MaterialX as mx

    inner = root.getNodeGraph(graph) if graph else None
    if inner is None or any(
        isinstance(port, mx.PortElement)
        and port.getNodeGraphString() == graph
        and port.getOutputString() in ("", name)
        for port in root.traverseTree()
    ):
        return
    for output in inner.getOutputs():
        if name in ("", output.getName()):
            inner.removeChild(output.getName())


def bypass_disabled_nodes(root: mx.Document) -> None:
    """Replaces each disabled node with what it returns instead.

    A node that names nothing to return keeps the input, and so does a node whose input is
    connected: the checks refuse them by name.
    """
    for node in all_nodes(root):
        port = node.getInput(DISABLE)
        if port is None or port.getType() != "boolean" or defined_input(node, DISABLE) is not None:
            continue
        given = port.getInterfaceInput() or port
        if is_connected(given) or value_of(given) is None:
            continue
        node.removeInput(DISABLE)
        if value_of(given) and not _replace(node):
            node.addInput(DISABLE, "boolean").setValueString("true")


def _replace(node: mx.Node) -> bool:
    """Replaces a node if its definition names an input or a value for that. Returns whether it
    does."""
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
