"""Values of graph inputs. The generator reads unit and colour space where a value is used, not at
the graph input that holds them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import TARGET
from verdigris.core.material.graph.published_attributes import PUBLISHED, PUBLISHED_LABEL
from verdigris.core.material.graph.traversal import implementing_graphs, own_graphs

if TYPE_CHECKING:
    import MaterialX as mx

VALUE_ATTRIBUTES = ("colorspace", "unit", "unittype", "fileprefix")
_COLOUR_TYPES = ("color3", "color4", "filename")


def remove_values_beside_interfaces(root: mx.Document) -> None:
    """Removes the value of an input that reads a graph input.

    Programs leave the old value when an input is published. Outside of definitions, the generator
    would use it.
    """
    import MaterialX as mx

    for port in root.traverseTree():
        if isinstance(port, mx.Input) and port.hasInterfaceName() and not port.getNodeName():
            port.removeAttribute("value")


def inline_graph_inputs(root: mx.Document) -> None:
    """Copies values with a unit or a colour space to the inputs that use them.

    Values of graph inputs are copied into the graph; each copy notes whose value it has, so that
    all of them can stay open together. Defaults of the document's own definitions that are
    colours, lengths, angles or files are copied into the nodes that use the definition.
    """
    import MaterialX as mx

    implementing = implementing_graphs(root)
    graphs = [graph for graph in own_graphs(root) if graph.getName() not in implementing]
    names = Counter(given.getName() for graph in graphs for given in graph.getInputs())
    for graph in graphs:
        inlined: dict[str, mx.Input] = {}
        for node in graph.getNodes():
            for port in node.getInputs():
                given = _inline(port)
                if given is not None:
                    inlined[given.getName()] = given
                    is_alone = names[given.getName()] == 1
                    shown = given.getName() if is_alone else given.getNamePath()
                    port.setAttribute(PUBLISHED, shown)
                    port.setAttribute(PUBLISHED_LABEL, given.getAttribute("uiname"))
        for name in inlined:
            graph.removeInput(name)
    definitions = (child for child in root.getChildren() if isinstance(child, mx.NodeDef))
    defined = {definition.getNodeString() for definition in definitions}
    for node in root.traverseTree() if defined else ():
        if node.getCategory().rpartition(":")[2] in defined:
            _copy_defaults(node)


def _inline(port: mx.Input) -> mx.Input | None:
    """The graph input whose value has been copied."""
    given = port.getInterfaceInput()
    if given is None or not given.hasValueString() or given.getConnectedOutput():
        return None
    if given.getConnectedNode() or not any(map(given.hasAttribute, VALUE_ATTRIBUTES)):
        return None
    port.removeAttribute("interfacename")
    port.setValueString(given.getValueString())
    for name in filter(given.hasAttribute, VALUE_ATTRIBUTES):
        port.setAttribute(name, given.getAttribute(name))
    return given


def _copy_defaults(node: mx.Node) -> None:
    definition = node.getNodeDef()
    for port in definition.getActiveInputs() if definition is not None else ():
        is_open = port.hasValueString() and node.getInput(port.getName()) is None
        if is_open and (_is_coloured(port) or port.getType() == "filename" or port.hasUnit()):
            copied = node.addInput(port.getName(), port.getType())
            for name in filter(port.hasAttribute, ("value", *VALUE_ATTRIBUTES)):
                copied.setAttribute(name, port.getAttribute(name))
            if _is_coloured(port):
                copied.setColorSpace(port.getActiveColorSpace())
            if port.getType() == "filename" and port.getActiveFilePrefix():
                copied.setFilePrefix(port.getActiveFilePrefix())
    for port in node.getInputs():
        is_file = port.getType() == "filename" and not port.hasColorSpace()
        space = _space_of_definition(node, port.getName()) if is_file else ""
        if space:
            port.setColorSpace(space)


def _is_coloured(port: mx.Input) -> bool:
    return port.getType() in _COLOUR_TYPES and bool(port.getActiveColorSpace())


def _space_of_definition(node: mx.Node, name: str) -> str:
    """The colour space of a file input, from the graph of the definition or the definition."""
    import MaterialX as mx

    definition, graph = node.getNodeDef(), node.getImplementation(TARGET)
    readers = [
        port
        for inner in (graph.getNodes() if isinstance(graph, mx.NodeGraph) else ())
        for port in inner.getInputs()
        if port.getInterfaceName() == name
    ]
    own = definition.getActiveInput(name) if definition is not None else None
    spaces = [port.getColorSpace() for port in (*readers, own) if port is not None]
    return next(filter(None, spaces), "")
