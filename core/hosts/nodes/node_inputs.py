"""What a graph needs while a network is read: inputs that are read when they are used, and a writer
into the document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.hosts.nodes.library import NodeType, Port
from verdigris.core.hosts.nodes.operands import SURFACE, NodeWriter, Operand

if TYPE_CHECKING:
    from verdigris.core.hosts.nodes.network import NetworkReader


def default_of(port: Port) -> Operand:
    """The value of an input that a node does not set."""
    return Operand(port.type, value=port.value)


class NodeInputs(dict[str, Operand]):
    """The inputs of a graph, read when they are needed."""

    def __init__(
        self,
        reader: NetworkReader,
        kind: NodeType,
        node: str,
        at: Operand | None,
        given: dict[str, Operand],
    ) -> None:
        super().__init__()
        self._reader, self._kind, self._node, self._at = reader, kind, node, at
        self._given = given
        self._found: dict[str, Operand | None] = {}

    def find(self, name: str) -> Operand | None:
        """What feeds an input. None for its default."""
        if name not in self._found:
            port = self._kind.inputs[name]
            operand = self._reader.read(self._kind, self._node, port, self._at, self._given)
            if operand is not None and port.attributes.get("unit") == "degree" and operand.node:
                operand = self._reader.in_degrees(operand)
            self._found[name] = operand and self._marked(port, operand)
        return self._found[name]

    def __missing__(self, name: str) -> Operand:
        port = self._kind.inputs[name]
        found = self.find(name) or self._reader.geometry(port)
        return found or self._marked(port, default_of(port))

    @staticmethod
    def _marked(port: Port, operand: Operand) -> Operand:
        """Keeps numbers that are no colour from conversions."""
        return replace(operand, space="none") if port.attributes.get("data") else operand

    def __contains__(self, name: object) -> bool:
        return name in self._kind.inputs

    def is_fed(self, name: str) -> bool:
        """Whether an input has a value: a surface or a normal may not be connected."""
        port = self._kind.inputs[name]
        return not (port.geometry or port.type == SURFACE) or self.find(name) is not None


class InlineWriter(NodeWriter):
    """Writes the nodes of a graph into the document, with names that begin with the node's."""

    def __init__(self, reader: NetworkReader, node: str) -> None:
        super().__init__(reader.root)
        self._reader, self._node = reader, node

    def add(
        self, category: str, kind: str, inputs: Mapping[str, Operand], name: str = ""
    ) -> Operand:
        reader = self._reader
        is_surface = kind in (SURFACE, "BSDF", "EDF")
        fit = reader.to_surface if is_surface else reader.to_rendering
        fitted = {port: fit(each) for port, each in inputs.items()}
        own = f"{self._node}_{'surface' if kind == SURFACE else name or category}"
        return reader.writer.add(category, kind, fitted, own)
