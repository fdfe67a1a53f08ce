"""Nodes that read a property of the geometry. A flat sample has no properties: such nodes return
their default, or the texture coordinates of the sample."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import TARGET
from verdigris.core.material.graph.traversal import all_nodes, definition_of
from verdigris.core.material.normalise.graphs import copy_source

if TYPE_CHECKING:
    import MaterialX as mx

READER, VALUE, UNIFORM_VALUE = "UsdPrimvarReader", "geompropvalue", "geompropvalueuniform"
# The generator writes these as names, not as values.
_UNIFORM = ("string", "filename")
# input of a reader -> input of the node that replaces it
PORTS = {"varname": "geomprop", "fallback": "default"}
GEOMPROP, DEFAULT = PORTS.values()
# Names of the texture coordinates of a mesh. USD and Houdini: st, uv. Maya: map1. Blender: UVMap.
# glTF: TEXCOORD_0.
TEXTURE_COORDINATES = frozenset(
    {"st", "st0", "uv", "UV", "uv0", "UV0", "map1", "UVMap", "TEXCOORD_0", "Texture_uv"}
)
# Attribute of a loaded node: the name of its property as the document has it.
PROPERTY_ATTRIBUTE = "property"


def replace_geometry_readers(root: mx.Document) -> None:
    """Makes nodes that read a property return their default. They keep their category, because
    reports look for it."""
    for node in all_nodes(root):
        if node.getCategory() not in (READER, VALUE, UNIFORM_VALUE):
            continue
        if node.getCategory() == READER:
            _replace_usd_reader(node)
        node.setAttribute(PROPERTY_ATTRIBUTE, _written_name(node))
        is_place = reads_texture_coordinates(node) or is_unnamed_coordinate_set(node)
        if node.getType() in _UNIFORM:
            _replace_by_default(node)
        elif is_place or node.getInput(DEFAULT) is None:
            _make_name_valid(node)
        else:
            node.setNodeDefString(_definition_of_default(root, node.getType()))


def reads_texture_coordinates(node: mx.Node) -> bool:
    """Whether the property that a node reads is the texture coordinates."""
    return node.getType() == "vector2" and _property_of(node) in TEXTURE_COORDINATES


def is_unnamed_coordinate_set(node: mx.Node) -> bool:
    """Whether a node probably reads texture coordinates with an unknown name: it returns two
    numbers and has no default. Artists name uv sets freely."""
    return (
        node.getType() == "vector2"
        and node.getInput("default") is None
        and not reads_texture_coordinates(node)
    )


def property_name(node: mx.Node) -> str:
    """The name of the property in the document; the code may use another."""
    return str(node.getAttribute(PROPERTY_ATTRIBUTE))


def _property_of(node: mx.Node) -> str:
    """The name of the property that a node reads; empty if it reads none."""
    port = node.getInput("geomprop")
    return str((port.getInterfaceInput() or port).getValueString()) if port is not None else ""


def _replace_usd_reader(node: mx.Node) -> None:
    """Replaces USD's node, whose graph the generator cannot compile: its property name is an
    interface input."""
    node.setCategory(UNIFORM_VALUE if node.getType() in _UNIFORM else VALUE)
    node.removeAttribute("nodedef")
    for port in node.getInputs():
        if port.getName() in PORTS:
            port.setName(PORTS[port.getName()])


def _make_name_valid(node: mx.Node) -> None:
    """Makes the name of the property an identifier with one type: the generator names a variable
    after it, and meshes have names such as `UV Map` or `UVMap.001`."""
    name = node.getAttribute(PROPERTY_ATTRIBUTE)
    if name:
        port = node.getInput(GEOMPROP)
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name.removeprefix("primvars:"))
        is_pair = node.getType() == "vector2"
        port.setValueString(plain if is_pair else f"{plain}_{node.getType()}")
        port.removeAttribute("interfacename")


def _written_name(node: mx.Node) -> str:
    """The property name that the document writes; inside a definition, the definition's default."""
    port = node.getInput(GEOMPROP)
    if port is None:
        return ""
    given = port.getInterfaceInput() or port
    if given is port and port.getInterfaceName():
        definition = definition_of(port)
        given = definition and definition.getActiveInput(port.getInterfaceName())
    return str(given.getValueString()) if given is not None else ""


def _definition_of_default(root: mx.Document, kind: str) -> str:
    """The name of a definition that returns the default of a node with this type."""
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


def _replace_by_default(node: mx.Node) -> None:
    """Copies the default to the inputs that read the node; outputs read it through a `dot`."""
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
