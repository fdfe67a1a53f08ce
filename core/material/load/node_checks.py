"""What MaterialX's own validation does not notice in a node, said in words."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import TARGET, known_units
from verdigris.core.material.graph.traversal import (
    definition_of,
    is_connected,
    is_of_document,
    own_graph,
    source_of,
)
from verdigris.core.material.normalise.disabled_nodes import DISABLE

if TYPE_CHECKING:
    import MaterialX as mx

# As programs write them: an f may be behind.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?f?")
_WHOLE_NUMBER = re.compile(r"[+-]?\d+(\.0*)?")
# Of these the index becomes a part of the code: a component, or the end of a name.
_INDEXED = ("extract", "texcoord", "tangent", "bitangent", "geomcolor")
_HOW_VALUES_ARE_WRITTEN = {
    "boolean": "true or false",
    "integer": "one whole number",
    "float": "one number",
    "vector2": "2 numbers with a comma between",
    **{f"{kind}3": "3 numbers with commas between" for kind in ("vector", "color")},
    **{f"{kind}4": "4 numbers with commas between" for kind in ("vector", "color")},
    "matrix33": "9 numbers with commas between",
    "matrix44": "16 numbers with commas between",
}
# An attribute of inputs and outputs in documents up to version 1.38.
CHANNELS = "channels"
# Between these, values are converted where they are read.
_SINGLE = ("boolean", "integer", "float")
_CANNOT_BE_DISABLED = (
    "it cannot be disabled, but by 'true' or 'false' where its definition says what to give "
    "instead: take the input 'disable' out"
)
_CLOSURES = frozenset(
    {"BSDF", "EDF", "VDF", "material"}
    | {f"{kind}shader" for kind in ("surface", "displacement", "volume", "light")}
)
# The node that makes one type of another, where it is no convert node.
_BETWEEN = {
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
        for kind in (*_SINGLE, "vector2", "vector3", "vector4", "color3", "color4")
    },
}
# What hands surface shaders on, for which the generator declares none that is unlit.
_OF_LIT_SURFACES = ("mix", "dot")
# Shaders of this kind are left out before code is generated.
_LEFT_OUT = ("displacementshader", "volumeshader")


def find_fault(node: mx.Node) -> str | None:
    """The first thing wrong with a node, or None."""
    definition = node.getNodeDef()
    if definition is None:
        return _missing_definition(node)
    for port in node.getInputs():
        fault = _fault_of(port) or _fault_of_given(port)
        fault = fault or _unknown_choice(port, definition) or _index_of_nothing(port, definition)
        if not fault and port.getName() == DISABLE and not definition.getActiveInput(DISABLE):
            fault = _CANNOT_BE_DISABLED
        if fault:
            return f"node {node.getNamePath()!r}, input {port.getName()!r}: {fault}"
    for port in definition.getActiveInputs() if is_of_document(definition, node) else ():
        fault = _unreadable(port) or _unknown_unit(port)
        if fault and node.getInput(port.getName()) is None:
            where = f"its definition {definition.getName()!r}, input {port.getName()!r}"
            return f"node {node.getNamePath()!r}: {where}: {fault}"
    return _without_code(node) or _undefined_output(node)


def _fault_of(port: mx.Input) -> str | None:
    return (
        _dangling(port)
        or _mistyped(port)
        or _unlit(port)
        or _unreadable(port)
        or _unknown_unit(port)
    )


def _unlit(port: mx.Input) -> str | None:
    if port.getType() != "surfaceshader" or port.getParent().getCategory() not in _OF_LIT_SURFACES:
        return None
    source = source_of(port)
    if source is None or source.getCategory() != "surface_unlit":
        return None
    return (
        f"is connected to {source.getName()!r}, an unlit surface, which MaterialX cannot mix: use "
        "a surface with an EDF and a BSDF of weight 0"
    )


def _fault_of_given(port: mx.Input) -> str | None:
    """What is wrong with the input of the graph, or of the definition, that a node's input reads:
    the generator would take a default instead."""
    given = port.getInterfaceInput()
    if given is not None:
        fault = _fault_of(given)
        if fault:
            return f"reads the input {given.getNamePath()!r}: {fault}"
    elif port.getInterfaceName() and (definition := definition_of(port)) is not None:
        given = definition.getActiveInput(port.getInterfaceName())
    kinds = {port.getType(), given.getType()} if given is not None else set()
    if given is None or len(kinds) == 1 or kinds.issubset(_SINGLE):
        return None
    return (
        f"takes {port.getType()} and reads the input {given.getName()!r}, which is "
        f"{given.getType()}: put a convert node between"
    )


def _without_code(node: mx.Node) -> str | None:
    path, category = node.getNamePath(), node.getCategory()
    file = _file_of_code(node)
    if file:
        return (
            f"node {path!r} is implemented by the file {file!r}, which is not read: "
            "implement it by a graph of nodes"
        )
    if node.getType() in _LEFT_OUT or node.getImplementation(TARGET) is not None:
        return None
    if is_of_document(node.getNodeDef(), node):
        return f"node {path!r}: the document defines {category!r} without a graph: give it one"
    return (
        f"node {path!r} is of the kind {category!r} and type {node.getType()!r}, for which "
        "MaterialX has no code: leave it out or put another in its place"
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
    """The file of shader code by which the document itself implements a node."""
    import MaterialX as mx

    found = node.getImplementation(TARGET)
    is_own = isinstance(found, mx.Implementation) and is_of_document(found, node)
    return str(found.getFile()) if is_own else ""


def _missing_definition(node: mx.Node) -> str:
    category, path = node.getCategory(), node.getNamePath()
    known = node.getDocument().getMatchingNodeDefs(node.getQualifiedName(category))
    if not known:
        return (
            f"node {path!r} is of the kind {category!r}, which no library defines: "
            "it may come from a plug-in of the application that wrote the document"
        )
    wanted = f"node {path!r} of the kind {category!r} and type {node.getType()!r}"
    same_type = [definition for definition in known if definition.getType() == node.getType()]
    if not same_type:
        types = ", ".join(sorted({definition.getType() for definition in known}))
        return f"{wanted} has no definition: {category!r} comes in the types {types}"
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
                    f"its input {port.getName()!r} has no type: give it {expected.getType()}"
                )
            elif expected.getType() != port.getType():
                found.append(
                    f"its input {port.getName()!r} takes {expected.getType()}, not {port.getType()}"
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
        return f"its nodedef {named!r} is none of these: use {given}, or leave it out"
    return "check its version and target"


def _suggestion(port: mx.Input, definition: mx.NodeDef) -> str:
    names = [other.getName() for other in definition.getActiveInputs()]
    close = difflib.get_close_matches(port.getName(), names, n=1)
    return f"; did you mean {close[0]!r}?" if close else f" (but {', '.join(sorted(names)[:12])} …)"


def _dangling(port: mx.Input) -> str | None:
    wanted = port.getNodeName() or port.getNodeGraphString()
    if wanted:
        if port.getConnectedNode() is None and port.getConnectedOutput() is None:
            return _missing_output(port) or f"is connected to {wanted!r}, which is not there"
        return _leads_nowhere(port)
    if port.getOutputString() and port.getConnectedOutput() is None:
        return f"is connected to the output {port.getOutputString()!r}, which is not there"
    name = port.getInterfaceName()
    if name and port.getInterfaceInput() is None and not _is_defined(port, name):
        return f"reads the interface input {port.getInterfaceName()!r}, which is not there"
    return None


def _missing_output(port: mx.Input) -> str | None:
    """What is wrong with the output, where the graph that has it is there."""
    graph = port.getDocument().getNodeGraph(port.getNodeGraphString())
    if graph is None:
        return None
    name, names = port.getOutputString(), [output.getName() for output in graph.getOutputs()]
    is_other = "which is no output" if graph.getChild(name) else "which is not there"
    return (
        f"is connected to {name!r} of the graph {graph.getName()!r}, {is_other}: "
        f"its outputs are {', '.join(names) or 'none'}"
    )


def _leads_nowhere(port: mx.Input) -> str | None:
    """Where a graph's output has no source, the generator takes the default of the input."""
    output = port.getConnectedOutput()
    fault = _without_source(output) if output is not None and not port.getNodeName() else None
    return f"is connected to the output {fault}" if fault else None


