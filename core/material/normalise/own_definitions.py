"""Node definitions of the document itself, for which MaterialX's generator expects another form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import TARGET, standard_library
from verdigris.core.material.graph.traversal import own_graphs, own_implementations
from verdigris.core.material.normalise.names import free_name

if TYPE_CHECKING:
    import MaterialX as mx

_MATERIAL, _SURFACE, _PORT = "material", "surfaceshader", "surfaceshader"


def remove_code_beside_graphs(root: mx.Document) -> None:
    """Removes shader code of definitions that have a graph too: MaterialX takes whichever comes
    first in the document."""
    own = own_implementations(root)
    with_graph = {graph.getNodeDefString() for graph in own_graphs(root) if not graph.getTarget()}
    with_graph |= {each.getNodeDefString() for each in own if each.getNodeGraph()}
    for each in own:
        if each.getNodeDefString() in with_graph and not each.getNodeGraph():
            root.removeChild(each.getName())


def unwrap_material_definitions(root: mx.Document) -> None:
    """Turns definitions of whole materials into definitions of surfaces.

    The generator searches the nodes connected to a material for a surface, not their graphs. The
    material is moved out of the definition, behind each node that uses it.
    """
    import MaterialX as mx

    own = [child for child in root.getChildren() if isinstance(child, mx.NodeDef)]
    for definition in own:
        if definition.getType() != _MATERIAL or not _remove_material(definition):
            continue
        for node in root.getNodes(definition.getNodeString()):
            if node.getType() == _MATERIAL:
                _add_material_behind(node, root)


def _remove_material(definition: mx.NodeDef) -> bool:
    """Whether the graph of a definition had a material to remove."""
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


def _add_material_behind(node: mx.Node, root: mx.Document) -> None:
    name = node.getName()
    node.setName(free_name(name, root, standard_library()))
    node.setType(_SURFACE)
    material = root.addNode("surfacematerial", name, _MATERIAL)
    port = material.addInput(_PORT, _SURFACE)
    port.setNodeName(node.getName())
