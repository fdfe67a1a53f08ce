"""What nothing is baked of: in its place something is put that does nothing, or is there anyway.

Displacement: a surface keeps its shape. The images behind it, often the largest of a material, need
not be there, and nothing else behind it be known. What scatters within a volume: of most of its
nodes MaterialX has no code, not even where they lie below a surface. And the back of a surface: its
graph would be compiled as well, and may fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

# By type, the category of a node that does nothing without inputs: the one volume that there is
# code of, and the displacement that reports know.
_EMPTY = {"VDF": "anisotropic_vdf", "displacementshader": "displacement"}
# By category, the inputs for the two sides of a surface.
_SIDES = {
    "surfacematerial": ("surfaceshader", "backsurfaceshader"),
    "LamaSurface": ("materialFront", "materialBack"),
}


def empty_dropped_nodes(root: mx.Document) -> None:
    """Puts one that does nothing in the place of every volume and every displacement."""
    import MaterialX as mx

    for node in list(root.traverseTree()):
        if isinstance(node, mx.Node) and node.getType() in _EMPTY:
            node.setCategory(_EMPTY[node.getType()])
            node.removeAttribute("nodedef")
            for port in node.getInputs():
                node.removeChild(port.getName())


def give_backs_what_is_in_front(root: mx.Document) -> None:
    """Connects the back of each surface to what its front is connected to: reports still tell that
    it had one, and no code comes of it. One without a front has no back."""
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
    """Removes the output of a graph that nothing is connected to: a surface there would count as a
    material of its own."""
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
