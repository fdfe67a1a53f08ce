"""Reads a network of an application's nodes as MaterialX: one loop over nodes, attributes and
connections. The library says what each node computes; an adapter gives access to the scene.

Colours are computed in the rendering space of the application, as it does. Files are converted to
it from their own space, and colours to that of MaterialX where they enter a surface.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree as xml

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.nodes.displacement import (
    DISPLACEMENT,
    HostDisplacement,
    write_displacement,
)
from verdigris.core.hosts.nodes.graphs import GraphWriter, write_definition
from verdigris.core.hosts.nodes.host_nodes import (
    HostNodes,
    constant,
    element_path,
    is_same,
    text_of,
)
from verdigris.core.hosts.nodes.library import Graph, NodeType, Port, find_type, node_types
from verdigris.core.hosts.nodes.node_inputs import InlineWriter, NodeInputs, default_of
from verdigris.core.hosts.nodes.operands import COMPONENTS, SURFACE, NodeWriter, Operand, number
from verdigris.core.hosts.nodes.rendering_space import RenderingSpace
from verdigris.core.hosts.nodes.selection import choose_graph, serves

_DEGREES = 57.29577951308232
_WORLD = {"space": Operand("string", value="world")}
_GEOMETRY: dict[str, tuple[str, dict[str, Operand]]] = {
    "UV0": ("texcoord", {}),
    "Nworld": ("normal", _WORLD),
    "Tworld": ("tangent", _WORLD),
}
# What a step of a fold sees of other elements.
_NEIGHBOURS = {"": 0, "previous_": -1, "before_": -2, "next_": 1}
_AS_TEXTURE = "convert it to a file texture, or replace it"


@dataclass(frozen=True)
class NetworkDocument:
    """What was read."""

    text: str
    material: str
    notes: tuple[str, ...]
    untranslated: tuple[str, ...]
    """The nodes that were replaced by a value."""


def read_network(
    host: HostNodes,
    shader: str,
    material: str,
    space: RenderingSpace,
    displaced: HostDisplacement | None = None,
) -> NetworkDocument:
    """The document of a surface shader, and of what displaces it. `material` names it."""
    reader = NetworkReader(host, space)
    name = reader.writer.free_name(material)
    surface = reader.surface(shader)
    node = xml.SubElement(reader.root, "surfacematerial", name=name, type="material")
    xml.SubElement(node, "input", name=SURFACE, type=SURFACE, nodename=surface.node)
    if displaced and (made := write_displacement(reader, displaced, f"{name}_displacement")):
        xml.SubElement(node, "input", name=DISPLACEMENT, type=DISPLACEMENT, nodename=made)
    # definitions last, so that the nodes of the artist come first
    for kind, graph in reader.used.values():
        write_definition(reader.root, kind, graph)
    space.add_definitions(reader.root)
    xml.indent(reader.root)
    text = '<?xml version="1.0"?>\n' + xml.tostring(reader.root, encoding="unicode") + "\n"
    return NetworkDocument(
        text, name, tuple(dict.fromkeys(reader.notes)), tuple(dict.fromkeys(reader.untranslated))
    )


class NetworkReader:
    """Writes the nodes of a network below `root`."""

    def __init__(self, host: HostNodes, space: RenderingSpace) -> None:
        self._host, self._space = host, space
        self.root = xml.Element("materialx", version="1.39")
        self.writer = NodeWriter(self.root)
        self.notes: list[str] = []
        self.untranslated: list[str] = []
        self.used: dict[str, tuple[NodeType, Graph]] = {}
        self._made: dict[object, Operand] = {}
        self._open: dict[str, None] = {}

    def surface(self, shader: str) -> Operand:
        found = self.output(shader, "outColor", None)
        if found is None or found.type != SURFACE:
            kind = self._host.kind(shader)
            raise HostError(
                f"{shader}: its type {kind!r} is not a surface that can be read: use Standard "
                "Surface or OpenPBR"
            )
        return found

    def output(self, node: str, output: str, at: Operand | None) -> Operand | None:
        """An output of a node. None if it cannot be translated."""
        kind = find_type(self._host.kind(node))
        if kind is None:
            return None
        if output not in kind.outputs:
            parent = self._host.parent(node, output)
            if parent not in kind.outputs:
                return None
            whole = self.output(node, parent, at)
            if whole is None or whole.type == SURFACE:
                return None
            index = list(self._host.children(node, parent)).index(output)
            return self._component(whole, index, output)
        if node in self._open:
            ring = " -> ".join([*self._open, node])
            raise HostError(f"{node}: the network has a cycle: {ring}: remove a connection")
        self._open[node] = None
        try:
            return self._compute(kind, node, output, at, {}, node)
        finally:
            del self._open[node]

    def _component(self, whole: Operand, index: int, name: str) -> Operand:
        key = "component", whole, index
        if key not in self._made:
            whole_there = self.to_rendering(whole)
            port = {"in": whole_there, "index": Operand("integer", value=str(index))}
            name = f"{whole.node}_{name}"
            self._made[key] = self.writer.add("extract", "float", port, name)
        return self._made[key]

    def _compute(
        self,
        kind: NodeType,
        node: str,
        output: str,
        at: Operand | None,
        given: dict[str, Operand],
        name: str,
    ) -> Operand | None:
        """What a definition computes from a node, and from operands that replace attributes."""
        graph = choose_graph(self._host, kind, node, output, given)
        if graph is None:
            return None
        key = graph.category, node, at, tuple(given.items()), output if graph.is_inline else ""
        if key in self._made:
            return replace(self._made[key], **self._output_of(graph, kind, output))
        self._note_differences(kind, graph, node, given)
        inputs = NodeInputs(self, kind, node, at, given)
        if graph.is_inline:
            writer = GraphWriter(graph, inputs, InlineWriter(self, node), inputs.is_fed)
            self._made[key] = writer.output(output)
            return self._made[key]
        operands = {}
        for port in kind.inputs_of(graph):
            operand = inputs.find(port.name)
            if operand is not None:
                operands[port.name] = self.to_rendering(operand)
        self.used[graph.category] = kind, graph
        node_type = self._type_of(graph, kind)
        self._made[key] = self.writer.add(graph.category, node_type, operands, name)
        return replace(self._made[key], **self._output_of(graph, kind, output))

    @staticmethod
    def _type_of(graph: Graph, kind: NodeType) -> str:
        outputs = graph.outputs
        return kind.outputs[outputs[0]].type if len(outputs) == 1 else "multioutput"

    @staticmethod
    def _output_of(graph: Graph, kind: NodeType, output: str) -> dict[str, str]:
        if graph.is_inline:
            return {}
        several = len(graph.outputs) > 1
        return {"type": kind.outputs[output].type, "output": output if several else ""}

    # inputs

    def read(
        self, kind: NodeType, node: str, port: Port, at: Operand | None, given: dict[str, Operand]
    ) -> Operand | None:
        """What feeds an input of a definition. None for its default."""
        if port.name in given:
            return given[port.name]
        marks = port.attributes
        if "step" in marks:
            return self._fold(kind, node, port, at)
        if "from" in marks:
            if marks["from"] in ("image", "alpha"):
                return self._image(kind, node, marks["from"], at)
            return self._helper(marks["from"], node, at, given)
        if "at" in marks:
            at = self._helper(marks["at"], node, at, given)
        return self.attribute(node, port.reads, port, at)

    def _helper(
        self, category: str, node: str, at: Operand | None, given: dict[str, Operand]
    ) -> Operand | None:
        kind = node_types()[category]
        output = next(iter(kind.outputs))
        return self._compute(kind, node, output, at, given, f"{node}_{category.rpartition('_')[2]}")

    def attribute(
        self, node: str, attribute: str, port: Port, at: Operand | None
    ) -> Operand | None:
        """What feeds an attribute. None for the default of `port`."""
        is_fixed = port.attributes.get("fixed") == "true"
        source = None if is_fixed else self._host.source(node, attribute)
        if source is not None:
            wanted = port.attributes.get("output", source[1])
            operand = self.output(source[0], wanted, at)
            if operand is not None and (fitted := self._fit(operand, port)) is not None:
                return fitted
            self._note_lost(source[0], node, attribute, port)
        elif not is_fixed and (parts := self._connected_parts(node, attribute)):
            if COMPONENTS.get(port.type) == len(self._host.children(node, attribute)):
                return self._combine(node, attribute, port, at)
            self._note_lost(parts[0], node, attribute, port)
        if port.geometry or port.type == SURFACE:
            return at if port.geometry == "UV0" else None
        value = self._host.value(node, attribute)
        if value is None or is_same(value, port.value):
            return None
        return constant(value, port.type)

    def _connected_parts(self, node: str, attribute: str) -> list[str]:
        """The nodes that feed components of an attribute."""
        children = self._host.children(node, attribute)
        sources = (self._host.source(node, child) for child in children)
        return [source[0] for source in sources if source is not None]

    def _combine(self, node: str, attribute: str, port: Port, at: Operand | None) -> Operand | None:
        """An attribute with connected components."""
        children = self._host.children(node, attribute)
        single = Port("", "float", "nan", attributes=port.attributes)
        parts = [self.attribute(node, child, single, at) for child in children]
        ports = {f"in{place + 1}": each or number(0) for place, each in enumerate(parts)}
        name = f"{node}_{attribute}"
        return self.writer.add(f"combine{len(parts)}", port.type, ports, name)

    def _fold(self, kind: NodeType, node: str, port: Port, at: Operand | None) -> Operand | None:
        """An array, element by element. None for an empty one."""
        marks = port.attributes
        array, step = marks.get("array", port.name), node_types()[marks["step"]]
        order, children = marks.get("order", "index"), _pairs(marks["children"])
        count = int(marks.get("count", 0))
        numbered = range(1, count + 1) if count else self._host.indices(node, array)
        indices = sorted(numbered, reverse=order == "-index")
        if not order.endswith("index"):
            indices.sort(key=lambda index: self._number(node, element_path(array, index, order)))
        common: dict[str, Operand] = {}
        for name, own in _pairs(marks.get("with", "")).items():
            operand = self.read(kind, node, kind.inputs[own], at, {})
            common[name] = operand or default_of(kind.inputs[own])
        elements = [
            {
                name: self.attribute(node, element_path(array, index, child), step.inputs[name], at)
                or default_of(step.inputs[name])
                for name, child in children.items()
            }
            for index in indices
        ]
        elements = [each for each in elements if all(map(_is_whole, each.values()))]
        so_far: Operand | None = None
        for place, index in enumerate(indices[: len(elements)]):
            if not place and marks.get("start"):
                so_far = elements[0][marks["start"]]
                continue
            given = dict(common)
            for word, away in _NEIGHBOURS.items():
                near = _neighbour(elements, place, away)
                given |= {f"{word}{name}": each for name, each in near.items()}
            if so_far is not None:
                given["so_far"] = so_far
            name = f"{node}_{array}_{index}"
            so_far = self._compute(step, node, next(iter(step.outputs)), at, given, name)
        return so_far

    def _number(self, node: str, attribute: str) -> float:
        value = self._host.value(node, attribute)
        return float(value) if isinstance(value, (int, float)) else 0.0

    def _image(self, kind: NodeType, node: str, part: str, at: Operand | None) -> Operand:
        """The texels of a file, or their alpha."""
        key = "image", node, part, at
        if key not in self._made:
            image = self._host.image(node)
            if not image.file:
                return self._without_file(kind, node, part)
            file = Operand("filename", value=Path(image.file).as_posix(), space=image.space)
            inputs = {"file": file}
            uv = self.read(kind, node, kind.inputs["uvCoord"], at, {})
            if uv is not None and uv != self._made.get(("geometry", "texcoord")):
                inputs["texcoord"] = uv
            type_of = "color3" if part == "image" else "color4"
            name = node if part == "image" else f"{node}_rgba"
            made = self.writer.add("image", type_of, inputs, name)
            made = replace(made, space=self._space.of_file(image.space))
            if part == "alpha":
                port = {"in": made, "index": Operand("integer", value="3")}
                made = self.writer.add("extract", "float", port, f"{node}_alpha")
            self._made[key] = made
        return self._made[key]

    def _without_file(self, kind: NodeType, node: str, part: str) -> Operand:
        """What a texture without a file shows."""
        self.notes.append(f"{node} has no file: its default colour is used: choose a file")
        if part == "alpha":
            return number(0)
        port = kind.inputs["defaultColor"]
        value = self._host.value(node, port.reads)
        return (None if value is None else constant(value, port.type)) or default_of(port)

    def _fit(self, operand: Operand, port: Port) -> Operand | None:
        """The operand with the type of an input. None if it has no such type."""
        is_surface = SURFACE in (operand.type, port.type)
        if is_surface or operand.type == port.type:
            return operand if operand.type == port.type else None
        if port.type in ("boolean", "integer", "string", "filename"):
            return None
        if port.type == "float":
            return self._component(operand, 0, "x")
        key = "convert", operand, port.type
        if key not in self._made:
            name = f"{operand.node}_{port.type}"
            there = self.to_rendering(operand)
            self._made[key] = self.writer.add("convert", port.type, {"in": there}, name)
        return self._made[key]

    def geometry(self, port: Port) -> Operand | None:
        """What an input reads of the surface if nothing is connected."""
        if port.geometry not in _GEOMETRY:
            return None
        category, inputs = _GEOMETRY[port.geometry]
        key = "geometry", category
        if key not in self._made:
            self._made[key] = self.writer.add(category, port.type, inputs)
        return self._made[key]

    # colours

    def to_rendering(self, operand: Operand) -> Operand:
        """A colour of a file in the rendering space."""
        if not operand.space or operand.type != "color3" or operand.value:
            return operand
        key = "rendering", operand
        if key not in self._made:
            self._made[key] = self._space.from_file(operand, self.writer)
        return self._made[key]

    def to_surface(self, operand: Operand) -> Operand:
        """A colour of the rendering space in that of MaterialX."""
        if operand.type != "color3" or operand.space or not self._space.needs_conversion:
            return operand
        key = "surface", operand
        if key not in self._made:
            self._made[key] = self._space.to_materialx(operand, self.writer)
        return self._made[key]

    def in_degrees(self, operand: Operand) -> Operand:
        """A connected angle, which is in radians."""
        return self.writer.add("multiply", "float", {"in1": operand, "in2": number(_DEGREES)})

    # notes

    def _note_differences(
        self, kind: NodeType, graph: Graph, node: str, given: dict[str, Operand]
    ) -> None:
        found = [graph.note] if graph.note else []
        for conditions, text in kind.notes:
            if not conditions or not serves(self._host, kind, node, conditions, given):
                found.append(text)
        self.notes += [f"{node} ({self._host.kind(node)}): {each}" for each in found]

    def _note_lost(self, lost: str, node: str, attribute: str, port: Port) -> None:
        kind = self._host.kind(lost)
        value = self._host.value(node, attribute)
        used = f"the value {text_of(value)} is used" if value is not None else "it is left out"
        if port.geometry or port.type == SURFACE:
            used = "it is left out"
        what = f"feeds {attribute} of {node}"
        if self._host.is_animation(kind):
            self.notes.append(f"{lost} ({kind}) {what}: {used}, that of this frame")
            return
        self.note_untranslated(lost, what, used)

    def note_untranslated(self, node: str, what: str, used: str) -> None:
        """A note on a node that has no translation, and on what is used instead."""
        self.untranslated.append(node)
        kind = self._host.kind(node)
        self.notes.append(f"{node} ({kind}) {what} and is not translated: {used}: {_AS_TEXTURE}")


def _pairs(text: str) -> dict[str, str]:
    """`at:at_r value` as `{"at": "at_r", "value": "value"}`."""
    found = (each.partition(":") for each in text.split())
    return {name: other or name for name, _, other in found}


def _neighbour(elements: list[dict[str, Operand]], place: int, away: int) -> dict[str, Operand]:
    """The element that is `away` from another. Beyond an end, the last one continues as far away as
    the one before it."""
    wanted = place + away
    end = min(max(wanted, 0), len(elements) - 1)
    found = dict(elements[end])
    inner = elements[min(max(2 * end - wanted, 0), len(elements) - 1)]
    at, from_ = found.get("position"), inner.get("position")
    if wanted != end and at and from_ and at.numbers and from_.numbers:
        found["position"] = number(2 * at.numbers[0] - from_.numbers[0])
    return found


def _is_whole(operand: Operand) -> bool:
    """Whether an operand is more than the missing default of a surface."""
    return operand.type != SURFACE or bool(operand.node)
