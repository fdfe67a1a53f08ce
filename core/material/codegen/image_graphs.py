"""Nodes that read images through a graph, such as `tiledimage`.

Each such node gets its own graph, with the file names at the nodes that sample them. Where a file
name is an input of a graph, the generator decodes colours behind the whole graph, crashes on two
files with colour spaces, and writes the file name instead of the image if the document defines the
node. It also merges files of nodes that have the same name in two graphs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from verdigris.core.material.graph.traversal import counterpart, implementing_graphs
from verdigris.core.material.normalise.names import free_name, rename_nodes

if TYPE_CHECKING:
    import MaterialX as mx


def inline_image_files(
    root: mx.Document, nodes: Iterable[mx.Node], library: mx.Document, target: str
) -> mx.Document:
    """The document, or a copy with own graphs if one of these nodes reads a file in a graph."""
    naming = [node for node in nodes if _named_files(node)]
    if not any(_has_graph(node, target) or _is_in_definition(node) for node in naming):
        return root
    copied = root.copy()
    copied.setDataLibrary(library)
    queue = [counterpart(node, copied) for node in naming]
    while queue:
        node = queue.pop()
        if _has_graph(node, target):
            graph = _add_own_graph(node, library, target)
            queue += [inner for inner in graph.getNodes() if _named_files(inner)]
        elif _is_in_definition(node):
            definition, name = node.getParent(), node.getName()
            apart = definition.createValidChildName(f"{definition.getName()}_{name}")
            rename_nodes(definition, {name: apart})
    return copied


def _has_graph(node: mx.Node, target: str) -> bool:
    import MaterialX as mx

    return isinstance(node.getImplementation(target), mx.NodeGraph)


def _is_in_definition(node: mx.Node) -> bool:
    """Whether a node is inside the graph of a definition."""
    return node.getParent().getName() in implementing_graphs(node.getDocument())


def _named_files(node: mx.Node) -> dict[str, mx.Input]:
    """By file input of a node, the input that has the file name."""
    ports = [port for port in node.getInputs() if port.getType() == "filename"]
    named = {port.getName(): _value_of(port) for port in ports}
    return {name: port for name, port in named.items() if port is not None}


def _value_of(port: mx.Input) -> mx.Input | None:
    """The input that has the value; None if a node or the user of a definition provides it."""
    if port.getInterfaceName():
        port = None if _is_in_definition(port.getParent()) else port.getInterfaceInput()
    return port if port is not None and port.hasValueString() else None


def _add_own_graph(node: mx.Node, library: mx.Document, target: str) -> mx.NodeGraph:
    root, files = node.getDocument(), _named_files(node)
    definition, implementation = node.getNodeDef(target), node.getImplementation(target)
    graph = root.addNodeGraph(free_name(implementation.getName(), root, library))
    graph.copyContentFrom(implementation)
    for inner in graph.getNodes():
        for reader in inner.getInputs():
            name = reader.getInterfaceName()
            if name in files:
                _write_file_name(reader, files[name], node.getInput(name).getColorSpace())
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


def _write_file_name(reader: mx.Input, given: mx.Input, colour_space: str) -> None:
    reader.removeAttribute("interfacename")
    reader.setValueString(given.getResolvedValueString())
    reader.setFilePrefix("")
    reader.setColorSpace(colour_space or given.getActiveColorSpace())
