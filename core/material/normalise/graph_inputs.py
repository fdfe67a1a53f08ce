"""Values that come with a unit or a colour space into a graph: the generator looks for those where
a value is read, and not where it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import TARGET

if TYPE_CHECKING:
    import MaterialX as mx

SAID_OF_A_VALUE = ("colorspace", "unit", "unittype", "fileprefix")
_IN_A_COLOUR_SPACE = ("color3", "color4", "filename")


def prefer_interfaces_to_values(root: mx.Document) -> None:
    """Removes the value of what reads the input of a graph, too: programs leave it there when that
    is published, and outside of definitions the generator would take it."""
    import MaterialX as mx

    for port in root.traverseTree():
        if isinstance(port, mx.Input) and port.hasInterfaceName() and not port.getNodeName():
            port.removeAttribute("value")


def give_values_where_they_are_read(root: mx.Document) -> None:
    """Puts values of a graph's inputs in the place of what refers to them, and what the document's
    own definitions say of colours, lengths, angles and files into the nodes that leave it to
    them."""
    import MaterialX as mx

    implementing = graphs_that_implement(root)
    for graph in own_graphs(root):
        if graph.getName() not in implementing:
            for node in graph.getNodes():
                for port in node.getInputs():
                    _read_directly(port)
    definitions = (child for child in root.getChildren() if isinstance(child, mx.NodeDef))
    defined = {definition.getNodeString() for definition in definitions}
    for node in root.traverseTree() if defined else ():
        if node.getCategory().rpartition(":")[2] in defined:
            _spell_out_defaults(node)


def own_graphs(outer: mx.GraphElement) -> list[mx.NodeGraph]:
    """Without those of the library, which a document counts as its own."""
    import MaterialX as mx

    return [child for child in outer.getChildren() if isinstance(child, mx.NodeGraph)]


def own_implementations(root: mx.Document) -> list[mx.Implementation]:
    """Without those of the library."""
    import MaterialX as mx

    return [child for child in root.getChildren() if isinstance(child, mx.Implementation)]


def graphs_that_implement(root: mx.Document) -> frozenset[str]:
    """The names of graphs whose inputs belong to those that use them as a node."""
    named = {each.getNodeGraph() for each in own_implementations(root)}
    return frozenset(
        graph.getName()
        for graph in own_graphs(root)
        if graph.getNodeDefString() or graph.getName() in named
    )


def prefer_graphs_to_code(root: mx.Document) -> None:
    """Removes the code by which the document implements what it implements by a graph, too, for
    other renderers: nodes are asked for their graphs in whatever order these stand."""
    own = own_implementations(root)
    drawn = {graph.getNodeDefString() for graph in own_graphs(root) if not graph.getTarget()}
    drawn |= {each.getNodeDefString() for each in own if each.getNodeGraph()}
    for each in own:
        if each.getNodeDefString() in drawn and not each.getNodeGraph():
            root.removeChild(each.getName())


def _read_directly(port: mx.Input) -> None:
    given = port.getInterfaceInput()
    if given is None or not given.hasValueString() or given.getConnectedOutput():
        return
    if given.getConnectedNode() or not any(map(given.hasAttribute, SAID_OF_A_VALUE)):
        return
    port.removeAttribute("interfacename")
    port.setValueString(given.getValueString())
    for name in filter(given.hasAttribute, SAID_OF_A_VALUE):
        port.setAttribute(name, given.getAttribute(name))


def _spell_out_defaults(node: mx.Node) -> None:
    definition = node.getNodeDef()
    for port in definition.getActiveInputs() if definition is not None else ():
        is_open = port.hasValueString() and node.getInput(port.getName()) is None
        if is_open and (_is_coloured(port) or port.getType() == "filename" or port.hasUnit()):
            spelt_out = node.addInput(port.getName(), port.getType())
            for name in filter(port.hasAttribute, ("value", *SAID_OF_A_VALUE)):
                spelt_out.setAttribute(name, port.getAttribute(name))
            if _is_coloured(port):
                spelt_out.setColorSpace(port.getActiveColorSpace())
            if port.getType() == "filename" and port.getActiveFilePrefix():
                spelt_out.setFilePrefix(port.getActiveFilePrefix())
    for port in node.getInputs():
        is_file = port.getType() == "filename" and not port.hasColorSpace()
        space = _space_by_definition(node, port.getName()) if is_file else ""
        if space:
            port.setColorSpace(space)


def _is_coloured(port: mx.Input) -> bool:
    return port.getType() in _IN_A_COLOUR_SPACE and bool(port.getActiveColorSpace())


def _space_by_definition(node: mx.Node, name: str) -> str:
    """What a definition says of the colours of a file that it is given, in its graph or itself."""
    import MaterialX as mx

    definition, graph = node.getNodeDef(), node.getImplementation(TARGET)
    readers = [
        port
        for inner in (graph.getNodes() if isinstance(graph, mx.NodeGraph) else ())
        for port in inner.getInputs()
        if port.getInterfaceName() == name
    ]
    own = definition.getActiveInput(name) if definition is not None else None
    said = [port.getColorSpace() for port in (*readers, own) if port is not None]
    return next(filter(None, said), "")
