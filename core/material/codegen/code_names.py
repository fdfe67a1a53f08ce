"""Names that code takes from nodes which a document defines.

The generator calls functions like their graphs, and parameters like their inputs and outputs. What
is called `new` or `operator` is no code then, and one called `max` hides the function of Slang.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.material.graph.traversal import (
    implementing_graphs,
    own_graphs,
    own_implementations,
)
from verdigris.core.material.normalise.names import free_name, update_references

if TYPE_CHECKING:
    import MaterialX as mx

# Neither Slang nor what MaterialX has written in it has a name that begins so.
_PREFIX = "own_"


def rename_definitions_for_code(
    root: mx.Document, document: mx.Document, library: mx.Document
) -> mx.Document:
    """What code is generated of, in which no such name means something else: a copy of the
    document, unless it is one, or defines nothing."""
    if not _definitions(root) and not implementing_graphs(root):
        return root
    if root is document:
        root = document.copy()
        root.setDataLibrary(library)
    if not _shares_graphs(root):
        _rename_ports(root)
    _rename_graphs(root, library)
    return root


def _rename_ports(root: mx.Document) -> None:
    # all is found before anything is renamed: nodes find their definitions by the names of inputs
    ports, references = _ports(root), _references(root)
    for element, attribute in references:
        element.setAttribute(attribute, _PREFIX + element.getAttribute(attribute))
    # the longest first: one may be called what another will be
    for port in sorted(ports, key=lambda each: -len(each.getName())):
        port.setName(_PREFIX + port.getName())


def _rename_graphs(root: mx.Document, library: mx.Document) -> None:
    renamed = {}
    # the same document must become the same code in every process
    for name in sorted(implementing_graphs(root)):
        renamed[name] = free_name(_PREFIX + name, root, library)
        root.getNodeGraph(name).setName(renamed[name])
    update_references(root, renamed)


def _definitions(root: mx.Document) -> dict[str, mx.NodeDef]:
    """Those of the document, by name. What is written as code knows its inputs by theirs."""
    coded = {
        each.getNodeDefString() for each in own_implementations(root) if not each.getNodeGraph()
    }
    own = [each for each in root.getChildren() if each.getCategory() == "nodedef"]
    return {each.getName(): each for each in own if each.getName() not in coded}


def _shares_graphs(root: mx.Document) -> bool:
    """Whether the document's definitions and those of the library have a graph in common, in which
    one name stands for both."""
    graphs = own_graphs(root)
    pairs = [(graph.getNodeDefString(), graph.getName()) for graph in graphs]
    pairs += [(each.getNodeDefString(), each.getNodeGraph()) for each in own_implementations(root)]
    defined, named = _definitions(root), {graph.getName() for graph in graphs}
    of_own = {graph for definition, graph in pairs if definition in defined}
    of_others = {graph for definition, graph in pairs if definition and definition not in defined}
    return bool(of_own & of_others or of_own - named)


def _ports(root: mx.Document) -> list[mx.Element]:
    """Of definitions, of the graphs that implement them, and of the nodes that use them."""
    import MaterialX as mx

    definitions = _definitions(root)
    users = (each for each in root.traverseTree() if isinstance(each, mx.Node))
    return [
        port
        for owner in (*definitions.values(), *own_graphs(root), *users)
        if (names := _names(owner, definitions))
        for port in owner.getChildren()
        if isinstance(port, mx.PortElement) and port.getName() in names
    ]


def _references(root: mx.Document) -> list[tuple[mx.Element, str]]:
    """What names a port, and the attribute in which it does."""
    import MaterialX as mx

    definitions = _definitions(root)
    found = [
        (element, "interfacename")
        for graph in own_graphs(root)
        if (names := _names(graph, definitions))
        for element in graph.traverseTree()
        if element.getAttribute("interfacename") in names
    ]
    for port in root.traverseTree():
        if isinstance(port, mx.PortElement) and port.getOutputString():
            graph = root.getNodeGraph(port.getNodeGraphString())
            source = port.getConnectedNode() if port.getNodeName() else graph
            if source is not None and port.getOutputString() in _names(source, definitions):
                found.append((port, "output"))
    return found


def _names(owner: mx.InterfaceElement, definitions: dict[str, mx.NodeDef]) -> frozenset[str]:
    """The names by which one of these definitions calls ports of its own: of itself, or of a node
    or a graph that has one. What it inherits from others is called as it is there."""
    import MaterialX as mx

    found = owner if isinstance(owner, mx.NodeDef) else owner.getNodeDef()
    definition = definitions.get(found.getName()) if found is not None else None
    if definition is None or definition is not found:
        return frozenset()
    own: set[str] = set()
    others: set[str] = set()
    for each in definition.traverseInheritance():
        names = own if each.getName() in definitions else others
        names.update(port.getName() for port in (*each.getInputs(), *each.getOutputs()))
    return frozenset(own - others)
