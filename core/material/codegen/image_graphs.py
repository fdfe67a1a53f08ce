"""Nodes that read images through a graph, such as `tiledimage`: each gets a graph of its own, in
which the files are named where they are sampled.

Where a file is handed to a graph, the generator turns colours into linear ones behind all of that
graph, crashes if the node names two files in a colour space, and writes the file's name in the
place of the image if the document defines the node. Files that are named within such graphs it
takes for one where the nodes that name them have one name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from verdigris.core.material.graph.traversal import implementing_graphs
from verdigris.core.material.normalise.names import free_name, rename_nodes

if TYPE_CHECKING:
    import MaterialX as mx


def inline_image_files(
    root: mx.Document, nodes: Iterable[mx.Node], library: mx.Document, target: str
) -> mx.Document:
    """The document for these of its nodes: a copy, if one of them reads a file in a graph."""
    naming = [node for node in nodes if _named_files(node)]
    if not any(_has_graph(node, target) or _is_in_definition(node) for node in naming):
        return root
    copied = root.copy()
    copied.setDataLibrary(library)
    queue = [counterpart(node, copied) for node in naming]
    while queue:
        node = queue.pop()
        if _has_graph(node, target):
            graph = _give_graph_of_its_own(node, library, target)
            queue += [inner for inner in graph.getNodes() if _named_files(inner)]
        elif _is_in_definition(node):
            definition, name = node.getParent(), node.getName()
            apart = definition.createValidChildName(f"{definition.getName()}_{name}")
            rename_nodes(definition, {name: apart})
    return copied


def counterpart(element: mx.Element, copied: mx.Document) -> mx.Element:
    """What an element is in a copy of its document. Names may hold what parts those of a path."""
    parent = element.getParent()
    return copied if parent is None else counterpart(parent, copied).getChild(element.getName())


def _has_graph(node: mx.Node, target: str) -> bool:
    import MaterialX as mx

    return isinstance(node.getImplementation(target), mx.NodeGraph)


def _is_in_definition(node: mx.Node) -> bool:
    """Whether a node stands in a graph that implements others."""
    return node.getParent().getName() in implementing_graphs(node.getDocument())


def _named_files(node: mx.Node) -> dict[str, mx.Input]:
    """By the inputs of a node that take files, where those are named."""
    ports = [port for port in node.getInputs() if port.getType() == "filename"]
    named = {port.getName(): _value_of(port) for port in ports}
    return {name: port for name, port in named.items() if port is not None}


def _value_of(port: mx.Input) -> mx.Input | None:
    """The input that has the value; none if others give it: a node, or the users of a graph."""
    if port.getInterfaceName():
        port = None if _is_in_definition(port.getParent()) else port.getInterfaceInput()
    return port if port is not None and port.hasValueString() else None


def _give_graph_of_its_own(node: mx.Node, library: mx.Document, target: str) -> mx.NodeGraph:
    root, files = node.getDocument(), _named_files(node)
    definition, implementation = node.getNodeDef(target), node.getImplementation(target)
    graph = root.addNodeGraph(free_name(implementation.getName(), root, library))
    graph.copyContentFrom(implementation)
    for inner in graph.getNodes():
        for reader in inner.getInputs():
            name = reader.getInterfaceName()
            if name in files:
                _name_file(reader, files[name], node.getInput(name).getColorSpace())
    own = root.addNodeDef(free_name(definition.getName(), root, library), "", graph.getName())
    for port in (*definition.getActiveInputs(), *definition.getActiveOutputs()):
        if port.getName() not in files:
            own.addChildOfCategory(port.getCategory(), port.getName()).copyContentFrom(port)
    graph.setNodeDefString(own.getName())
    for name in files:
        node.removeInput(name)
    node.setCategory(graph.getName())
    node.setNodeDefString(own.getName())
    return graph


def _name_file(reader: mx.Input, given: mx.Input, colour_space: str) -> None:
    reader.removeAttribute("interfacename")
    reader.setValueString(given.getResolvedValueString())
    reader.setFilePrefix("")
    reader.setColorSpace(colour_space or given.getActiveColorSpace())