def _without_source(output: mx.Output) -> str | None:
    if output.getConnectedNode() is not None:
        return None
    wanted = output.getNodeName()
    source = f"the node {wanted!r}, which is not there" if wanted else "no node of its graph"
    return f"{output.getNamePath()!r}, which is connected to {source}"


def _is_defined(port: mx.Input, name: str) -> bool:
    definition = definition_of(port)
    return definition is not None and definition.getActiveInput(name) is not None


def _mistyped(port: mx.Input) -> str | None:
    """The generator wires any output to any input, and the shader then fails to compile."""
    source, output = port.getConnectedNode(), port.getConnectedOutput()
    if output is not None:
        wrong = _mistyped_output(output)
        if wrong:
            return f"is connected to the output {output.getNamePath()!r}, which {wrong}"
        given = output.getType()
    elif source is None:
        return None
    else:
        # the input of the graph that a port stands for says which output
        given = _type_given(source, (port.getInterfaceInput() or port).getOutputString())
        if not given and source.getNodeDef() is not None:
            names = ", ".join(each.getName() for each in source.getNodeDef().getActiveOutputs())
            return (
                f"is connected to {source.getName()!r} without naming one of its outputs: {names}"
            )
    return _difference(port, given) if given not in ("", port.getType()) else None


def _mistyped_output(output: mx.Output) -> str | None:
    source = output.getConnectedNode()
    given = _type_given(source, output.getOutputString()) if source is not None else ""
    kinds = {given, output.getType()}
    # colours and vectors are one in the code, and single numbers are converted
    shapes = {kind.replace("color", "vector") for kind in kinds}
    fits = not given or len(shapes) == 1 or kinds.issubset(_SINGLE)
    return None if fits else _difference(output, given)


