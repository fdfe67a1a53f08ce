"""Finds and describes faults of nodes that MaterialX's own validation misses."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import TARGET, known_units
from verdigris.core.material.graph.traversal import (
    definition_of,
    is_connected,
    is_of_document,
    output_type,
    own_graph,
    source_of,
    value_of,
)
from verdigris.core.material.normalise.dropped_nodes import DISABLE
from verdigris.core.material.normalise.heights import COPIED_FROM
from verdigris.core.material.normalise.type_conversions import CHANNELS, NUMBER, SINGLE
from verdigris.core.material.shader.expand import is_node_source, is_shader

if TYPE_CHECKING:
    import MaterialX as mx

_WHOLE_NUMBER = re.compile(r"[+-]?\d+(\.0*)?")
# Nodes whose index becomes part of the code: a component, or the end of a name.
_INDEXED = ("extract", "texcoord", "tangent", "bitangent", "geomcolor")
_VALUE_FORMATS = {
    "boolean": "true or false",
    "integer": "one whole number",
    "float": "one number",
    "vector2": "2 numbers separated by a comma",
    **{f"{kind}3": "3 numbers separated by commas" for kind in ("vector", "color")},
    **{f"{kind}4": "4 numbers separated by commas" for kind in ("vector", "color")},
    "matrix33": "9 numbers separated by commas",
    "matrix44": "16 numbers separated by commas",
}
_CANNOT_BE_DISABLED = (
    "the input 'disable' must be 'true' or 'false', on a node whose definition names a "
    "replacement: remove it"
)
_CLOSURES = frozenset(
    {"BSDF", "EDF", "VDF", "material"}
    | {f"{kind}shader" for kind in ("surface", "displacement", "volume", "light")}
)
# (source type, input type) -> the node that converts
_CONVERTERS = {
    ("BSDF", "surfaceshader"): "surface",
    ("EDF", "surfaceshader"): "surface",
    ("VDF", "volumeshader"): "volume",
    ("surfaceshader", "material"): "surfacematerial",
    ("float", "displacementshader"): "displacement",
    ("vector3", "displacementshader"): "displacement",
    ("color3", "EDF"): "uniform_edf",
    ("color3", "BSDF"): "oren_nayar_diffuse_bsdf",
    **{
        (kind, "surfaceshader"): "convert"
        for kind in (*SINGLE, "vector2", "vector3", "vector4", "color3", "color4")
    },
}
_ADDED = "float"
# Nodes that pass on surface shaders, which must be lit for the generator.
_LIT_ONLY = ("mix", "dot")
# Shaders that are dropped before code is generated.
_DROPPED = ("displacementshader", "volumeshader")


def find_fault(node: mx.Node) -> str | None:
    """The first fault of a node, or None."""
    definition = node.getNodeDef()
    if definition is None:
        return _missing_definition(node)
    for port in node.getInputs():
        fault = _fault_of(port) or _fault_of_given(port)
        fault = fault or _unknown_choice(port, definition) or _index_of_nothing(port, definition)
        if not fault and port.getName() == DISABLE and not definition.getActiveInput(DISABLE):
            fault = _CANNOT_BE_DISABLED
        if fault:
            where = f"node {node.getNamePath()!r}, input {port.getName()!r}"
            return f"{port.getAttribute(COPIED_FROM) or where}: {fault}"
    for port in definition.getActiveInputs() if is_of_document(definition, node) else ():
        fault = _of_struct(port) or _unreadable(port) or _unknown_unit(port)
        if fault and node.getInput(port.getName()) is None:
            where = f"its definition {definition.getName()!r}, input {port.getName()!r}"
            return f"node {node.getNamePath()!r}: {where}: {fault}"
    return _without_code(node) or _undefined_output(node)


def _fault_of(port: mx.Input) -> str | None:
    checks = (_dangling, _of_struct, _mistyped, _unlit, _unreadable, _unknown_unit)
    return next((fault for check in checks if (fault := check(port))), None)


def _of_struct(port: mx.Input) -> str | None:
    definition = port.getDocument().getTypeDef(port.getType())
    if definition is None or not definition.getMembers():
        return None
    return (
        f"has the type {port.getType()}, a struct, which is not supported: use an input for each "
        "member"
    )


def _unlit(port: mx.Input) -> str | None:
    if port.getType() != "surfaceshader" or port.getParent().getCategory() not in _LIT_ONLY:
        return None
    source = source_of(port)
    if source is None or source.getCategory() != "surface_unlit":
        return None
    return (
        f"is connected to {source.getName()!r}, an unlit surface, which MaterialX cannot mix: use "
        "a surface with an EDF and a BSDF with weight 0"
    )


def _fault_of_given(port: mx.Input) -> str | None:
    """The fault of the input of a graph or definition that an input reads: the generator would use
    a default instead."""
    given = port.getInterfaceInput()
    if given is not None:
        fault = _fault_of(given)
        if fault:
            return f"reads the input {given.getNamePath()!r}: {fault}"
    elif port.getInterfaceName() and (definition := definition_of(port)) is not None:
        given = definition.getActiveInput(port.getInterfaceName())
    kinds = {port.getType(), given.getType()} if given is not None else set()
    if given is None or len(kinds) == 1 or kinds.issubset(SINGLE):
        return None
    return (
        f"has the type {port.getType()} and reads the input {given.getName()!r} of the type "
        f"{given.getType()}: insert a convert node"
    )


def _without_code(node: mx.Node) -> str | None:
    path, category = node.getNamePath(), node.getCategory()
    file = _file_of_code(node)
    if file:
        return (
            f"node {path!r} is implemented by the file {file!r}, which is not supported: "
            "implement it with a graph of nodes, or with code in Slang (.slang) or GLSL (.glsl)"
        )
    if node.getType() in _DROPPED or node.getImplementation(TARGET) is not None:
        return None
    if is_of_document(node.getNodeDef(), node):
        return f"node {path!r}: the document defines {category!r} without a graph: add one"
    return (
        f"node {path!r} is of the kind {category!r} and type {node.getType()!r}, for which "
        "MaterialX has no code: remove or replace it"
    )


def _undefined_output(node: mx.Node) -> str | None:
    graph = own_graph(node)
    if graph is not None and not graph.getOutputs():
        return f"node {node.getNamePath()!r} is defined by {graph.getName()!r}, which has no output"
    for output in graph.getOutputs() if graph is not None else ():
        fault = _without_source(output)
        if not fault and (wrong := _mistyped_output(output)):
            fault = f"{output.getNamePath()!r}, which {wrong}"
        if fault:
            return f"node {node.getNamePath()!r} is defined by the output {fault}"
    return None


def _file_of_code(node: mx.Node) -> str:
    """The file of shader code with which the document itself implements a node."""
    import MaterialX as mx

    found = node.getImplementation(TARGET)
    is_own = isinstance(found, mx.Implementation) and is_of_document(found, node)
    is_surface = node.getType() == "surfaceshader"
    if is_own and (is_shader(found.getFile()) if is_surface else is_node_source(found)):
        return ""
    return str(found.getFile()) if is_own else ""


def _missing_definition(node: mx.Node) -> str:
    category, path = node.getCategory(), node.getNamePath()
    for port in node.getInputs():
        # the only type of inputs of added nodes
        if port.hasAttribute(COPIED_FROM) and port.getType() != _ADDED:
            where = port.getAttribute(COPIED_FROM)
            return f"{where}: has the type {port.getType()}: it must be {_ADDED}"
    known = node.getDocument().getMatchingNodeDefs(node.getQualifiedName(category))
    if not known:
        return (
            f"node {path!r} is of the kind {category!r}, which no library defines: "
            "it may come from a plug-in of the application that wrote the document; include its "
            "definition, or replace the node with one of MaterialX"
        )
    wanted = f"node {path!r} of the kind {category!r} and type {node.getType()!r}"
    same_type = [definition for definition in known if definition.getType() == node.getType()]
    if not same_type:
        types = ", ".join(sorted({definition.getType() for definition in known}))
        return f"{wanted} has no definition: {category!r} exists for the types {types}"
    return f"{wanted} fits no definition: {_closest_difference(node, same_type)}"


def _closest_difference(node: mx.Node, definitions: list[mx.NodeDef]) -> str:
    def differences(definition: mx.NodeDef) -> list[str]:
        found = []
        for port in node.getInputs():
            expected = definition.getActiveInput(port.getName())
            if expected is None and port.getName() == DISABLE:
                found.append(_CANNOT_BE_DISABLED)
            elif expected is None:
                found.append(f"it has no input {port.getName()!r}{_suggestion(port, definition)}")
            elif not port.getType():
                found.append(
                    f"its input {port.getName()!r} has no type: write {expected.getType()}"
                )
            elif expected.getType() != port.getType():
                found.append(
                    f"its input {port.getName()!r} must have the type {expected.getType()}, not "
                    f"{port.getType()}"
                )
        return found

    closest = min((differences(definition) for definition in definitions), key=len)
    if closest:
        return closest[0]
    version, known = node.getVersionString(), {each.getVersionString() for each in definitions}
    if version and version not in known:
        given = ", ".join(sorted(filter(None, known)))
        return f"there is no version {version!r} of it{given and f': use {given}, or none'}"
    named = node.getNodeDefString()
    if named and named not in {each.getName() for each in definitions}:
        given = ", ".join(sorted(each.getName() for each in definitions)[:4])
        return f"its nodedef {named!r} does not exist for it: use {given}, or remove it"
    return "check its version and target"


def _suggestion(port: mx.Input, definition: mx.NodeDef) -> str:
    names = [other.getName() for other in definition.getActiveInputs()]
    close = difflib.get_close_matches(port.getName(), names, n=1)
    return f"; did you mean {close[0]!r}?" if close else f" (but {', '.join(sorted(names)[:12])} …)"


def _dangling(port: mx.Input) -> str | None:
    wanted = port.getNodeName() or port.getNodeGraphString()
    if wanted:
        if port.getConnectedNode() is None and port.getConnectedOutput() is None:
            return _missing_output(port) or f"is connected to {wanted!r}, which does not exist"
        return _leads_nowhere(port)
    if port.getOutputString() and port.getConnectedOutput() is None:
        return f"is connected to the output {port.getOutputString()!r}, which does not exist"
    name = port.getInterfaceName()
    if name and port.getInterfaceInput() is None and not _is_defined(port, name):
        return f"reads the interface input {name!r}, which does not exist{_lost_definition(port)}"
    return None


def _lost_definition(port: mx.Input) -> str:
    """Why a graph that names a definition has no inputs; empty if it names none."""
    graph = port.getParent().getParent()
    named = graph.getAttribute("nodedef")
    if not named or graph.getDocument().getNodeDef(named) is not None:
        return ""
    return f": its graph implements {named!r}, which is not a definition of the document"


def _missing_output(port: mx.Input) -> str | None:
    """The fault of an output whose graph exists."""
    graph = port.getDocument().getNodeGraph(port.getNodeGraphString())
    if graph is None:
        return None
    name, names = port.getOutputString(), [output.getName() for output in graph.getOutputs()]
    fault = "which is not an output" if graph.getChild(name) else "which does not exist"
    return (
        f"is connected to {name!r} of the graph {graph.getName()!r}, {fault}: "
        f"its outputs are {', '.join(names) or 'none'}"
    )


def _leads_nowhere(port: mx.Input) -> str | None:
    """The fault of a graph output without a source: the generator would use the default of the
    input."""
    output = port.getConnectedOutput()
    fault = _without_source(output) if output is not None and not port.getNodeName() else None
    return f"is connected to the output {fault}" if fault else None


def _without_source(output: mx.Output) -> str | None:
    if output.getConnectedNode() is not None:
        return None
    wanted = output.getNodeName()
    source = f"the node {wanted!r}, which does not exist" if wanted else "no node of its graph"
    return f"{output.getNamePath()!r}, which is connected to {source}"


def _is_defined(port: mx.Input, name: str) -> bool:
    definition = definition_of(port)
    return definition is not None and definition.getActiveInput(name) is not None


def _mistyped(port: mx.Input) -> str | None:
    """The fault of a connection between types. The generator accepts it, and then the shader does
    not compile."""
    source, output = port.getConnectedNode(), port.getConnectedOutput()
    if output is not None:
        wrong = _mistyped_output(output)
        if wrong:
            return f"is connected to the output {output.getNamePath()!r}, which {wrong}"
        given = output.getType()
    elif source is None:
        return None
    else:
        # the graph input that a port reads names the output
        given = output_type(source, (port.getInterfaceInput() or port).getOutputString())
        if not given and source.getNodeDef() is not None:
            names = ", ".join(each.getName() for each in source.getNodeDef().getActiveOutputs())
            return f"is connected to {source.getName()!r} and names none of its outputs: {names}"
    return _difference(port, given) if given not in ("", port.getType()) else None


def _mistyped_output(output: mx.Output) -> str | None:
    source = output.getConnectedNode()
    given = output_type(source, output.getOutputString()) if source is not None else ""
    kinds = {given, output.getType()}
    # in the code, colours and vectors have the same type, and single numbers are converted
    shapes = {kind.replace("color", "vector") for kind in kinds}
    fits = not given or len(shapes) == 1 or kinds.issubset(SINGLE)
    return None if fits else _difference(output, given)


def _difference(port: mx.PortElement, given: str) -> str:
    what = f"has the type {port.getType()} and is connected to {given}"
    channels = port.getAttribute(CHANNELS)
    if channels:
        return (
            f"{what}: channels {channels!r} are supported up to version 1.38, so insert an extract "
            "or combine node"
        )
    if not {given, port.getType()} & _CLOSURES:
        return f"{what}: insert a convert node"
    converter = _CONVERTERS.get((given, port.getType()))
    return f"{what}: " + (
        f"insert a {converter} node"
        if converter
        else f"connect a node with the type {port.getType()}"
    )


def _unreadable(port: mx.Input) -> str | None:
    text = port.getValueString()
    if not text or port.getType() not in _VALUE_FORMATS:
        return None
    if value_of(port) is None:
        how = _VALUE_FORMATS[port.getType()]
        return f"the value {text!r} does not have the type {port.getType()}: write {how}"
    # MaterialX reads only the part before the comma
    if port.getType() in ("float", "integer") and "," in text:
        return f"the value {text!r} is not one number: write decimals with a point"
    number = _WHOLE_NUMBER if port.getType() == "integer" else NUMBER
    odd = [word for word in text.replace(",", " ").split() if not number.fullmatch(word)]
    if odd and port.getType() != "boolean":
        what = "whole number" if number is _WHOLE_NUMBER else "number"
        kind = port.getType()
        return f"the value {text!r} does not have the type {kind}: {odd[0]!r} is not a {what}"
    return None


def _unknown_unit(port: mx.Input) -> str | None:
    """The fault of a unit. The generator refuses it too, but does not name the node."""
    unit, kind = port.getUnit(), port.getUnitType()
    known = known_units()
    if not unit or unit in known.get(kind, ()):
        return None
    if kind not in known:
        what = "has no unittype" if not kind else f"has the unittype {kind!r}"
        return f"the unit {unit!r} {what}: use one of {', '.join(known)}"
    return f"the unit {unit!r} is not a unit of {kind}: use one of {', '.join(known[kind])}"


def _unknown_choice(port: mx.Input, definition: mx.NodeDef) -> str | None:
    """The fault of a choice. The generator refuses it too, but does not name the node."""
    defined = definition.getActiveInput(port.getName())
    text = (port.getInterfaceInput() or port).getValueString()
    if port.getType() != "string" or not defined or not defined.hasAttribute("enum"):
        return None
    if port.getConnectedNode() or port.getConnectedOutput():
        return "is connected, but must be a value, because code depends on it: write a value"
    if not text:
        return None
    choices = [choice.strip() for choice in defined.getAttribute("enum").split(",")]
    return None if text in choices else f"{text!r} is not a choice: use one of {', '.join(choices)}"


def _index_of_nothing(port: mx.Input, definition: mx.NodeDef) -> str | None:
    """The fault of an index that does not exist. Shader compilers refuse it without a name, or read
    other memory."""
    is_index = port.getName() == "index" and port.getParent().getCategory() in _INDEXED
    if not is_index or is_connected(port):
        return None
    index = value_of(port.getInterfaceInput() or port)
    last = definition.getActiveInput("index").getAttribute("uimax")
    if index is None or (index >= 0 and not (last and index > int(last))):
        return None
    return f"the index {index} does not exist: use {f'0 to {last}' if last else '0 or more'}"
