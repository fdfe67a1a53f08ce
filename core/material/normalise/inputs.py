"""Inputs of nodes and graphs in the form that MaterialX's generator reads.

The generator reads unit and colour space where a value is used, not at the graph input that holds
it. So values are copied to where they are used, and each copy notes the published input that it
comes from. Those notes are attributes of our own, which MaterialX ignores. They also serve what a
material of USD publishes, such as a promoted parameter: MaterialX has inputs of graphs, but none of
a material.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import TARGET
from verdigris.core.material.graph.traversal import (
    all_inputs,
    all_nodes,
    defined_input,
    defined_inputs,
    free_graphs,
    own_definitions,
)

if TYPE_CHECKING:
    import MaterialX as mx

PUBLISHED = "publishedas"
"""Attribute of a node's input: the name of the published input that has its value."""
PUBLISHED_LABEL = "publishedlabel"
"""Attribute of a node's input: the published input's name for people."""
VALUE_ATTRIBUTES = ("colorspace", "unit", "unittype", "fileprefix")
_COLOUR_TYPES = ("color3", "color4", "filename")
_READER, _FALLBACK, _BLACK = "UsdUVTexture", "fallback", "black"
_COLOUR_CHANNELS = dict(zip("xyzw", "rgba", strict=True))
_VECTOR_CHANNELS = {colour: vector for vector, colour in _COLOUR_CHANNELS.items()}


def copy_inherited_inputs(root: mx.Document) -> None:
    """Copies inherited inputs into nodes: the generator reads only a node's own inputs."""
    for node in root.getNodes():
        for port in node.getActiveInputs() if node.hasInheritString() else ():
            if node.getInput(port.getName()) is None:
                node.addInput(port.getName(), port.getType()).copyContentFrom(port)


def border_black(root: mx.Document) -> None:
    """Removes the fallback of USD textures with a black border.

    In USD the fallback replaces a file that cannot be read. MaterialX's graph returns the fallback
    outside of the image.
    """
    for node in all_nodes(root):
        if node.getCategory() == _READER and _value(node, "file"):
            is_black = _BLACK in (_value(node, "wrapS"), _value(node, "wrapT"))
            if is_black and node.getInput(_FALLBACK) is not None:
                node.removeInput(_FALLBACK)


def _value(node: mx.Node, name: str) -> str:
    """The value of an input, or of the graph input that it reads."""
    port = node.getInput(name)
    return str((port.getInterfaceInput() or port).getValueString()) if port is not None else ""


def rename_channel_outputs(root: mx.Document) -> None:
    """Renames outputs of `separate` nodes to fit the type of their input.

    Swizzles may use x, y, z for a colour, or r, g, b for a vector. MaterialX 1.39.5 replaces
    swizzles and keeps those letters, but a colour has the outputs r, g and b only.
    """
    import MaterialX as mx

    for port in root.traverseTree():
        source = port.getConnectedNode() if isinstance(port, mx.Input | mx.Output) else None
        if source is None or not source.getCategory().startswith("separate"):
            continue
        separated = source.getInput("in")
        is_colour = separated is not None and separated.getType().startswith("color")
        letters = _COLOUR_CHANNELS if is_colour else _VECTOR_CHANNELS
        letter = port.getOutputString().removeprefix("out")
        if letter in letters:
            port.setOutputString(f"out{letters[letter]}")


def remove_values_beside_interfaces(root: mx.Document) -> None:
    """Removes the value of an input that reads a graph input.

    Programs leave the old value when an input is published. Outside of definitions, the generator
    would use the old value.
    """
    for port in all_inputs(root):
        if port.hasInterfaceName() and not port.getNodeName():
            port.removeAttribute("value")


def inline_graph_inputs(root: mx.Document) -> None:
    """Copies values with a unit or a colour space to the inputs that use them.

    Values of graph inputs are copied into the graph. Each copy notes its graph input, so that all
    copies can stay open together. If defaults of the document's own definitions are colours,
    lengths, angles or files, they are copied into the nodes that use the definition.
    """
    graphs = free_graphs(root)
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
    defined = {definition.getNodeString() for definition in own_definitions(root)}
    for node in all_nodes(root) if defined else ():
        if node.getCategory().rpartition(":")[2] in defined:
            _copy_defaults(node)


def _inline(port: mx.Input) -> mx.Input | None:
    """Copies the value of the graph input that a port reads, if it has a unit or a colour space.
    Returns that graph input."""
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
    for port in defined_inputs(node):
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
    """The colour space of a file input, from the definition's graph or from the definition."""
    import MaterialX as mx

    graph = node.getImplementation(TARGET)
    readers = [
        port
        for inner in (graph.getNodes() if isinstance(graph, mx.NodeGraph) else ())
        for port in inner.getInputs()
        if port.getInterfaceName() == name
    ]
    ports = (*readers, defined_input(node, name))
    spaces = [port.getColorSpace() for port in ports if port is not None]
    return next(filter(None, spaces), "")
