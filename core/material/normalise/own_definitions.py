"""Nodes that the document defines as whole materials. The generator looks for a surface in what a
material is connected to, and not in its graph: so the surface is what they are made to define."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import TARGET
from verdigris.core.material.normalise.names import free_name

if TYPE_CHECKING:
    import MaterialX as mx

_MATERIAL, _SURFACE, _PORT = "material", "surfaceshader", "surfaceshader"


def define_surfaces_of_materials(root: mx.Document, library: mx.Document) -> None:
    """Takes the material out of such definitions, and puts it behind the nodes that use them."""
    import MaterialX as mx

    own = [child for child in root.getChildren() if isinstance(child, mx.NodeDef)]
    for definition in own:
        if definition.getType() != _MATERIAL or not _take_material_out(definition):
            continue
        for node in root.getNodes(definition.getNodeString()):
            if node.getType() == _MATERIAL:
                _put_material_behind(node, root, library)


def _take_material_out(definition: mx.NodeDef) -> bool:
    """Whether its graph had one to take out."""
    import MaterialX as mx

    graph = definition.getImplementation(TARGET)
    outputs = graph.getOutputs() if isinstance(graph, mx.NodeGraph) else []
    inner = outputs[0].getConnectedNode() if len(outputs) == 1 else None
    if inner is None or inner.getCategory() != "surfacematerial":
        return False
    port = inner.getInput(_PORT)
    if port is None or not port.getNodeName():
        return False
    outputs[0].setNodeName(port.getNodeName())
    outputs[0].setOutputString(port.getOutputString())
    for element in (outputs[0], *definition.getOutputs()):
        element.setType(_SURFACE)
    graph.removeChild(inner.getName())
    return True


def _put_material_behind(node: mx.Node, root: mx.Document, library: mx.Document) -> None:
    name = node.getName()
    node.setName(free_name(name, root, library))
    node.setType(_SURFACE)
    material = root.addNode("surfacematerial", name, _MATERIAL)
    port = material.addInput(_PORT, _SURFACE)
    port.setNodeName(node.getName())
