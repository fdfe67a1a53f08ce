"""Graphs within graphs, and outputs that only hand an input on: the generator passes over both, so
what they stand for is put in their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from verdigris.core.material.normalise.graph_inputs import (
    SAID_OF_A_VALUE,
    graphs_that_implement,
    own_graphs,
)

if TYPE_CHECKING:
    import MaterialX as mx

_SOURCE = ("nodename", "nodegraph", "output", "interfacename")
_VALUE = ("value", *SAID_OF_A_VALUE)
_INHERITED = ("colorspace", "fileprefix")


def take_compounds_apart(root: mx.Document) -> None:
    """Puts the nodes of inner graphs into the outermost, and connects inputs to what gives them
    their values."""
    for graph in own_graphs(root):
        _lift_inner_graphs(graph)
    implementing = graphs_that_implement(root)
    for graph in own_graphs(root):
        if graph.getName() in implementing:
            _hand_on_by_nodes(graph)
        else:
            _connect_past_outputs(graph, root)


def _hand_on_by_nodes(graph: mx.NodeGraph) -> None:
    """Puts nodes where the graph of a definition hands an input on, which its users have."""
    for output in graph.getOutputs():
        name = output.getInterfaceName()
        if name and not output.getNodeName():
            node = graph.addNode("dot", graph.createValidChildName(name), output.getType())
            node.addInput("in", output.getType()).setInterfaceName(name)
            output.removeAttribute("interfacename")
            output.setNodeName(node.getName())


def _lift_inner_graphs(outer: mx.NodeGraph) -> None:
    for inner in own_graphs(outer):
        _lift_inner_graphs(inner)
    for inner in own_graphs(outer):
        _connect_past_outputs(inner, outer)
    for inner in own_graphs(outer):
        _lift_nodes(inner, outer)


def _connect_past_outputs(graph: mx.NodeGraph, outer: mx.GraphElement) -> None:
    """Leads those that are connected to an output that hands an input on to that input's source."""
    handed_on = {
        output.getName(): graph.getInput(output.getInterfaceName())
        for output in graph.getOutputs()
        if output.getInterfaceName() and graph.getInput(output.getInterfaceName()) is not None
    }
    for port in _ports(outer):
        if handed_on and port.getNodeGraphString() == graph.getName():
            source = handed_on.get(_output_of(port, graph))
            # a graph that feeds itself is left for the checks to refuse
            if source is not None and source.getNamePath() != port.getNamePath():
                copy_source(source, port)


def _lift_nodes(inner: mx.NodeGraph, outer: mx.NodeGraph) -> None:
    names = {}
    for node in inner.getNodes():
        name = outer.createValidChildName(f"{inner.getName()}_{node.getName()}")
        names[node.getName()] = name
        lifted = outer.addNode(node.getCategory(), name, node.getType())
        lifted.copyContentFrom(node)
        for attribute in _INHERITED:
            if inner.hasAttribute(attribute) and not lifted.hasAttribute(attribute):
                lifted.setAttribute(attribute, inner.getAttribute(attribute))
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
    """Gives a port the value or the connection of another, or none."""
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
    """What may be connected to the graphs of a graph or document."""
    for child in (*outer.getNodes(), *own_graphs(outer)):
        yield from child.getInputs()
    yield from outer.getOutputs()
