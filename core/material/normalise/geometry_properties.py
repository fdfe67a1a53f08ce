"""Nodes that read a property of the geometry, which a flat sample has not: they give their default,
and what reads texture coordinates gives those."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verdigris.core.material.graph.coordinates import (
    AS_WRITTEN,
    reads_texture_coordinates,
    stands_for_texture_coordinates,
)
from verdigris.core.material.graph.library import TARGET
from verdigris.core.material.graph.traversal import definition_of
from verdigris.core.material.normalise.nested_graphs import copy_source

if TYPE_CHECKING:
    import MaterialX as mx

READER, VALUE, UNIFORM_VALUE = "UsdPrimvarReader", "geompropvalue", "geompropvalueuniform"
# Of these the generator makes names in the code, and no values.
_UNIFORM = ("string", "filename")
# input of a reader -> that of the node that stands for it
PORTS = {"varname": "geomprop", "fallback": "default"}
GEOMPROP, DEFAULT = PORTS.values()


def read_properties_directly(root: mx.Document) -> None:
    """Makes a reader's default what it gives. Readers keep their category, by which reports know
    them."""
    import MaterialX as mx

    kinds = (READER, VALUE, UNIFORM_VALUE)
    nodes = [each for each in root.traverseTree() if isinstance(each, mx.Node)]
    for node in [node for node in nodes if node.getCategory() in kinds]:
        if node.getCategory() == READER:
            _call_as_materialx_does(node)
        node.setAttribute(AS_WRITTEN, _name_as_written(node))
        is_place = reads_texture_coordinates(node) or stands_for_texture_coordinates(node)
        if node.getType() in _UNIFORM:
            _hand_default_on(node)
        elif is_place or node.getInput(DEFAULT) is None:
            _give_name_that_code_can_have(node)
        else:
            node.setNodeDefString(_definition_of_default(root, node.getType()))


def _call_as_materialx_does(node: mx.Node) -> None:
    """Out of the graph of USD's node, the generator cannot make code: there the name of the
    property is an interface."""
    node.setCategory(UNIFORM_VALUE if node.getType() in _UNIFORM else VALUE)
    node.removeAttribute("nodedef")
    for port in node.getInputs():
        if port.getName() in PORTS:
            port.setName(PORTS[port.getName()])


def _give_name_that_code_can_have(node: mx.Node) -> None:
    """The generator makes a variable of the name, which may be such as `UV Map` or `UVMap.001`, and
    one alone, of whatever type, also where a definition has its users give the name."""
    name = node.getAttribute(AS_WRITTEN)
    if name:
        port = node.getInput(GEOMPROP)
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name.removeprefix("primvars:"))
        is_pair = node.getType() == "vector2"
        port.setValueString(plain if is_pair else f"{plain}_{node.getType()}")
        port.removeAttribute("interfacename")


def _name_as_written(node: mx.Node) -> str:
    """Of a property; where users of a definition give it, the definition's own."""
    port = node.getInput(GEOMPROP)
    if port is None:
        return ""
    given = port.getInterfaceInput() or port
    if given is port and port.getInterfaceName():
        definition = definition_of(port)
        given = definition and definition.getActiveInput(port.getInterfaceName())
    return str(given.getValueString()) if given is not None else ""


def _definition_of_default(root: mx.Document, kind: str) -> str:
    """The name of a definition by which a reader of this type gives its default."""
    name = f"ND_default_of_property_{kind}"
    if root.getNodeDef(name) is None:
        definition = root.addNodeDef(name, kind, "default_of_property")
        definition.addInput(GEOMPROP, "string").setIsUniform(True)
        definition.addInput(DEFAULT, kind)
        code = root.addImplementation(name.replace("ND", "IM", 1))
        code.setNodeDefString(name)
        code.setTarget(TARGET)
        code.setAttribute("sourcecode", f"{{{{{DEFAULT}}}}}")
    return name


def _hand_default_on(node: mx.Node) -> None:
    """Puts the default in the place of the reader; outputs get it through a `dot`."""
    import MaterialX as mx

    default = node.getInput(DEFAULT)
    for port in node.getDownstreamPorts():
        if not isinstance(port, mx.Input) or port.getType() != node.getType():
            continue
        copy_source(default, port)
    if default is not None:
        node.removeInput(GEOMPROP)
        node.removeAttribute("nodedef")
        node.setCategory("dot")
        default.setName("in")
