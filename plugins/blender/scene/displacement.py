# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Displacement, which Blender's MaterialX export leaves out.

A copy of the material emits its displacement, as a vector in the frame of tangent, bitangent and
normal. The nodes that the export makes of this emission become a displacement of the material.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy

from .node_graph import NodeGraph, nodes_behind

SOCKET = "Displacement"
HEIGHT, VECTOR = "ShaderNodeDisplacement", "ShaderNodeVectorDisplacement"
NODES = (HEIGHT, VECTOR)
_COPY = "verdigris_heights"
_TANGENT = "TANGENT"
# What returns a displacement of displacements.
_LINEAR = ("ADD", "SUBTRACT", "SCALE")
_MIXES = ("ShaderNodeMix", "ShaderNodeMixRGB")
_DIRECTED = ("VECTOR", "RGBA")


class Displacement(NamedTuple):
    """What displaces a material."""

    is_vector: bool = False
    problem: str = ""
    """Why it cannot be read."""
    notes: tuple[str, ...] = ()


def find_displacement(output: bpy.types.Node) -> Displacement | None:
    """What displaces the material of an output; None if nothing does."""
    port = output.inputs[SOCKET]
    found = [node for node in _sources(port, ()) if not node.mute]
    if not found:
        return None
    for node in found:
        if node.bl_idname not in NODES:
            how = f"{node.name!r} ({node.bl_label}) feeds it without a Displacement node: add one"
            return Displacement(problem=how)
        if node.bl_idname == VECTOR and node.space != _TANGENT:
            space = node.bl_rna.properties["space"].enum_items[node.space].name
            how = f"the vectors of {node.name!r} are in {space}: use Tangent Space"
            return Displacement(problem=how)
    notes = tuple(
        f"{node.name!r} displaces along the surface's own normal: its input 'Normal' is left out"
        for node in found
        if node.bl_idname == HEIGHT and node.inputs["Normal"].is_linked
    )
    return Displacement(any(node.bl_idname == VECTOR for node in found), notes=notes)


def _sources(
    port: bpy.types.NodeSocket, groups: tuple[bpy.types.Node, ...]
) -> Iterator[bpy.types.Node]:
    """The displacement nodes behind a socket, and nodes that are none in their places. `groups`
    are the groups around the socket, from outside."""
    for link in port.links:
        node, name = link.from_node, link.from_socket.identifier
        if link.is_muted:
            continue
        if node.type == "REROUTE":
            yield from _sources(node.inputs[0], groups)
        elif node.type == "GROUP" and node.node_tree is not None:
            for inner in node.node_tree.nodes:
                if inner.type == "GROUP_OUTPUT" and inner.is_active_output:
                    yield from _sources(_port_of(inner, name), (*groups, node))
        elif node.type == "GROUP_INPUT" and groups:
            yield from _sources(_port_of(groups[-1], name), groups[:-1])
        elif _is_linear(node):
            for each in node.inputs:
                if each.enabled and each.type in _DIRECTED:
                    yield from _sources(each, groups)
        else:
            yield node


def _port_of(node: bpy.types.Node, identifier: str) -> bpy.types.NodeSocket:
    return next(each for each in node.inputs if each.identifier == identifier)


def _is_linear(node: bpy.types.Node) -> bool:
    if node.bl_idname == "ShaderNodeVectorMath":
        return node.operation in _LINEAR
    return node.bl_idname in _MIXES and node.blend_type == "MIX"


def add_plain_displacement(graph: NodeGraph, node: bpy.types.Node, value: Any) -> Any:
    """The socket with what a displacement node returns, in the frame of the surface. `value` reads
    a socket."""
    amount, middle, scale = (value(node.inputs[index]) for index in range(3))
    if node.bl_idname == HEIGHT:
        if node.inputs[0].is_linked and amount.type == "RGBA":
            # the export would take its red
            amount = graph.node("ShaderNodeRGBToBW", {0: amount}).outputs[0]
        along = graph.math("MULTIPLY", graph.math("SUBTRACT", amount, middle), scale)
        return graph.joined(0.0, 0.0, along)
    moved = graph.vector("MULTIPLY", graph.vector("SUBTRACT", amount, middle), scale)
    # Blender's normal is the second
    across, along, up = graph.split(moved)
    return graph.joined(across, up, along)


def keep_displacement(material: bpy.types.Material, output: bpy.types.Node) -> None:
    """Removes all nodes of a material but an output and those that displace it."""
    tree, port = material.node_tree, output.inputs[SOCKET]
    kept = {output, *(each for each in nodes_behind([port]) if each.id_data == tree)}
    for node in [each for each in tree.nodes if each not in kept]:
        tree.nodes.remove(node)


@contextmanager
def with_heights(material: bpy.types.Material, output: str) -> Iterator[bpy.types.Material]:
    """A copy of a material with plain displacement nodes, whose surface emits the displacement.
    `output` is the name of its output node."""
    copied = material.copy()
    copied.name = _COPY
    tree = copied.node_tree
    ports = tree.nodes[output].inputs
    emission = tree.nodes.new("ShaderNodeEmission")
    tree.links.new(ports[SOCKET].links[0].from_socket, emission.inputs["Color"])
    tree.links.new(emission.outputs[0], ports["Surface"])
    try:
        yield copied
    finally:
        bpy.data.materials.remove(copied)


def take_displacement(stage: Any, paths: list[str], is_vector: bool) -> str:
    """Displaces the one material of an exported stage by what the copy emits. Returns its path."""
    from pxr import Sdf, UsdShade

    (path,) = (each for each in paths if not Sdf.Path(each).name.startswith(_COPY))
    (other,) = (each for each in paths if each != path)
    lit, _, _ = UsdShade.Material(stage.GetPrimAtPath(other)).ComputeSurfaceSource("mtlx")
    (emitting,) = lit.GetInput("edf").GetValueProducingAttributes()
    colour = UsdShade.Shader(emitting.GetPrim()).GetInput("color")
    kind = Sdf.ValueTypeNames.Vector3f if is_vector else Sdf.ValueTypeNames.Float
    made = UsdShade.Shader.Define(stage, f"{path}/displacement")
    made.CreateIdAttr(f"ND_displacement_{'vector3' if is_vector else 'float'}")
    amount = made.CreateInput("displacement", kind)
    (source,) = colour.GetValueProducingAttributes()
    if not UsdShade.Output.IsOutput(source):
        x, y, z = source.Get()
        amount.Set((x, y, z) if is_vector else z)
    else:
        graph = source.GetPrim().GetParent().GetPath()
        layer, place = stage.GetRootLayer(), Sdf.Path(f"{path}/heights")
        Sdf.CopySpec(layer, graph, layer, place)
        part = UsdShade.Shader.Define(stage, place.AppendChild("as_displacement"))
        part.CreateIdAttr(f"ND_{'convert_color3_vector3' if is_vector else 'extract_color3'}")
        given = part.CreateInput("in", Sdf.ValueTypeNames.Color3f)
        given.GetAttr().SetConnections([source.GetPath().ReplacePrefix(graph, place)])
        if not is_vector:
            part.CreateInput("index", Sdf.ValueTypeNames.Int).Set(2)
        out = UsdShade.NodeGraph(stage.GetPrimAtPath(place)).CreateOutput("displacement", kind)
        out.ConnectToSource(part.CreateOutput("out", kind))
        amount.ConnectToSource(out)
    port = UsdShade.Material(stage.GetPrimAtPath(path)).CreateDisplacementOutput("mtlx")
    port.ConnectToSource(made.CreateOutput("displacement", Sdf.ValueTypeNames.Token))
    stage.RemovePrim(other)
    return path
