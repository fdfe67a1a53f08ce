"""Prepares a document for MaterialX's code generator: own graphs for images, and names for code.

Each node that reads images through a graph, such as `tiledimage`, gets its own graph, with the file
names at the nodes that sample them. If a file name is an input of a graph, the generator decodes
colours behind the whole graph, crashes on two files with colour spaces, and writes the file name
instead of the image if the document defines the node. It also merges files of nodes with the same
name in two graphs.

The generator names functions after graphs, parameters after inputs and outputs, and variables after
nodes. A definition called `new` or `operator` gives invalid code, and one called `max` hides the
function of Slang. Nodes of all graphs become variables of one function: nodes with the same name
clash there, or crash the generator if both have a colour space or a unit.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import TARGET, copy_document, standard_library
from verdigris.core.material.graph.traversal import (
    all_nodes,
    counterpart,
    implementing_graphs,
    own_definitions,
    own_graphs,
    own_implementations,
)
from verdigris.core.material.normalise.names import free_name, rename_nodes, update_references

if TYPE_CHECKING:
    from collections.abc import Iterator

    import MaterialX as mx

# No name in Slang, or in MaterialX's code, begins with this.
_PREFIX = "own_"
_NOT_FOR_CODE = re.compile(r"\W|^(?=\d)")


def prepare_document(
    root: mx.Document, nodes: Iterable[mx.Node], element: mx.TypedElement, document: mx.Document
) -> tuple[mx.Document, mx.TypedElement]:
    """A document in the form that the generator needs, and its element. `root` is changed unless it
    is `document`, which is copied first."""
    prepared = _inline_image_files(root, nodes)
    prepared = _rename_definitions(prepared, document)
    return rename_nodes_for_code(prepared, counterpart(element, prepared), document)


def _inline_image_files(root: mx.Document, nodes: Iterable[mx.Node]) -> mx.Document:
    """The document, or a copy with own graphs if one of these nodes reads a file in a graph."""
    naming = [node for node in nodes if _named_files(node)]
    if not any(_has_graph(node) or _is_in_definition(node) for node in naming):
        return root
    copied = copy_document(root)
    queue = [counterpart(node, copied) for node in naming]
    while queue:
        node = queue.pop()
        if _has_graph(node):
            graph = _add_own_graph(node)
            queue += [inner for inner in graph.getNodes() if _named_files(inner)]
        elif _is_in_definition(node):
            definition, name = node.getParent(), node.getName()
            apart = definition.createValidChildName(f"{definition.getName()}_{name}")
            rename_nodes(definition, {name: apart})
    return copied


def _has_graph(node: mx.Node) -> bool:
    import MaterialX as mx

    return isinstance(node.getImplementation(TARGET), mx.NodeGraph)


def _is_in_definition(node: mx.Node) -> bool:
    """Whether a node is inside the graph of a definition."""
    return node.getParent().getName() in implementing_graphs(node.getDocument())


def _named_files(node: mx.Node) -> dict[str, mx.Input]:
    """For each file input of a node, the input that has the file name."""
    ports = [port for port in node.getInputs() if port.getType() == "filename"]
    named = {port.getName(): _value_of(port) for port in ports}
    return {name: port for name, port in named.items() if port is not None}


def _value_of(port: mx.Input) -> mx.Input | None:
    """The input with the value; None if a node, or a node that uses the definition, provides it."""
    if port.getInterfaceName():
        port = None if _is_in_definition(port.getParent()) else port.getInterfaceInput()
    return port if port is not None and port.hasValueString() else None


def _add_own_graph(node: mx.Node) -> mx.NodeGraph:
    root, library, files = node.getDocument(), standard_library(), _named_files(node)
    definition, implementation = node.getNodeDef(TARGET), node.getImplementation(TARGET)
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


def _rename_definitions(root: mx.Document, document: mx.Document) -> mx.Document:
    """The document with prefixed names of definitions, graphs and their ports. It is copied, unless
    it is a copy or defines nothing."""
    if not _definitions(root) and not implementing_graphs(root):
        return root
    if root is document:
        root = copy_document(document)
    if not _shares_graphs(root):
        _rename_ports(root)
    _rename_graphs(root)
    return root


def _rename_ports(root: mx.Document) -> None:
    # find all before anything is renamed: nodes find their definitions by input names
    ports, references = _ports(root), _references(root)
    for element, attribute in references:
        element.setAttribute(attribute, _PREFIX + element.getAttribute(attribute))
    # longest first: the new name of one may be the old name of another
    for port in sorted(ports, key=lambda each: -len(each.getName())):
        port.setName(_PREFIX + port.getName())


def _rename_graphs(root: mx.Document) -> None:
    renamed = {}
    # sorted: the same document must become the same code in every process
    for name in sorted(implementing_graphs(root)):
        renamed[name] = free_name(_PREFIX + name, root, standard_library())
        root.getNodeGraph(name).setName(renamed[name])
    update_references(root, renamed)


def _definitions(root: mx.Document) -> dict[str, mx.NodeDef]:
    """Definitions of the document by name, without those implemented by code, whose names are
    fixed."""
    coded = {
        each.getNodeDefString() for each in own_implementations(root) if not each.getNodeGraph()
    }
    own = own_definitions(root)
    return {each.getName(): each for each in own if each.getName() not in coded}


def _shares_graphs(root: mx.Document) -> bool:
    """Whether definitions of the document and of the library share a graph."""
    graphs = own_graphs(root)
    pairs = [(graph.getNodeDefString(), graph.getName()) for graph in graphs]
    pairs += [(each.getNodeDefString(), each.getNodeGraph()) for each in own_implementations(root)]
    defined, named = _definitions(root), {graph.getName() for graph in graphs}
    of_own = {graph for definition, graph in pairs if definition in defined}
    of_others = {graph for definition, graph in pairs if definition and definition not in defined}
    return bool(of_own & of_others or of_own - named)


def _ports(root: mx.Document) -> list[mx.Element]:
    """Ports of definitions, of the graphs that implement them, and of nodes that use them."""
    import MaterialX as mx

    definitions = _definitions(root)
    return [
        port
        for owner in (*definitions.values(), *own_graphs(root), *all_nodes(root))
        if (names := _names(owner, definitions))
        for port in owner.getChildren()
        if isinstance(port, mx.PortElement) and port.getName() in names
    ]


def _references(root: mx.Document) -> list[tuple[mx.Element, str]]:
    """Elements that refer to a port, each with the attribute that refers."""
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
    """Names of ports that one of these definitions declares itself. `owner` is the definition, or a
    node or graph of it. Inherited ports keep their names."""
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


def rename_nodes_for_code(
    root: mx.Document, element: mx.TypedElement, document: mx.Document
) -> tuple[mx.Document, mx.TypedElement]:
    """The document with unique, valid node names, and its element. It is copied first if names must
    change and it is not a copy yet."""
    renamed = _to_rename(root)
    if not any(renamed):
        return root, element
    if root is document:
        root = copy_document(document)
        element = counterpart(element, root)
    for scope, names in zip((root, *own_graphs(root)), renamed, strict=True):
        rename_nodes(scope, names)
    return root, element


def _to_rename(root: mx.Document) -> list[dict[str, str]]:
    """New node names by old ones, for the document and each of its graphs in order."""
    # graphs of definitions become functions of their own
    implementing = implementing_graphs(root)
    graphs = own_graphs(root)
    known = {node.getName() for graph in graphs for node in graph.getNodes()}
    known.update(child.getName() for child in root.getChildren())
    taken: set[str] = set()
    # each name continues after its last number
    numbers: defaultdict[str, Iterator[int]] = defaultdict(partial(count, 2))
    renamed = []
    for scope in (root, *graphs):
        names = [node.getName() for node in scope.getNodes()]
        twins = set() if scope.getName() in implementing else taken
        others: dict[str, str] = {}
        for name in names:
            if name in twins or _NOT_FOR_CODE.search(name):
                plain = _NOT_FOR_CODE.sub("_", name)
                numbered = (f"{plain}_{number}" for number in numbers[plain])
                others[name] = next(each for each in numbered if each not in known)
                known.add(others[name])
        renamed.append(others)
        taken.update(() if scope.getName() in implementing else names)
    return renamed
