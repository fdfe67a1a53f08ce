"""Converts values and connections with another type than their input, if the meaning is plain.

Applications convert such types silently, and write documents that rely on it. MaterialX finds no
definition for a node with such an input, or generates code that does not compile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import COMPONENTS
from verdigris.core.material.graph.traversal import all_nodes, definition_of, output_type, value_of
from verdigris.core.material.normalise.inputs import VALUE_ATTRIBUTES

if TYPE_CHECKING:
    import MaterialX as mx

SINGLE = ("boolean", "integer", "float")
_SEVERAL = tuple(kind for kind, width in COMPONENTS.items() if width > 1)
# Conversions for which MaterialX has a node. A single number becomes all components; a colour gets
# an opaque alpha.
_PLAIN = frozenset(
    {("integer", "float"), ("boolean", "float")}
    | {(single, several) for single in SINGLE for several in _SEVERAL}
    | {("color3", "vector3"), ("vector3", "color3"), ("color4", "vector4"), ("vector4", "color4")}
    | {("color3", "color4"), ("color4", "color3")}
)
# Programs may append an f to a number.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?f?")
# Inputs that change nothing that a bake keeps: the spread of light inside a body, and dispersion.
_WITHOUT_EFFECT = (
    *("subsurface_radius", "subsurface_radius_scale", "subsurface_scale", "radius"),
    *("subsurface_anisotropy", "subsurface_scatter_anisotropy", "transmission_scatter_anisotropy"),
    *("transmission_dispersion", "transmission_dispersion_scale", "dispersion"),
    "transmission_dispersion_abbe_number",
)
_TRUTH = {"1": "true", "0": "false", "True": "true", "False": "false"}
_NUMBER_OF = {"true": "1", "false": "0"}
_OPAQUE = "1"
# Colour spaces in which numbers keep their value.
_LINEAR = ("", "none", "lin_rec709")
_SOURCE = ("value", "nodename", "nodegraph", "output", "interfacename", *VALUE_ATTRIBUTES)
# An attribute of inputs and outputs in documents up to version 1.38.
CHANNELS = "channels"


@dataclass(frozen=True)
class Conversion:
    """A value or connection that was converted."""

    place: str
    """The path of the node, graph or definition."""
    what: str


def convert_types(root: mx.Document) -> list[Conversion]:
    """Converts what has another type than its input or output, and returns descriptions."""
    import MaterialX as mx

    made: list[Conversion] = []
    for node in all_nodes(root):
        _take_closest_definition(node, made)
    for element in list(root.traverseTree()):
        if isinstance(element, mx.Input) and _complete_value(element, made):
            continue
        if isinstance(element, mx.Input | mx.Output):
            _convert_source(element, made)
    return made


def _take_closest_definition(node: mx.Node, made: list[Conversion]) -> None:
    """Gives inputs the types of the definition that needs the fewest conversions."""
    definition = node.getNodeDef() or _find_closest_definition(node)
    if definition is None:
        return
    for port in node.getInputs():
        expected = definition.getActiveInput(port.getName())
        if expected is None or port.getType() == expected.getType():
            continue
        if (port.getType(), expected.getType()) in _PLAIN:
            _retype(port, port.getType(), expected.getType(), made)
        elif port.getName() in _WITHOUT_EFFECT:
            what = f"{port.getNamePath()}: a {port.getType()} for a {expected.getType()}, left out"
            made.append(Conversion(_place(port), f"{what} because a bake does not use it"))
            node.removeInput(port.getName())


def _retype(port: mx.Input, given: str, wanted: str, made: list[Conversion]) -> None:
    if _is_fed(port) or not port.hasValueString():
        # converted later, by the type of the source
        port.removeAttribute("value")
        port.setType(wanted)
        return
    text = _converted_text(port.getValueString(), given, wanted)
    if text is not None and _means_the_same(port, given, wanted):
        port.setType(wanted)
        port.setValueString(text)
    else:
        _insert_convert(port, given, wanted)
    made.append(_conversion(port, given, wanted))


def _find_closest_definition(node: mx.Node) -> mx.NodeDef | None:
    """The definition that needs the fewest conversions; the first of several."""
    root = node.getDocument()
    named = node.getNodeDefString()
    best, fewest = None, 0
    for definition in root.getMatchingNodeDefs(node.getQualifiedName(node.getCategory())):
        if definition.getType() != node.getType() or (named and named != definition.getName()):
            continue
        differing = _differing_inputs(node, definition)
        if differing is not None and (best is None or differing < fewest):
            best, fewest = definition, differing
    return best


def _differing_inputs(node: mx.Node, definition: mx.NodeDef) -> int | None:
    """The number of inputs to convert; None if one is unknown or cannot be converted."""
    count = 0
    for port in node.getInputs():
        expected = definition.getActiveInput(port.getName())
        if expected is None:
            return None
        if expected.getType() != port.getType():
            is_plain = (port.getType(), expected.getType()) in _PLAIN
            if not is_plain and port.getName() not in _WITHOUT_EFFECT:
                return None
            count += 1
    return count


def _complete_value(port: mx.Input, made: list[Conversion]) -> bool:
    """Rewrites a value whose number of components differs from that of its type. Returns whether it
    did."""
    text, kind = port.getValueString(), port.getType()
    if not text or _is_fed(port) or (value_of(port) is not None and kind in _SEVERAL):
        return False
    written = _TRUTH.get(text.strip()) if kind == "boolean" else None
    if written is None and kind in COMPONENTS:
        written = _converted_text(text, kind, kind)
    if written is None or written == text:
        return False
    port.setValueString(written)
    made.append(
        Conversion(_place(port), f"{port.getNamePath()}: the value {text!r} to {written!r}")
    )
    return True


def _convert_source(port: mx.PortElement, made: list[Conversion]) -> None:
    """Inserts a node between an input or output and a source of another type."""
    given, wanted = _find_given_type(port), port.getType()
    if (given, wanted) not in _PLAIN or port.getAttribute(CHANNELS):
        return
    if _is_converted_by_code(port, given, wanted):
        return
    _insert_convert(port, given, wanted)
    made.append(_conversion(port, given, wanted))


def _is_converted_by_code(port: mx.PortElement, given: str, wanted: str) -> bool:
    """Whether generated code converts, or has one type for both."""
    is_single = given in SINGLE and wanted in SINGLE
    if _is_output(port):
        return is_single or given.replace("color", "vector") == wanted.replace("color", "vector")
    return is_single and _is_interface(port)


def _find_given_type(port: mx.PortElement) -> str:
    """The type of a port's source; empty if there is none or its type is unknown."""
    if _is_interface(port):
        given = port.getInterfaceInput()
        if given is None:
            definition = definition_of(port)
            given = definition and definition.getActiveInput(port.getInterfaceName())
        return str(given.getType()) if given is not None else ""
    output = port.getConnectedOutput() if not _is_output(port) else None
    if output is not None and not port.getNodeName():
        return str(output.getType())
    source = port.getConnectedNode()
    return output_type(source, port.getOutputString()) if source is not None else ""


