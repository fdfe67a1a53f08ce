"""The document of the rung: the surface shader with images, constants and nothing else.

The same document, with numbers of each sample in the place of images, is what a fit evaluates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdigris.core.material.codegen.texel_values import texel_property

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.ladder.surface_shader.inputs import TexturedInput

_GRAPH, _SURFACE = "textures", "surface"
_DECODE = "srgb_texture_to_lin_rec709"


@dataclass(frozen=True)
class Constant:
    """An input that is the same everywhere."""

    name: str
    kind: str
    value: str
    colour_space: str = ""
    unit: tuple[str, str] = ("", "")
    """Its type and its name."""


@dataclass(frozen=True)
class SurfaceShader:
    """A surface shader with its inputs."""

    category: str
    name: str
    """Of the material."""
    inputs: tuple[TexturedInput, ...]
    constants: tuple[Constant, ...] = ()

    @property
    def channels(self) -> int:
        return sum(each.channels for each in self.inputs)

    @property
    def firsts(self) -> dict[str, int]:
        """The first channel of each input."""
        found, first = {}, 0
        for each in self.inputs:
            found[each.name] = first
            first += each.channels
        return found

    def bits(self, is_chosen: Callable[[TexturedInput], bool]) -> int:
        """A bit for each channel of the inputs that are chosen."""
        return sum(
            1 << self.firsts[each.name] + channel
            for each in self.inputs
            if is_chosen(each)
            for channel in range(each.channels)
        )

    def write(self, files: Mapping[str, str] | None = None) -> str:
        """The document as text: with images of these files by the name of an input, or reading
        numbers of each sample."""
        import MaterialX as mx

        root = mx.createDocument()
        root.setColorSpace("lin_rec709")
        graph = root.addNodeGraph(_GRAPH)
        surface = root.addNode(self.category, _SURFACE, "surfaceshader")
        for constant in self.constants:
            _set_constant(surface.addInput(constant.name, constant.kind), constant)
        for each in self.inputs:
            if files is None:
                node = _add_reader(graph, each, self.firsts[each.name])
            else:
                node = _add_image(graph, each, files[each.name])
            node = _add_decoding(graph, each, node)
            output = graph.addOutput(f"{each.name}_out", each.kind)
            output.setNodeName(node.getName())
            port = surface.addInput(each.name, each.kind)
            port.setNodeGraphString(_GRAPH)
            port.setOutputString(output.getName())
        material = root.addNode("surfacematerial", mx.createValidName(self.name), "material")
        material.addInput("surfaceshader", "surfaceshader").setNodeName(_SURFACE)
        if not self.inputs:
            root.removeNodeGraph(_GRAPH)
        return str(mx.writeToXmlString(root))


def constants_of(surface: mx.Node, left_out: Sequence[str] = ()) -> tuple[Constant, ...]:
    """The inputs of a surface that have a value."""
    found = []
    for port in surface.getInputs():
        value = port.getResolvedValueString()
        if not value or port.getName() in left_out:
            continue
        space = port.getActiveColorSpace() if port.getType() == "color3" else ""
        unit = port.getUnitType(), port.getUnit()
        found.append(Constant(port.getName(), port.getType(), value, space, unit))
    return tuple(found)


def constant_of(each: TexturedInput, value: Sequence[float]) -> Constant:
    """An input that turned out to be the same everywhere."""
    text = ", ".join(f"{number:.6g}" for number in value)
    return Constant(each.name, each.kind, text)


def _set_constant(port: mx.Input, constant: Constant) -> None:
    port.setValueString(constant.value)
    if constant.colour_space:
        port.setColorSpace(constant.colour_space)
    if all(constant.unit):
        port.setUnitType(constant.unit[0])
        port.setUnit(constant.unit[1])


def _add_image(graph: mx.NodeGraph, each: TexturedInput, file: str) -> mx.Node:
    node = graph.addNode("image", each.name, each.kind)
    port = node.addInput("file", "filename")
    port.setValueString(file)
    if each.is_colour:
        port.setColorSpace("srgb_texture")
    return node


def _add_reader(graph: mx.NodeGraph, each: TexturedInput, first: int) -> mx.Node:
    node = graph.addNode("geompropvalue", each.name, each.kind)
    node.setInputValue("geomprop", texel_property(first), "string")
    return _feed(graph, _DECODE, node, each) if each.is_colour else node


def _add_decoding(graph: mx.NodeGraph, each: TexturedInput, node: mx.Node) -> mx.Node:
    if each.is_direction:
        return _feed(graph, "normalmap", node, each)
    if each.high - each.low != 1:
        node = _feed(graph, "multiply", node, each, each.high - each.low)
    if each.low != 0:
        node = _feed(graph, "add", node, each, each.low)
    return node


def _feed(
    graph: mx.NodeGraph, category: str, source: mx.Node, each: TexturedInput,
    number: float | None = None,
) -> mx.Node:  # fmt: skip
    """A node behind another one."""
    node = graph.addNode(category, f"{each.name}_{category}", each.kind)
    port = node.addInput("in" if number is None else "in1", each.kind)
    port.setNodeName(source.getName())
    if number is not None:
        # of colours, one number for all three
        node.addInput("in2", "float").setValue(number)
    return node
