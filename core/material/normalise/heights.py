"""Makes heights the emission of a surface, in a document that is evaluated for them alone.

The displacement of a material becomes an unlit surface, and so does a preview surface with an input
for it. A shader file emits its function `height`. Heights then need no code of their own: graphs,
images, units and definitions are those of any material.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.material.graph.traversal import all_nodes, is_connected, own_implementations
from verdigris.core.material.normalise.dropped_nodes import (
    DISPLACED_BY,
    MIX,
    VECTOR,
    empty_volumes_and_displacements,
)

if TYPE_CHECKING:
    import MaterialX as mx

_DISPLACEMENT, _PREVIEW = "displacement", "UsdPreviewSurface"
_TERMINAL, _SURFACE = "displacementshader", "surfaceshader"
HEIGHT = "height"
COPIED_FROM = "copiedfrom"
"""Attribute of an input of an added node: the artist's node and input, for errors."""


def is_displaced(node: mx.Node) -> bool:
    """Whether a node of a normalised material displaces its surface, in a way that is evaluated."""
    if node.getType() == _TERMINAL:
        return node.getAttribute(DISPLACED_BY) in ("", VECTOR)
    if node.getType() != _SURFACE:
        return False
    if node.getCategory() == _PREVIEW:
        port = node.getInput(_DISPLACEMENT)
        return port is not None and (is_connected(port) or bool(port.getValue()))
    found = node.getImplementation("genslang")
    return found is not None and found.hasAttribute(HEIGHT)


def emit_heights(root: mx.Document) -> None:
    """Makes the surface of each material that is displaced one that emits its height."""
    nodes = all_nodes(root)
    heights: dict[str, mx.Node] = {}
    displacing = [node for node in nodes if _add_height(node, heights)]
    for node in displacing:
        _emit(node, heights[node.getNamePath()])
    for node in nodes:
        if node.getType() == "material" and node.getInput(_TERMINAL) is not None:
            _show(node)
    for implementation in own_implementations(root):
        function = implementation.getAttribute(HEIGHT)
        if function:
            implementation.setAttribute("emission", function)
            for role in ("opacity", HEIGHT):
                implementation.removeAttribute(role)
    empty_volumes_and_displacements(root)


def _add_height(node: mx.Node, heights: dict[str, mx.Node]) -> bool:
    """Adds a node with the height of a displacement, of a mix of them, or of a preview surface.
    Returns whether the node is one of these."""
    is_terminal, category = node.getType() == _TERMINAL, node.getCategory()
    is_preview = category == _PREVIEW and node.getInput(_DISPLACEMENT) is not None
    path = node.getNamePath()
    if path in heights:
        return True
    if not is_preview and not (is_terminal and category in (_DISPLACEMENT, MIX)):
        return False
    scope = node.getParent()
    # errors about its inputs show this name
    name = scope.createValidChildName(f"{_DISPLACEMENT}_of_{node.getName()}")
    height = scope.addNode(MIX if category == MIX else "multiply", name, "float")
    heights[path] = height
    if category == MIX:
        for port in ("fg", "bg"):
            given = node.getInput(port)
            source = given.getConnectedNode() if given is not None else None
            copied = height.addInput(port, "float")
            if source is not None and _add_height(source, heights):
                copied.setNodeName(heights[source.getNamePath()].getName())
        _copy(node.getInput(MIX), height, MIX, "float", "0")
        return True
    amount = node.getInput(_DISPLACEMENT)
    if amount is not None and amount.getType() == "vector3":
        # in the frame of the surface: its part along the normal
        part = scope.addNode("extract", scope.createValidChildName("along_normal"), "float")
        _copy(amount, part, "in", "vector3", "0, 0, 0")
        part.setInputValue("index", 2, "integer")
        height.addInput("in1", "float").setNodeName(part.getName())
    else:
        _copy(amount, height, "in1", "float", "0")
    _copy(node.getInput("scale") if is_terminal else None, height, "in2", "float", "1")
    return True


def _emit(node: mx.Node, height: mx.Node) -> None:
    scope = node.getParent()
    colour = scope.addNode("combine3", scope.createValidChildName("height_colour"), "color3")
    for name in ("in1", "in2", "in3"):
        colour.addInput(name, "float").setNodeName(height.getName())
    for port in node.getInputs():
        node.removeInput(port.getName())
    node.removeAttribute("nodedef")
    node.setCategory("surface_unlit")
    node.setType(_SURFACE)
    node.addInput("emission_color", "color3").setNodeName(colour.getName())


def _copy(port: mx.Input | None, node: mx.Node, name: str, kind: str, usual: str) -> None:
    copied = node.addInput(name, kind)
    if port is not None:
        owner = port.getParent().getNamePath()
        copied.copyContentFrom(port)
        copied.setAttribute(COPIED_FROM, f"node {owner!r}, input {port.getName()!r}")
    else:
        copied.setValueString(usual)


def _show(material: mx.Node) -> None:
    """Connects the surface of a material to its displacement, and to an output of a graph between
    them."""
    terminal = material.getInput(_TERMINAL)
    surface = material.getInput(_SURFACE) or material.addInput(_SURFACE, _SURFACE)
    surface.copyContentFrom(terminal)
    surface.setType(_SURFACE)
    material.removeInput(_TERMINAL)
    output = surface.getConnectedOutput()
    if output is not None:
        output.setType(_SURFACE)
