"""Graphs of the document in the form that MaterialX's generator expects.

It ignores graphs inside graphs, and outputs that only return a graph input. It finds no surface
inside a definition of a whole material, and confuses a definition's graph with its code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import TARGET, standard_library
from verdigris.core.material.graph.traversal import (
    implementing_graphs,
    own_definitions,
    own_graphs,
    own_implementations,
)
from verdigris.core.material.normalise.inputs import VALUE_ATTRIBUTES
from verdigris.core.material.normalise.names import free_name

if TYPE_CHECKING:
    import MaterialX as mx

_MATERIAL, _SURFACE, _PORT = "material", "surfaceshader", "surfaceshader"
_SOURCE = ("nodename", "nodegraph", "output", "interfacename")
_VALUE = ("value", *VALUE_ATTRIBUTES)
_INHERITED = ("colorspace", "fileprefix")


def remove_code_beside_graphs(root: mx.Document) -> None:
    """Removes shader code of definitions that also have a graph: MaterialX uses whichever comes
    first in the document."""
    own = own_implementations(root)
    with_graph = {graph.getNodeDefString() for graph in own_graphs(root) if not graph.getTarget()}
    with_graph |= {each.getNodeDefString() for each in own if each.getNodeGraph()}
    for each in own:
        if each.getNodeDefString() in with_graph and not each.getNodeGraph():
            root.removeChild(each.getName())


def unwrap_material_definitions(root: mx.Document) -> None:
    """Turns definitions of whole materials into definitions of surfaces.

    To find a surface, the generator searches the nodes that are connected to a material, but not
    their graphs. So the material is moved out of the definition, behind each node that uses it.
    """
    for definition in own_definitions(root):
        if definition.getType() != _MATERIAL or not _remove_material(definition):
            continue
        for node in root.getNodes(definition.getNodeString()):
            if node.getType() == _MATERIAL:
                _add_material_behind(node, root)


def _remove_material(definition: mx.NodeDef) -> bool:
    """Removes the material from the graph of a definition. Returns whether there was one."""
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


def flatten_nested_graphs(root: mx.Document) -> None:
    """Moves nodes of inner graphs into the outermost graph, and connects inputs past outputs that
    only return a graph input."""
    for graph in own_graphs(root):
        _flatten(graph)
    implementing = implementing_graphs(root)
    for graph in own_graphs(root):
        if graph.getName() in implementing:
            _return_inputs_by_nodes(graph)
        else:
            _connect_past_outputs(graph, root)


def _return_inputs_by_nodes(graph: mx.NodeGraph) -> None:
    """Adds a `dot` where the graph of a definition returns an input: the nodes that use the
    definition have the value."""
    for output in graph.getOutputs():
        name = output.getInterfaceName()
        if name and not output.getNodeName():
            node = graph.addNode("dot", graph.createValidChildName(name), output.getType())
            node.addInput("in", output.getType()).setInterfaceName(name)
            output.removeAttribute("interfacename")
            output.setNodeName(node.getName())


def _flatten(outer: mx.NodeGraph) -> None:
    for inner in own_graphs(outer):
        _flatten(inner)
    for inner in own_graphs(outer):
        _connect_past_outputs(inner, outer)
    for inner in own_graphs(outer):
        _move_nodes_out(inner, outer)


def _connect_past_outputs(graph: mx.NodeGraph, outer: mx.GraphElement) -> None:
    """Connects inputs past outputs that only return a graph input, to the source of that input."""
    returned = {
        output.getName(): graph.getInput(output.getInterfaceName())
        for output in graph.getOutputs()
        if output.getInterfaceName() and graph.getInput(output.getInterfaceName()) is not None
    }
    for port in _ports(outer) if returned else ():
        if port.getNodeGraphString() == graph.getName():
            source = returned.get(_output_of(port, graph))
            # a graph that feeds itself stays, so that the checks refuse it
            if source is not None and source.getNamePath() != port.getNamePath():
                copy_source(source, port)


def _move_nodes_out(inner: mx.NodeGraph, outer: mx.NodeGraph) -> None:
    names = {}
    for node in inner.getNodes():
        name = outer.createValidChildName(f"{inner.getName()}_{node.getName()}")
        names[node.getName()] = name
        moved = outer.addNode(node.getCategory(), name, node.getType())
        moved.copyContentFrom(node)
        for attribute in _INHERITED:
            if inner.hasAttribute(attribute) and not moved.hasAttribute(attribute):
                moved.setAttribute(attribute, inner.getAttribute(attribute))
    for name in names.values():
        for port in outer.getNode(name).getInputs():
            given = inner.getInput(port.getInterfaceName()) if port.getInterfaceName() else None
            if given is not None:
                copy_source(given, port)
            elif port.getNodeName():
                port.setNodeName(names.get(port.getNodeName(), port.getNodeName()))
    for port in _ports(outer):
        output = None
        if port.getNodeGraphString() == inner.getName():
            output = inner.getOutput(_output_of(port, inner))
        if output is not None and output.getNodeName() in names:
            copy_source(output, port)
            port.setNodeName(names[output.getNodeName()])
    outer.removeChild(inner.getName())


def copy_source(source: mx.PortElement | None, port: mx.PortElement) -> None:
    """Copies value and connection of one port to another; without a source, removes them."""
    for attribute in _SOURCE:
        port.removeAttribute(attribute)
    if source is None:
        return
    for attribute in filter(source.hasAttribute, (*_SOURCE, *_VALUE)):
        port.setAttribute(attribute, source.getAttribute(attribute))


def _output_of(port: mx.PortElement, graph: mx.NodeGraph) -> str:
    outputs = graph.getOutputs()
    return port.getOutputString() or (outputs[0].getName() if outputs else "")


def _ports(outer: mx.GraphElement) -> Iterator[mx.PortElement]:
    """Ports that may be connected to the graphs of a graph or document."""
    for child in (*outer.getNodes(), *own_graphs(outer)):
        yield from child.getInputs()
    yield from outer.getOutputs()
