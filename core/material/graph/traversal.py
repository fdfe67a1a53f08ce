"""Walks the graph of a material upstream, also into graphs of nodes that the document defines, and
lists what a document defines itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.graph.library import TARGET

if TYPE_CHECKING:
    import MaterialX as mx


def upstream_nodes(element: mx.TypedElement, document_name: str) -> Iterator[mx.Node]:
    """Every node that feeds an element, each once. If the element is a node, it comes first.

    The walk is iterative: chains of thousands of nodes exceed the recursion limit.
    """
    import MaterialX as mx

    done: set[str] = set()
    on_path: dict[str, None] = {}
    stack: list[tuple[mx.Node, Iterator[mx.Node]]] = []

    def enter(node: mx.Node) -> bool:
        path = node.getNamePath()
        if path in on_path:
            ring = [*list(on_path)[list(on_path).index(path) :], path]
            raise DocumentError(
                f"{document_name}: the graph has a cycle: {' -> '.join(ring)}: remove a connection"
            )
        if path in done:
            return False
        on_path[path] = None
        stack.append((node, _inputs_of(node)))
        return True

    start = element if isinstance(element, mx.Node) else source_of(element)
    if start is not None and enter(start):
        yield start
    while stack:
        node, feeding = stack[-1]
        following = next(feeding, None)
        if following is None:
            stack.pop()
            path = node.getNamePath()
            del on_path[path]
            done.add(path)
        elif enter(following):
            yield following


def all_nodes(root: mx.Element) -> list[mx.Node]:
    """All nodes of a document, with those in graphs."""
    import MaterialX as mx

    return [each for each in root.traverseTree() if isinstance(each, mx.Node)]


def all_inputs(root: mx.Element) -> list[mx.Input]:
    """All inputs in a document: of nodes, graphs and definitions."""
    import MaterialX as mx

    return [each for each in root.traverseTree() if isinstance(each, mx.Input)]


def file_inputs(root: mx.Element) -> list[mx.Input]:
    """All inputs for names of files in a document."""
    return [port for port in all_inputs(root) if port.getType() == "filename"]


def defined_inputs(node: mx.InterfaceElement) -> list[mx.Input]:
    """The inputs of a node's definition; none without a definition."""
    definition = node.getNodeDef()
    return definition.getActiveInputs() if definition is not None else []


def defined_input(node: mx.InterfaceElement, name: str) -> mx.Input | None:
    """The input with this name in a node's definition, if there is one."""
    definition = node.getNodeDef()
    return definition.getActiveInput(name) if definition is not None else None


def counterpart(element: mx.Element, copied: mx.Document) -> mx.Element:
    """The same element in a copy of its document. Names may contain path separators."""
    parent = element.getParent()
    return copied if parent is None else counterpart(parent, copied).getChild(element.getName())


def count_expanded(nodes: Sequence[mx.Node]) -> int:
    """The number of nodes behind an element after each use of a definition is expanded. No other
    number bounds the size of the generated code."""
    users: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        graph = own_graph(node)
        if graph is not None:
            users[graph.getNamePath()].append(node.getParent().getNamePath())
    times: dict[str, int] = {}
    for graph_name in TopologicalSorter(users).static_order():
        times[graph_name] = sum(times[user] for user in users.get(graph_name, ())) or 1
    return sum(times.get(node.getParent().getNamePath(), 1) for node in nodes)


def image_inputs(node: mx.Node) -> Iterator[mx.Input]:
    """The inputs that name the images of a node: its own, those of the graph around it, or, if the
    document defines the node, defaults of its definition."""
    for port in node.getActiveInputs():
        # in the graph of a definition, the users of the definition name the file
        if port.getType() == "filename" and not _is_left_to_users(port):
            yield port.getInterfaceInput() or port
    for port in defined_inputs(node) if is_defined_here(node) else ():
        if port.getType() == "filename" and node.getActiveInput(port.getName()) is None:
            yield port


def value_of(port: mx.Input) -> Any:
    """The value of an input by its type; None if there is none or it cannot be read. For a struct
    it is the text, because MaterialX's bindings have no such type (MaterialX 1.39.5, main.py)."""
    try:
        return port.getValue()
    except AttributeError:
        return port.getValueString()


