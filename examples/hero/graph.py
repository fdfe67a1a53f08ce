"""Writes a node graph of MaterialX: `graph.node(category, type, name, input=value)`."""

from __future__ import annotations

from dataclasses import dataclass

import MaterialX as mx

_COLOURED = ("color3", "BSDF")
_VECTORS = {2: "vector2", 3: "vector3"}


@dataclass(frozen=True)
class Port:
    """An output of a node."""

    node: str
    type: str
    output: str = ""


Value = Port | float | int | str | tuple[float, ...]


class Graph:
    def __init__(self, document: mx.Document, name: str) -> None:
        self.graph = document.addNodeGraph(name)

    def node(self, category: str, type: str, name: str, /, **inputs: Value) -> Port:
        """Adds a node. A tuple of three is a colour on nodes of colours, else a vector."""
        made = self.graph.addNode(category, name, type)
        for key, value in inputs.items():
            self._set(made, key, value)
        return Port(name, type)

    def _set(self, node: mx.Node, key: str, value: Value) -> None:
        if isinstance(value, Port):
            target = node.addInput(key, value.type)
            target.setNodeName(value.node)
            if value.output:
                target.setOutputString(value.output)
        elif isinstance(value, int):
            node.addInput(key, "integer").setValueString(str(value))
        elif isinstance(value, str):
            node.addInput(key, "filename").setValueString(value)
        elif isinstance(value, tuple):
            is_colour = len(value) == 3 and node.getType() in _COLOURED
            target = node.addInput(key, "color3" if is_colour else _VECTORS[len(value)])
            target.setValueString(_text(value))
        else:
            node.addInput(key, "float").setValueString(f"{value:g}")

    def set_color(self, name: str, key: str, color: tuple[float, ...]) -> None:
        """A colour of a node of several outputs."""
        self.graph.getNode(name).addInput(key, "color3").setValueString(_text(color))

    def image(self, type: str, name: str, file: str, tiling: float = 1.0) -> Port:
        category = "tiledimage" if tiling != 1.0 else "image"
        options = {"uvtiling": (tiling, tiling)} if tiling != 1.0 else {}
        port = self.node(category, type, name, file=file, **options)
        if type == "color3":
            self.graph.getNode(name).getInput("file").setColorSpace("srgb_texture")
        return port

    def split(self, name: str, vector: Port) -> tuple[Port, Port, Port]:
        self.node("separate3", "multioutput", name, **{"in": vector})
        x, y, z = (Port(name, "float", f"out{axis}") for axis in "xyz")
        return x, y, z

    def note(self, port: Port, text: str) -> Port:
        """Describes a node for readers of the document."""
        self.graph.getNode(port.node).setDocString(text)
        return port

    def add(self, name: str, a: Port, b: Value) -> Port:
        return self.node("add", a.type, name, in1=a, in2=b)

    def multiply(self, name: str, a: Port, b: Value) -> Port:
        return self.node("multiply", a.type, name, in1=a, in2=b)

    def largest(self, name: str, a: Port, b: Port) -> Port:
        return self.node("max", a.type, name, in1=a, in2=b)

    def step(self, name: str, value: Port, low: float, high: float) -> Port:
        return self.node("smoothstep", "float", name, **{"in": value}, low=low, high=high)

    def clamp(self, name: str, value: Port, low: float, high: float) -> Port:
        return self.node("clamp", "float", name, **{"in": value}, low=low, high=high)

    def invert(self, name: str, value: Port) -> Port:
        return self.node("invert", "float", name, **{"in": value})

    def remap(self, name: str, value: Port, low: float, high: float, **limits: float) -> Port:
        inputs: dict[str, Value] = {"in": value, **limits, "outlow": low, "outhigh": high}
        return self.node("remap", "float", name, **inputs)

    def over(self, name: str, top: Port, base: Port) -> Port:
        return self.node("layer", "BSDF", name, top=top, base=base)

    def mix(self, name: str, top: Port, base: Port, mask: Value) -> Port:
        return self.node("mix", "BSDF", name, fg=top, bg=base, mix=mask)


def _text(values: tuple[float, ...]) -> str:
    return ", ".join(f"{each:g}" for each in values)
