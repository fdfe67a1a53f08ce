"""Lengths and angles with a unit. MaterialX converts lengths to metres, so that a film with a
thickness of 400 nanometres vanishes, and refuses angles whose definition names no unit.

A length that feeds a film is converted to the film's unit here; MaterialX converts other lengths.
An angle is converted to the unit of its input, else of its definition, else to degrees. A value
without a unit has the unit of the node, even if it is mixed with values that have one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.graph.library import known_units, standard_library
from verdigris.core.material.graph.traversal import (
    all_inputs,
    all_nodes,
    definition_of,
    is_defined_here,
    own_graph,
    source_of,
    value_of,
)

if TYPE_CHECKING:
    import MaterialX as mx

_DISTANCE, _ANGLE = "distance", "angle"
_METRE = "meter"
_DEGREE, _TURN, _DEGREES_OF_A_TURN = "degree", "turn", 360.0
# Units of inputs whose definition names none.
_UNITS = {
    ("standard_surface", "thin_film_thickness"): "nanometer",
    ("open_pbr_surface", "thin_film_thickness"): "micron",
    ("gltf_pbr", "iridescence_thickness"): "nanometer",
    ("gltf_iridescence_thickness", "thicknessMin"): "nanometer",
    ("gltf_iridescence_thickness", "thicknessMax"): "nanometer",
    ("LamaIridescence", "minFilmThickness"): "nanometer",
    ("LamaIridescence", "maxFilmThickness"): "nanometer",
    ("standard_surface", "specular_rotation"): _TURN,
    ("standard_surface", "coat_rotation"): _TURN,
    ("LamaConductor", "anisotropyRotation"): _TURN,
    ("LamaDielectric", "rotation"): _TURN,
    ("LamaGeneralizedSchlick", "anisotropyRotation"): _TURN,
    ("LamaIridescence", "anisotropyRotation"): _TURN,
    ("colorcorrect", "hue"): _TURN,
    ("gltf_pbr", "anisotropy_rotation"): "radian",
    ("gltf_anisotropy_image", "anisotropy_rotation"): "radian",
    **{(category, "in"): "radian" for category in ("sin", "cos", "tan")},
}
# Inputs with the unit of the output: not masks, places, exponents or divisors.
_MEASURED = frozenset(
    {"value", "default", "in", "fg", "bg", "low", "high", "min", "max", "amplitude", "pivot"}
    | {f"in{number}" for number in range(1, 11)}
    | {"outlow", "outhigh", "outmin", "outmax"}
    | {f"value{side}" for side in ("l", "r", "t", "b", "tl", "tr", "bl", "br")}
)
_NOT_MEASURED = {("divide", "in2"), ("remap", "in"), ("range", "in")}
_OF_NO_MEASURE = {"smoothstep", "power", "exp", "ln", "sign", "sin", "cos", "tan"}


def convert_units(root: mx.Document) -> None:
    """Converts values to the unit of the input that they feed, and adds missing unit types."""
    ports = all_inputs(root)
    for port in ports:
        if port.hasUnit() and not port.hasUnitType():
            port.setUnitType(_kind_of(port.getUnit()))
    if not any(port.hasUnit() for port in ports):
        return
    nodes = all_nodes(root)
    pending = [each for node in nodes for each in _inputs_with_unit(node)]
    done: set[str] = set()
    while pending:
        port, unit = pending.pop()
        if port.getNamePath() in done:
            continue
        done.add(port.getNamePath())
        _convert(port, unit)
        # angles are converted to degrees by default
        if unit != _DEGREE:
            feed = _find_feed(port, unit)
            _connect_to_converted(feed)
            pending += [(given, unit) for given in _inputs_of_users(feed, nodes)]
    for node in all_nodes(root):
        if any(port.hasUnit() for port in node.getInputs()):
            _convert_rest(node)


def _kind_of(unit: str) -> str:
    """The unit type of a unit; empty if unknown."""
    if unit == _TURN:
        return _ANGLE
    return next((kind for kind, units in known_units().items() if unit in units), "")


@lru_cache(maxsize=1)
def _scales() -> dict[str, float]:
    """The scale of each unit, in the base unit of its type."""
    import MaterialX as mx

    scales = {_TURN: _DEGREES_OF_A_TURN}
    for kind in (_DISTANCE, _ANGLE):
        definition = standard_library().getUnitTypeDef(kind)
        scales.update(mx.LinearUnitConverter.create(definition).getUnitScale())
    return scales


def _inputs_with_unit(node: mx.Node) -> Iterator[tuple[mx.Input, str]]:
    """The inputs of a library node that use another unit than the scene, each with that unit."""
    if is_defined_here(node):
        return
    definition = node.getNodeDef()
    for port in node.getInputs():
        unit = _UNITS.get((node.getCategory(), port.getName())) or _defined_unit(definition, port)
        if unit:
            yield port, unit


def _convert_rest(node: mx.Node) -> None:
    """Converts angles, and lengths of nodes that the document defines: MaterialX does not convert a
    length with the unit of its definition."""
    definition, is_own = node.getNodeDef(), is_defined_here(node)
    for port in node.getInputs():
        if port.getUnitType() == _ANGLE:
            _convert(port, _defined_unit(definition, port) or _DEGREE)
        elif is_own:
            _convert(port, _METRE)


def _defined_unit(definition: mx.NodeDef | None, port: mx.Input) -> str:
    defined = definition.getActiveInput(port.getName()) if definition is not None else None
    return str(defined.getUnit()) if defined is not None else ""


def _has_unit_of(kind: str, port: mx.PortElement) -> bool:
    is_known = port.getUnit() in known_units().get(kind, ())
    return is_known and port.getUnitType() == kind and port.hasValueString()


def _convert(port: mx.Input, unit: str) -> None:
    """Converts a value to this unit. A value with an unknown unit stays, so that the checks refuse
    it by name."""
    kind = _kind_of(unit)
    if port.getUnitType() != kind or port.getUnit() not in known_units()[kind]:
        return
    value = value_of(port)
    if value is not None and not isinstance(value, str):
        scale = _scales()[port.getUnit()] / _scales()[unit]
        numbers = value.asTuple() if hasattr(value, "asTuple") else (value,)
        port.setValueString(", ".join(f"{number * scale:.9g}" for number in numbers))
    port.removeAttribute("unit")
    port.removeAttribute("unittype")


@dataclass
class _Feed:
    """The nodes that feed an input with lengths, or with angles."""

    start: mx.Input
    unit: str
    readers: dict[str, list[tuple[mx.PortElement, mx.Node]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """By the path of a node, the ports that read it, each with its node."""

    with_unit: list[mx.Node] = field(default_factory=list)
    """Nodes with a value that has a unit."""

    left_to_users: list[mx.Input] = field(default_factory=list)
    """Inputs that read a value from the node that uses the definition."""


def _find_feed(start: mx.Input, unit: str) -> _Feed:
    import MaterialX as mx

    feed = _Feed(start, unit)
    kind = _kind_of(unit)
    # each with the nodes whose definitions were entered
    stack: list[tuple[mx.PortElement, tuple[mx.Node, ...]]] = [(start, ())]
    seen: set[tuple[str, str]] = set()
    while stack:
        port, users = stack.pop()
        is_input = isinstance(port, mx.Input)
        reader = port.getParent() if is_input else users[-1]
        if is_input and _has_unit_of(kind, port):
            feed.with_unit.append(reader)
        if is_input and port.getInterfaceName() and port.getInterfaceInput() is None:
            given = users[-1].getInput(port.getInterfaceName()) if users else None
            if given is not None:
                stack.append((given, users[:-1]))
            elif not users:
                feed.left_to_users.append(port)
            continue
        node = source_of(port)
        if node is None:
            continue
        feed.readers[node.getNamePath()].append((port, reader))
        way = (users[-1].getNamePath() if users else "", node.getNamePath())
        if way not in seen:
            seen.add(way)
            graph = own_graph(node)
            if graph is None:
                stack += [(each, users) for each in _measured(node)]
            else:
                stack += [(each, (*users, node)) for each in graph.getOutputs()]
    return feed


def _measured(node: mx.Node) -> list[mx.Input]:
    category = node.getCategory()
    if category in _OF_NO_MEASURE:
        return []
    return [
        port
        for port in node.getInputs()
        if port.getName() in _MEASURED and (category, port.getName()) not in _NOT_MEASURED
    ]


def _connect_to_converted(feed: _Feed) -> None:
    """Copies the nodes that feed an input, with converted values. Other inputs, with other units,
    may read the originals."""
    carrying: dict[str, mx.Node] = {}
    pending = list(feed.with_unit)
    while pending:
        node = pending.pop()
        path = node.getNamePath()
        # a node that feeds itself stays, so that the checks refuse it
        if path not in carrying and path != feed.start.getParent().getNamePath():
            carrying[path] = node
            pending += [reader for _, reader in feed.readers[path]]
    own = next((node for node in carrying.values() if own_graph(node) is not None), None)
    if own is not None:
        raise DocumentError(_describe_conflict(feed, own))
    copies: dict[str, mx.Node] = {}
    for path, node in carrying.items():
        graph = node.getParent()
        name = graph.createValidChildName(f"{node.getName()}_in_{feed.unit}")
        copies[path] = graph.addNode(node.getCategory(), name, node.getType())
        copies[path].copyContentFrom(node)
        for port in _measured(copies[path]):
            _convert(port, feed.unit)
    for path, copy in copies.items():
        for port, reader in feed.readers[path]:
            copied = copies.get(reader.getNamePath())
            _connect(port if copied is None else copied.getInput(port.getName()), copy)


def _describe_conflict(feed: _Feed, node: mx.Node) -> str:
    start = feed.start
    return (
        f"node {start.getParent().getNamePath()!r}, input {start.getName()!r}: needs {feed.unit}s, "
        f"and reads values with a unit through {node.getNamePath()!r}, which the document defines: "
        f"write those values in {feed.unit}s, without a unit"
    )


def _connect(port: mx.PortElement, node: mx.Node) -> None:
    """Connects a port to a node in the scope of the node that it reads now."""
    given = port.getInterfaceInput()
    while given is not None:
        graph = given.getParent()
        own = graph.addInput(graph.createValidChildName(given.getName()), given.getType())
        own.copyContentFrom(given)
        port.setInterfaceName(own.getName())
        port, given = own, own.getInterfaceInput()
    output = port.getConnectedOutput() if not port.getNodeName() else None
    if output is not None and port.getNodeGraphString():
        graph = output.getParent()
        own = graph.addOutput(graph.createValidChildName(output.getName()), output.getType())
        own.copyContentFrom(output)
        port.setOutputString(own.getName())
        port = own
    elif output is not None:
        port.removeAttribute("output")
        if output.getOutputString():
            port.setOutputString(output.getOutputString())
    port.setNodeName(node.getName())


def _inputs_of_users(feed: _Feed, nodes: list[mx.Node]) -> Iterator[mx.Input]:
    """Inputs of nodes that use a definition, where the graph of the definition reads them."""
    for read in feed.left_to_users:
        definition = definition_of(read)
        for node in nodes if definition is not None else ():
            given = node.getInput(read.getInterfaceName())
            if given is not None and node.getNodeDef() is definition:
                yield given