def is_connected(port: mx.Input) -> bool:
    """Whether the value comes from a node, or from nodes that use the definition around it."""
    return bool(port.getConnectedNode() or port.getConnectedOutput()) or _is_left_to_users(port)


def is_fed(node: mx.Node, name: str) -> bool:
    """Whether the input with this name is connected."""
    port = node.getActiveInput(name)
    return port is not None and is_connected(port)


def definition_of(port: mx.Input) -> mx.NodeDef | None:
    """The definition whose graph contains the node of an input."""
    import MaterialX as mx

    graph = port.getParent().getParent()
    return graph.getNodeDef() if isinstance(graph, mx.NodeGraph) else None


def _is_left_to_users(port: mx.Input) -> bool:
    return bool(port.getInterfaceName()) and port.getInterfaceInput() is None


def _inputs_of(node: mx.Node) -> Iterator[mx.Node]:
    graph = own_graph(node)
    for port in (*node.getInputs(), *(graph.getOutputs() if graph else ())):
        source = source_of(port)
        if source is not None:
            yield source


def own_graph(node: mx.Node) -> mx.NodeGraph | None:
    """The graph of a node that the document itself defines."""
    import MaterialX as mx

    found = node.getImplementation(TARGET)
    is_own = isinstance(found, mx.NodeGraph) and is_of_document(found, node)
    return found if is_own else None


def is_of_document(element: mx.Element, node: mx.Node) -> bool:
    """Whether an element belongs to the document, not to the library."""
    # by identity: `==` compares whole documents
    return element.getParent() is node.getDocument()


def is_defined_here(node: mx.Node) -> bool:
    """Whether the document itself defines this kind of node."""
    definition = node.getNodeDef()
    return definition is not None and is_of_document(definition, node)


def source_of(port: mx.PortElement) -> mx.Node | None:
    """The node that feeds a port, through the inputs of the graph around it."""
    import MaterialX as mx

    seen: set[str] = set()
    while port is not None and port.getNamePath() not in seen:
        seen.add(port.getNamePath())
        interface = port.getInterfaceInput() if isinstance(port, mx.Input) else None
        if interface is not None:
            port = interface
            continue
        output = port.getConnectedOutput()
        if output is not None and not port.getNodeName():
            port = output
            continue
        return port.getConnectedNode()
    return None


def output_type(source: mx.Node, output: str) -> str:
    """The type of an output; empty if it is unknown, or if the node has several outputs and none is
    named."""
    if source.getType() != "multioutput":
        return str(source.getType())
    definition = source.getNodeDef()
    named = definition.getActiveOutput(output) if definition is not None else None
    return str(named.getType()) if named is not None else ""


def own_graphs(outer: mx.GraphElement) -> list[mx.NodeGraph]:
    """The graphs of a document or graph, without those of the library."""
    import MaterialX as mx

    return [child for child in outer.getChildren() if isinstance(child, mx.NodeGraph)]


def free_graphs(root: mx.Document) -> list[mx.NodeGraph]:
    """The graphs of a document that do not implement a definition."""
    implementing = implementing_graphs(root)
    return [graph for graph in own_graphs(root) if graph.getName() not in implementing]


def own_definitions(root: mx.Document) -> list[mx.NodeDef]:
    """The node definitions of a document, without those of the library."""
    import MaterialX as mx

    return [child for child in root.getChildren() if isinstance(child, mx.NodeDef)]


def own_implementations(root: mx.Document) -> list[mx.Implementation]:
    """The implementations of a document, without those of the library."""
    import MaterialX as mx

    return [child for child in root.getChildren() if isinstance(child, mx.Implementation)]


def implementing_graphs(root: mx.Document) -> frozenset[str]:
    """The names of graphs that implement a node definition."""
    named = {each.getNodeGraph() for each in own_implementations(root)}
    return frozenset(
        graph.getName()
        for graph in own_graphs(root)
        if graph.getNodeDefString() or graph.getName() in named
    )
