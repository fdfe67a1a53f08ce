# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stored light as shader nodes, by the formulas of docs/LADDER.md."""

from __future__ import annotations

import bpy

from verdigris.core.hosts.host import MIRROR_RIM, StoredLight

from .meshes import RUNG, world_from_object
from .node_graph import NodeGraph

AXES = "verdigris_x", "verdigris_y", "verdigris_z"
"""Of an object: the axes of the ladder's mesh, in its own space."""
_OCTAHEDRAL = "Verdigris octahedral map"

Images = dict[str, bpy.types.Image]


def note_axes(item: bpy.types.Object) -> None:
    """Notes where the axes of the ladder's mesh are, so that the reflection turns with the
    object."""
    for name, row in zip(AXES, world_from_object(item)[:3, :3], strict=True):
        item[name] = [float(each) for each in row]


def add_light(
    graph: NodeGraph, light: StoredLight, images: Images, uv_set: str, uv_set_of_detail: str
) -> tuple[bpy.types.NodeSocket, bpy.types.NodeSocket]:
    """The nodes of light, and of its opacity."""
    uv = graph.uv(uv_set)
    base = graph.image(images["colour" if "colour" in images else "light"], uv)
    found, alpha = _to_light(graph, base.outputs["Color"], light.curve), base.outputs["Alpha"]
    if light.mirror_curve is not None:
        share = graph.image(images["share"], uv).outputs["Color"]
        mirror = graph.image(images["mirror"], _mirror_uv(graph)).outputs["Color"]
        mirrored = _to_light(graph, mirror, light.mirror_curve)
        found = graph.vector("MULTIPLY_ADD", share, mirrored, found)
    if "detail" in images:
        uv = graph.uv(uv_set_of_detail)
        detail = graph.split(graph.image(images["detail"], uv).outputs["Color"])[0]
        squared = graph.math("MULTIPLY", graph.math("MULTIPLY", detail, detail), light.detail_scale)
        found = graph.vector("MULTIPLY", found, squared)
        if "opacity" in images:
            alpha = graph.split(graph.image(images["opacity"], uv).outputs["Color"])[0]
    return found, alpha


def _to_light(
    graph: NodeGraph, stored: bpy.types.NodeSocket, curve: tuple[float, float, float]
) -> bpy.types.NodeSocket:
    """stored / ((c stored + a) stored + b)"""
    a, b, c = curve
    inner = graph.vector("MULTIPLY_ADD", stored, c, a)
    return graph.vector("DIVIDE", stored, graph.vector("MULTIPLY_ADD", stored, inner, b))


def emit(graph: NodeGraph, light: bpy.types.NodeSocket, alpha: bpy.types.NodeSocket | None) -> None:
    """Shows light as it is, whatever the scene's lights are."""
    shader = graph.node("ShaderNodeEmission", {"Color": light}).outputs[0]
    if alpha is not None:
        clear = graph.node("ShaderNodeBsdfTransparent", {}).outputs[0]
        shader = graph.node("ShaderNodeMixShader", {0: alpha, 1: clear, 2: shader}).outputs[0]
    graph.node("ShaderNodeOutputMaterial", {"Surface": shader})
    graph.arrange()


def _mirror_uv(graph: NodeGraph) -> bpy.types.NodeSocket:
    """Where the direction in which the eye is mirrored is on the map."""
    mirrored = graph.node("ShaderNodeTexCoord", {}).outputs["Reflection"]
    own = graph.node(
        "ShaderNodeVectorTransform", {0: mirrored}, vector_type="VECTOR", convert_from="WORLD",
        convert_to="OBJECT",
    ).outputs[0]  # fmt: skip
    axes = [
        graph.node("ShaderNodeAttribute", {}, attribute_type="OBJECT", attribute_name=name)
        for name in AXES
    ]
    x, y, z = (graph.vector("DOT_PRODUCT", own, axis.outputs["Vector"]) for axis in axes)
    group = graph.node("ShaderNodeGroup", {}, node_tree=_octahedral())
    graph.feed(graph.joined(x, y, z), group.inputs[0])
    return group.outputs[0]


def _octahedral() -> bpy.types.NodeTree:
    """The group that finds a direction on the map, which all materials share."""
    found = bpy.data.node_groups.get(_OCTAHEDRAL)
    if found is not None and RUNG in found:
        return found
    made = bpy.data.node_groups.new(_OCTAHEDRAL, "ShaderNodeTree")
    made[RUNG] = _OCTAHEDRAL
    made.interface.new_socket("Direction", in_out="INPUT", socket_type="NodeSocketVector")
    made.interface.new_socket("UV", in_out="OUTPUT", socket_type="NodeSocketVector")
    graph = NodeGraph(made)
    direction = graph.node("NodeGroupInput", {}).outputs[0]
    length = graph.vector("DOT_PRODUCT", graph.vector("ABSOLUTE", direction), (1.0, 1.0, 1.0))
    scaled = graph.vector("DIVIDE", direction, length)
    x, y, z = graph.split(scaled)
    far_x, _, far_z = graph.split(graph.vector("ABSOLUTE", scaled))
    below = graph.math("LESS_THAN", y, 0.0)

    def place(across: bpy.types.NodeSocket, far: bpy.types.NodeSocket) -> bpy.types.NodeSocket:
        sign = graph.math("MULTIPLY_ADD", graph.math("LESS_THAN", across, 0.0), -2.0, 1.0)
        folded = graph.math("MULTIPLY", graph.math("SUBTRACT", 1.0, far), sign)
        chosen = graph.math("MULTIPLY_ADD", below, graph.math("SUBTRACT", folded, across), across)
        halved = graph.math("MULTIPLY_ADD", chosen, 0.5, 0.5)
        return graph.math("MINIMUM", graph.math("MAXIMUM", halved, MIRROR_RIM), 1.0 - MIRROR_RIM)

    uv = graph.joined(place(x, far_z), place(z, far_x), 0.0)
    graph.node("NodeGroupOutput", {0: uv})
    graph.arrange()
    return made