def _insert_convert(port: mx.PortElement, given: str, wanted: str) -> None:
    """Moves the source of a port behind a convert node."""
    holder = port.getParent()
    # the new node lies beside the node or graph of an input, and inside the graph of an output
    container = holder if _is_output(port) else holder.getParent()
    name = container.createValidChildName(f"{holder.getName()}_{port.getName()}_converted")
    node = container.addNode("convert", name, wanted)
    inner = node.addInput("in", given)
    for attribute in _SOURCE:
        if port.hasAttribute(attribute):
            inner.setAttribute(attribute, port.getAttribute(attribute))
            port.removeAttribute(attribute)
    port.setType(wanted)
    port.setNodeName(name)


def _converted_text(text: str, given: str, wanted: str) -> str | None:
    """The text of a value in another type; None if the type cannot have it."""
    if given == "boolean":
        text = _NUMBER_OF.get(text.strip(), text)
    words = [word.strip() for word in text.split(",")]
    if wanted not in COMPONENTS or not all(NUMBER.fullmatch(word) for word in words):
        return None
    width = COMPONENTS[wanted]
    if len(words) == 1:
        words = words * width
    elif (len(words), wanted) == (4, "color3"):
        words = words[:3]
    elif (len(words), wanted) == (3, "color4"):
        words = [*words, _OPAQUE]
    return ", ".join(words) if len(words) == width else None


def _means_the_same(port: mx.Input, given: str, wanted: str) -> bool:
    """Whether a value means the same in both types: no colour space makes them differ."""
    both_colours = given.startswith("color") and wanted.startswith("color")
    is_coloured = given.startswith("color") or wanted.startswith("color")
    return both_colours or not is_coloured or port.getActiveColorSpace() in _LINEAR


def _is_fed(port: mx.Input) -> bool:
    names = (port.getNodeName(), port.getNodeGraphString(), port.getInterfaceName())
    return any(names) or bool(port.getOutputString())


def _is_interface(port: mx.PortElement) -> bool:
    return not _is_output(port) and bool(port.getInterfaceName())


def _is_output(port: mx.PortElement) -> bool:
    return str(port.getCategory()) == "output"


def _conversion(port: mx.PortElement, given: str, wanted: str) -> Conversion:
    return Conversion(_place(port), f"{port.getNamePath()}: {given} to {wanted}")


def _place(port: mx.PortElement) -> str:
    return str(port.getParent().getNamePath())
