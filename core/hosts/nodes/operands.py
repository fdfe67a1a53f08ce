"""What feeds an input of a node, and the writer of nodes that are fed.

An operand is a value, an output of a node, or an input of the definition whose graph is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from xml.etree import ElementTree as xml

SURFACE = "surfaceshader"
COMPONENTS = {"float": 1, "vector2": 2, "vector3": 3, "color3": 3, "vector4": 4, "color4": 4}
"""The number of components of types of numbers."""


@dataclass(frozen=True)
class Operand:
    """What feeds an input. One of `value`, `node` and `interface` is given."""

    type: str
    value: str = ""
    node: str = ""
    output: str = ""
    """The output of a node with several."""

    interface: str = ""
    space: str = ""
    """The colour space of a value, or of what a node returns. Empty for the space in which the
    network computes."""

    @property
    def numbers(self) -> tuple[float, ...] | None:
        """The value, if it is one and consists of numbers."""
        if not self.value or self.type not in COMPONENTS:
            return None
        return tuple(float(each) for each in self.value.split(","))


def number(*values: float) -> Operand:
    """A number, a pair or a colour."""
    kind = {1: "float", 2: "vector2", 3: "color3", 4: "color4"}[len(values)]
    return Operand(kind, value=numbers_text(values))


def numbers_text(values: Sequence[float]) -> str:
    """Numbers as MaterialX writes them."""
    return ", ".join(f"{value:.9g}" for value in values)


def safe_name(name: str) -> str:
    """A name that MaterialX allows."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}"


class NodeWriter:
    """Writes nodes below an element: a document, or the graph of a definition."""

    def __init__(self, root: xml.Element) -> None:
        self.root = root
        self._names: set[str] = set()
        self._made: dict[object, Operand] = {}

    def free_name(self, name: str) -> str:
        """A name that no node has yet."""
        wanted = free = safe_name(name)
        count = 1
        while free in self._names:
            count += 1
            free = f"{wanted}_{count}"
        self._names.add(free)
        return free

    def add(
        self, category: str, kind: str, inputs: Mapping[str, Operand], name: str = ""
    ) -> Operand:
        """Adds a node, or finds an unnamed one with the same inputs. Returns its output."""
        key = category, kind, tuple(inputs.items())
        if not name and key in self._made:
            return self._made[key]
        free = self.free_name(name or category)
        node = xml.SubElement(self.root, category, name=free, type=kind)
        for port, operand in inputs.items():
            write_port(node, port, operand)
        made = Operand(kind, node=free)
        if not name:
            self._made[key] = made
        return made

    def convert(self, operand: Operand, kind: str) -> Operand:
        """The operand with another type."""
        if operand.type == kind:
            return operand
        numbers = operand.numbers
        if numbers is not None and kind in COMPONENTS:
            count = COMPONENTS[kind]
            values = numbers * count if len(numbers) == 1 else (numbers + (1.0,) * count)[:count]
            return Operand(kind, value=numbers_text(values), space=operand.space)
        made = self.add("convert", kind, {"in": operand})
        return replace(made, space=operand.space)


def write_port(node: xml.Element, name: str, operand: Operand, tag: str = "input") -> None:
    """Adds an input or an output with an operand."""
    port = xml.SubElement(node, tag, name=name, type=operand.type)
    if operand.interface:
        port.set("interfacename", operand.interface)
    elif operand.node:
        port.set("nodename", operand.node)
        if operand.output:
            port.set("output", operand.output)
    else:
        port.set("value", operand.value)
        if operand.space and operand.space != "none":
            port.set("colorspace", operand.space)
