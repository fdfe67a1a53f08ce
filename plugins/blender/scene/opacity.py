# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Opacity of mixed shaders. Blender's MaterialX export knows that of a Principled BSDF and of a
Transparent BSDF, and mixes it with 0 for any other shader, which is opaque. For a Transparent BSDF
it mixes a white diffuse reflection into the surface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from .emitted import feed_emitted
from .node_graph import NodeGraph

GLASS = "verdigris glass"
"""A mix of shaders with the opacity of the first, made by plain_nodes.py."""
_MIX, _ADD = "MIX_SHADER", "ADD_SHADER"
_HOLE = "BSDF_TRANSPARENT"


def finds_opacity(port: bpy.types.NodeSocket) -> bool:
    """Whether a surface mixes shaders, outside of groups."""
    kinds = [node.type for node in _shaders(port)]
    return "GROUP" not in kinds and (_MIX in kinds or _ADD in kinds)


def mixed_in_groups(port: bpy.types.NodeSocket) -> list[str]:
    """The names of groups whose shaders a surface mixes: their opacity is not found."""
    nodes = _shaders(port)
    is_mixed = any(node.type in (_MIX, _ADD) for node in nodes)
    groups = [node for node in nodes if node.type == "GROUP" and node.node_tree is not None]
    return [
        node.name
        for node in groups
        if is_mixed or any(each.type in (_MIX, _ADD) for each in node.node_tree.nodes)
    ]


def beside_hole(node: bpy.types.Node) -> bpy.types.NodeSocket | None:
    """The input of a mix whose other input is a Transparent BSDF; None for other nodes."""
    if node.type != _MIX:
        return None
    kinds = [getattr(behind(each), "type", "") for each in node.inputs[1:3]]
    return node.inputs[2 - kinds.index(_HOLE)] if kinds.count(_HOLE) == 1 else None


@contextmanager
def without_holes(material: bpy.types.Material) -> Iterator[bpy.types.Material]:
    """A copy of a material with the shader beside each Transparent BSDF in the place of their
    mix."""
    copied = material.copy()
    try:
        tree = copied.node_tree
        for node in tree.nodes:
            kept = beside_hole(node)
            if kept is not None and kept.is_linked:
                for link in list(node.outputs[0].links):
                    tree.links.new(kept.links[0].from_socket, link.to_socket)
        yield copied
    finally:
        bpy.data.materials.remove(copied)


def set_opacity(stage: Any, path: str, other: str) -> None:
    """Gives the surface of an exported material the opacity that another one emits."""
    from pxr import Sdf, UsdShade

    surface, _, _ = UsdShade.Material(stage.GetPrimAtPath(path)).ComputeSurfaceSource("mtlx")
    name = "geometry_opacity" if "open_pbr" in surface.GetShaderId() else "opacity"
    port = surface.CreateInput(name, Sdf.ValueTypeNames.Float)
    feed_emitted(stage, path, other, port, 0)


def write_opacity(graph: NodeGraph, value: Callable[[bpy.types.NodeSocket], Any]) -> Any:
    """The opacity of the surface of a tree: a socket or a number. `value` reads a socket."""
    surface = graph.tree.get_output_node("ALL").inputs["Surface"]
    return _opacity(surface, graph, value)


def _opacity(port: bpy.types.NodeSocket, graph: NodeGraph, value: Callable[..., Any]) -> Any:
    node = behind(port)
    if node is None:
        return 1.0
    if node.type == _HOLE:
        return 0.0
    if node.type == "BSDF_PRINCIPLED":
        return value(node.inputs["Alpha"])
    if node.type not in (_MIX, _ADD):
        return 1.0
    first, second = (_opacity(each, graph, value) for each in list(node.inputs)[-2:])
    if node.type == _MIX:
        if first == second or node.label == GLASS:
            return first
        change = _math(graph, "SUBTRACT", second, first)
        return _math(graph, "MULTIPLY_ADD", change, value(node.inputs[0]), first)
    # what passes adds up
    return _math(graph, "SUBTRACT", _math(graph, "ADD", first, second), 1.0)


def _math(graph: NodeGraph, operation: str, *values: Any) -> Any:
    if all(isinstance(each, float) for each in values):
        a, b, *rest = values
        return {"ADD": a + b, "SUBTRACT": a - b, "MULTIPLY_ADD": a * b + sum(rest)}[operation]
    return graph.math(operation, *values)


def behind(port: bpy.types.NodeSocket) -> bpy.types.Node | None:
    for link in port.links:
        if not link.is_muted:
            node = link.from_node
            return behind(node.inputs[0]) if node.type == "REROUTE" else node
    return None


def _shaders(port: bpy.types.NodeSocket) -> list[bpy.types.Node]:
    """The shader nodes that a socket mixes."""
    node = behind(port)
    if node is None:
        return []
    ports = [each for each in node.inputs if each.type == "SHADER"] if node.type != "GROUP" else []
    return [node, *(found for each in ports for found in _shaders(each))]
