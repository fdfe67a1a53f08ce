# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Displacement, which Blender's MaterialX export leaves out. It is read as a vector in the frame of
tangent, bitangent and normal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import bpy

from .emitted import feed_emitted
from .node_graph import NodeGraph, nodes_behind, output_of

SOCKET = "Displacement"
HEIGHT, VECTOR = "ShaderNodeDisplacement", "ShaderNodeVectorDisplacement"
NODES = (HEIGHT, VECTOR)
_TANGENT = "TANGENT"
# What returns a displacement of displacements.
_LINEAR = ("ADD", "SUBTRACT", "SCALE")
_MIXES = ("ShaderNodeMix", "ShaderNodeMixRGB")
_DIRECTED = ("VECTOR", "RGBA")
_SAME_SCALE = 1e-3


class Displacement(NamedTuple):
    """What displaces a material."""

    is_vector: bool = False
    problem: str = ""
    """Why it cannot be read."""
    notes: tuple[str, ...] = ()


def find_displacement(material: bpy.types.Material) -> Displacement | None:
    """What displaces a material that has an output; None if nothing does."""
    port = output_of(material).inputs[SOCKET]
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
    notes = [
        f"{node.name!r} displaces along the surface's own normal: its input 'Normal' is left out"
        for node in found
        if node.bl_idname == HEIGHT and node.inputs["Normal"].is_linked
    ]
    if any(node.space != "WORLD" for node in found):
        notes += _of_scaled_objects(material)
    return Displacement(any(node.bl_idname == VECTOR for node in found), notes=tuple(notes))


def _of_scaled_objects(material: bpy.types.Material) -> Iterator[str]:
    """A note on the first object whose scale changes the displacement of its material."""
    for item in bpy.context.scene.objects:
        scale = item.matrix_world.to_scale()
        is_scaled = any(abs(each - 1) > _SAME_SCALE for each in scale)
        if is_scaled and material in [slot.material for slot in item.material_slots]:
            sizes = " x ".join(f"{each:.3g}" for each in scale)
            yield (
                f"{item.name} is scaled by {sizes}, which scales its displacement, and not that "
                "of the bundle: apply the scale, or use World Space"
            )
            return


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


def write_displacement(graph: NodeGraph) -> Any:
    """The socket that displaces a material with plain displacement nodes."""
    return graph.tree.get_output_node("ALL").inputs[SOCKET].links[0].from_socket


def displace(stage: Any, path: str, other: str, is_vector: bool) -> None:
    """Displaces an exported material by what another one emits."""
    from pxr import Sdf, UsdShade

    kind = Sdf.ValueTypeNames.Vector3f if is_vector else Sdf.ValueTypeNames.Float
    made = UsdShade.Shader.Define(stage, f"{path}/displacement")
    made.CreateIdAttr(f"ND_displacement_{'vector3' if is_vector else 'float'}")
    amount = made.CreateInput("displacement", kind)
    feed_emitted(stage, path, other, amount, None if is_vector else 2)
    port = UsdShade.Material(stage.GetPrimAtPath(path)).CreateDisplacementOutput("mtlx")
    port.ConnectToSource(made.CreateOutput("displacement", Sdf.ValueTypeNames.Token))
