"""Writes graphs of the library: into a document as nodes, or as a definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from xml.etree import ElementTree as xml

from verdigris.core.hosts.nodes.formulas import write_formula
from verdigris.core.hosts.nodes.library import Graph, NodeType, node_types
from verdigris.core.hosts.nodes.operands import NodeWriter, Operand, write_port


class GraphWriter:
    """Writes what an output of a graph needs, each part once."""

    def __init__(
        self,
        graph: Graph,
        inputs: Mapping[str, Operand],
        writer: NodeWriter,
        is_fed: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._parts = {each.get("name", ""): each for each in graph.element if each.tag != "output"}
        self._outputs = {each.get("name", ""): each for each in graph.element.findall("output")}
        self._inputs, self._writer, self._is_fed = inputs, writer, is_fed
        self._made: dict[str, Operand] = {}

    def output(self, name: str) -> Operand:
        element = self._outputs[name]
        return self._writer.convert(self._fed(element), element.get("type", "float"))

    def __getitem__(self, name: str) -> Operand:
        """A part or an input."""
        if name not in self._parts:
            return self._inputs[name]
        if name not in self._made:
            self._made[name] = self._part(name, self._parts[name])
        return self._made[name]

    def __contains__(self, name: str) -> bool:
        return name in self._parts or name in self._inputs

    def _part(self, name: str, element: xml.Element) -> Operand:
        if element.tag == "let":
            return self._fed(element)
        inputs = {}
        for port in element.findall("input"):
            kind = port.get("type", "float")
            needed = port.get("interfacename") or port.get("needs")
            if needed and not self._is_fed(needed):
                # a normal that is not connected
                continue
            operand = self._writer.convert(self._fed(port), kind)
            if port.get("data"):
                operand = replace(operand, space="none")
            inputs[port.get("name", "")] = operand
        return self._writer.add(element.tag, element.get("type", "float"), inputs, name)

    def _fed(self, element: xml.Element) -> Operand:
        formula, node = element.get("formula", ""), element.get("nodename", "")
        if formula:
            return write_formula(formula, self, self._writer)  # type: ignore[arg-type]
        if node:
            made = self[node]
            output = element.get("output", "")
            return (
                Operand(element.get("type", ""), node=made.node, output=output) if output else made
            )
        if element.get("interfacename", ""):
            return self._inputs[element.get("interfacename", "")]
        return Operand(element.get("type", "float"), value=element.get("value", ""))


def write_definition(root: xml.Element, kind: NodeType, graph: Graph) -> None:
    """Adds the definition of a graph, with those that it uses, unless it is there."""
    category = graph.category
    if root.find(f"nodedef[@node='{category}']") is not None:
        return
    outputs = {name: kind.outputs[name] for name in graph.outputs}
    ports = tuple(kind.inputs_of(graph))
    definition = xml.SubElement(
        root, "nodedef", name=f"ND_{category}", node=category, nodegroup="procedural"
    )
    for port in ports:
        element = xml.SubElement(definition, "input", name=port.name, type=port.type)
        if port.geometry:
            element.set("defaultgeomprop", port.geometry)
        else:
            element.set("value", port.value)
    for port in outputs.values():
        xml.SubElement(definition, "output", name=port.name, type=port.type)
    body = xml.SubElement(root, "nodegraph", name=f"NG_{category}", nodedef=f"ND_{category}")
    given = {port.name: Operand(port.type, interface=port.name) for port in ports}
    writer = GraphWriter(graph, given, NodeWriter(body))
    for name in outputs:
        operand = writer.output(name)
        if not operand.node:
            # an output of a graph needs a node
            operand = NodeWriter(body).add("dot", operand.type, {"in": operand}, f"{name}_value")
        write_port(body, name, operand, "output")
    for element in graph.element:
        inner = node_types().get(element.tag)
        if inner is not None:
            write_definition(root, inner, inner.graphs[0])
