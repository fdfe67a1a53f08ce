"""Nodes that a bake drops: displacement, volumes and the back of a surface.

They are emptied before anything resolves their inputs. Images of a displacement, often the largest
of a material, need not exist; MaterialX has no code for most volume nodes; and the graph of the
back would be compiled too, and might fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

# By type, a category that does nothing without inputs: the only volume that has code, and the
# displacement that reports look for.
_EMPTY = {"VDF": "anisotropic_vdf", "displacementshader": "displacement"}
# By category, the inputs for the two sides of a surface.
_SIDES = {
    "surfacematerial": ("surfaceshader", "backsurfaceshader"),
    "LamaSurface": ("materialFront", "materialBack"),
}


def empty_volumes_and_displacements(root: mx.Document) -> None:
    """Replaces each volume and each displacement by one without inputs, which does nothing."""
    import MaterialX as mx

    for node in list(root.traverseTree()):
        if isinstance(node, mx.Node) and node.getType() in _EMPTY:
            node.setCategory(_EMPTY[node.getType()])
            node.removeAttribute("nodedef")
            for port in node.getInputs():
                node.removeChild(port.getName())


def use_front_shader_for_back(root: mx.Document) -> None:
    """Connects the back of each surface to the shader of its front.

    Reports still list the back, and it needs no code. A surface without a front loses its back.
    """
    import MaterialX as mx

    left: list[tuple[str, str]] = []
    for node in list(root.traverseTree()):
        names = _SIDES.get(node.getCategory()) if isinstance(node, mx.Node) else None
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
    """Removes an output that nothing reads any more: a surface there would count as a material."""
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