def _type_given(source: mx.Node, output: str) -> str:
    """Of what a node gives; empty where that is not known, which is the fault of that node, or of
    several outputs none is named."""
    if source.getType() != "multioutput":
        return str(source.getType())
    definition = source.getNodeDef()
    named = definition.getActiveOutput(output) if definition is not None else None
    return str(named.getType()) if named is not None else ""


def _difference(port: mx.PortElement, given: str) -> str:
    what = f"takes {port.getType()} and is connected to {given}"
    channels = port.getAttribute(CHANNELS)
    if channels:
        return (
            f"{what}: channels {channels!r} count in documents up to version 1.38, so put an "
            "extract or combine node between"
        )
    if not {given, port.getType()} & _CLOSURES:
        return f"{what}: put a convert node between"
    between = _BETWEEN.get((given, port.getType()))
    return f"{what}: " + (
        f"put a {between} node between"
        if between
        else f"connect a node of the type {port.getType()}"
    )


def _unreadable(port: mx.Input) -> str | None:
    text = port.getValueString()
    if not text or port.getType() not in _HOW_VALUES_ARE_WRITTEN:
        return None
    if port.getValue() is None:
        how = _HOW_VALUES_ARE_WRITTEN[port.getType()]
        return f"the value {text!r} is not of the type {port.getType()}: write {how}"
    # MaterialX reads what is before it
    if port.getType() in ("float", "integer") and "," in text:
        return f"the value {text!r} is not one number: decimals are written with a point"
    number = _WHOLE_NUMBER if port.getType() == "integer" else _NUMBER
    odd = [word for word in text.replace(",", " ").split() if not number.fullmatch(word)]
    if odd and port.getType() != "boolean":
        what = "whole number" if number is _WHOLE_NUMBER else "number"
        return f"the value {text!r} is not of the type {port.getType()}: {odd[0]!r} is no {what}"
    return None


def _unknown_unit(port: mx.Input) -> str | None:
    """The generator refuses it, too, without saying where it stands."""
    unit, kind = port.getUnit(), port.getUnitType()
    known = known_units()
    if not unit or unit in known.get(kind, ()):
        return None
    if kind not in known:
        what = "has no unittype" if not kind else f"is of the unittype {kind!r}"
        return f"the unit {unit!r} {what}: use one of {', '.join(known)}"
    return f"the unit {unit!r} is no {kind}: use one of {', '.join(known[kind])}"


def _unknown_choice(port: mx.Input, definition: mx.NodeDef) -> str | None:
    """The generator refuses it, too, without saying where it stands."""
    defined = definition.getActiveInput(port.getName())
    text = (port.getInterfaceInput() or port).getValueString()
    if port.getType() != "string" or not defined or not defined.hasAttribute("enum"):
        return None
    if port.getConnectedNode() or port.getConnectedOutput():
        return "is connected, and is a choice that code is made of: write it as a value"
    if not text:
        return None
    choices = [choice.strip() for choice in defined.getAttribute("enum").split(",")]
    return None if text in choices else f"{text!r} is not known: use one of {', '.join(choices)}"


def _index_of_nothing(port: mx.Input, definition: mx.NodeDef) -> str | None:
    """Compilers of shaders may refuse it without saying where it stands, or read what is there."""
    is_index = port.getName() == "index" and port.getParent().getCategory() in _INDEXED
    if not is_index or is_connected(port):
        return None
    index = (port.getInterfaceInput() or port).getValue()
    last = definition.getActiveInput("index").getAttribute("uimax")
    if index is None or (index >= 0 and not (last and index > int(last))):
        return None
    return f"there is no {index}: use {f'0 to {last}' if last else '0 or more'}"
