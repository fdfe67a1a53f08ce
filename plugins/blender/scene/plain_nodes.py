# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes that Blender's MaterialX export does not know, as arithmetic, which it knows.

The export leaves out colour ramps, displacement and the older mix node, writes curves as nodes that
MaterialX does not have, and takes every blend mode of the mix node for *Mix*. A copy of a material
gets other nodes in their place. The formulas of the blend modes are those of Cycles; tests compare
the copy with Cycles' own pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import bpy

from .curves import CURVES, add_curve
from .displacement import NODES, add_plain_displacement
from .node_graph import NodeGraph
from .opacity import GLASS, beside_hole

_TRANSMISSION = "Transmission Weight"
_RAMP, _MIX, _OLD_MIX = "ShaderNodeValToRGB", "ShaderNodeMix", "ShaderNodeMixRGB"
# Straight lines between two stops of a ramp that is not linear.
_PARTS = 16
_TINY = 1e-6
_FIRST_THAT_MUTES = (5, 0, 0)
_OF_HSV = ("HUE", "SATURATION", "COLOR", "VALUE")


def is_replaced(node: bpy.types.Node) -> bool:
    """Whether the export needs other nodes in the place of this one."""
    if node.mute:
        # the export of Blender 4 writes muted nodes
        return bpy.app.version < _FIRST_THAT_MUTES
    is_blend = (
        node.bl_idname == _MIX
        and node.data_type == "RGBA"
        and (node.blend_type != "MIX" or node.clamp_result)
    )
    return is_blend or _is_mixed_glass(node) or node.bl_idname in (_RAMP, _OLD_MIX, *CURVES, *NODES)


def _is_mixed_glass(node: bpy.types.Node) -> bool:
    """Whether a Principled BSDF that transmits is mixed with another shader: the export then writes
    reflections in place of its transmission."""
    if node.type != "BSDF_PRINCIPLED":
        return False
    port = node.inputs[_TRANSMISSION]
    mixes = [
        link.to_node
        for link in node.outputs[0].links
        if link.to_node.type in ("MIX_SHADER", "ADD_SHADER")
    ]
    return (port.is_linked or port.default_value > 0) and any(
        beside_hole(each) is None for each in mixes
    )


@contextmanager
def with_plain_nodes(
    material: bpy.types.Material, nodes: Sequence[bpy.types.Node]
) -> Iterator[bpy.types.Material]:
    """The material, or a copy of it in which other nodes stand for those that the export does not
    know. `nodes` are those that it reads, also inside groups."""
    if not any(map(is_replaced, nodes)):
        yield material
        return
    copied = material.copy()
    groups: dict[bpy.types.NodeTree, bpy.types.NodeTree] = {}
    try:
        _replace_in(copied.node_tree, groups)
        yield copied
    finally:
        bpy.data.materials.remove(copied)
        for each in groups.values():
            bpy.data.node_groups.remove(each)


def _replace_in(
    tree: bpy.types.NodeTree, groups: dict[bpy.types.NodeTree, bpy.types.NodeTree]
) -> None:
    for node in list(tree.nodes):
        if node.type == "GROUP" and node.node_tree is not None:
            own = node.node_tree
            if own not in groups:
                groups[own] = own.copy()
                _replace_in(groups[own], groups)
            node.node_tree = groups[own]
        elif is_replaced(node):
            graph = NodeGraph(tree, is_new=False)
            if node.type == "BSDF_PRINCIPLED":
                _mix_glass(graph, node)
                continue
            if node.mute:
                _bypass(graph, node)
            elif node.bl_idname == _RAMP:
                _replace(tree, node.outputs[0], _ramp(graph, node, 3))
                if node.outputs[1].is_linked:
                    _replace(tree, node.outputs[1], _ramp(graph, node, 1))
            elif node.bl_idname in CURVES:
                share, value = (value_of(each) for each in node.inputs[:2])
                _replace(tree, node.outputs[0], add_curve(graph, node, share, value))
            elif node.bl_idname in NODES:
                _replace(tree, node.outputs[0], add_plain_displacement(graph, node, value_of))
            else:
                output = next(each for each in node.outputs if each.enabled)
                _replace(tree, output, _blend(graph, node))
            tree.nodes.remove(node)


def _mix_glass(graph: NodeGraph, node: bpy.types.Node) -> None:
    """Mixes a Glass BSDF into a Principled BSDF in place of its transmission."""
    port = node.inputs[_TRANSMISSION]
    metal = _apply(graph, "SUBTRACT", 1.0, value_of(node.inputs["Metallic"]))
    share = _apply(graph, "MULTIPLY", value_of(port), metal)
    for link in list(port.links):
        graph.tree.links.remove(link)
    port.default_value = 0.0
    same = {"Color": "Base Color", "Roughness": "Roughness", "IOR": "IOR"}
    inputs: dict[str | int, Any] = {to: value_of(node.inputs[of]) for to, of in same.items()}
    if node.inputs["Normal"].is_linked:
        inputs["Normal"] = value_of(node.inputs["Normal"])
    glass = graph.node("ShaderNodeBsdfGlass", inputs, distribution="GGX")
    mixed = graph.node("ShaderNodeMixShader", {0: share}, label=GLASS)
    _replace(graph.tree, node.outputs[0], mixed.outputs[0])
    for source, place in ((node, 1), (glass, 2)):
        graph.tree.links.new(source.outputs[0], mixed.inputs[place])


def _apply(graph: NodeGraph, operation: str, one: Any, other: Any) -> Any:
    """The result of an operation on numbers or sockets."""
    if isinstance(one, float) and isinstance(other, float):
        return one - other if operation == "SUBTRACT" else one * other
    return graph.math(operation, one, other)


def _bypass(graph: NodeGraph, node: bpy.types.Node) -> None:
    """Connects what a muted node passes on."""
    for link in list(node.internal_links):
        value = value_of(link.from_socket)
        if not isinstance(value, bpy.types.NodeSocket):
            of = graph.math if isinstance(value, float) else graph.vector
            value = of("ADD", value, 0.0)
        _replace(graph.tree, link.to_socket, value)


def _replace(
    tree: bpy.types.NodeTree, old: bpy.types.NodeSocket, new: bpy.types.NodeSocket
) -> None:
    for link in list(old.links):
        tree.links.new(new, link.to_socket)


def value_of(port: bpy.types.NodeSocket) -> Any:
    """What feeds a socket: another socket, a number or three."""
    if port.is_linked and not port.links[0].is_muted:
        return port.links[0].from_socket
    value = port.default_value
    return float(value) if isinstance(value, (int, float)) else tuple(value)[:3]


# colour ramps


def _ramp(graph: NodeGraph, node: bpy.types.Node, channels: int) -> bpy.types.NodeSocket:
    """The colour of a ramp, or its alpha: the first stop, and what each line between two stops
    adds to it."""
    stops = _stops(node.color_ramp)
    place = value_of(node.inputs[0])
    if channels == 1:
        found: Any = stops[0][1][3]
    else:
        found = tuple(stops[0][1][:3])
    for (start, before), (end, after) in pairwise(stops):
        change = [b - a for a, b in zip(before, after, strict=True)]
        if end - start < _TINY:
            share = graph.math("GREATER_THAN", place, start)
        else:
            share = _clamped(graph, "MULTIPLY_ADD", place, 1 / (end - start), start / (start - end))
        if channels == 1:
            found = graph.math("MULTIPLY_ADD", share, change[3], found)
        else:
            found = graph.vector("MULTIPLY_ADD", share, tuple(change[:3]), found)
    if isinstance(found, bpy.types.NodeSocket):
        return found
    return graph.math("ADD", found, 0.0) if channels == 1 else graph.vector("ADD", found, 0.0)


def _stops(ramp: bpy.types.ColorRamp) -> list[tuple[float, tuple[float, ...]]]:
    """Places and colours, with straight lines between them."""
    elements = sorted(ramp.elements, key=lambda each: each.position)
    if ramp.interpolation == "CONSTANT":
        first, *others = elements
        found = [(first.position, tuple(first.color))]
        for each in others:
            found += [(each.position, found[-1][1]), (each.position, tuple(each.color))]
        return found
    if ramp.interpolation == "LINEAR" and ramp.color_mode == "RGB":
        return [(each.position, tuple(each.color)) for each in elements]
    # splines begin before the first stop
    places = sorted({0.0, 1.0, *(each.position for each in elements)})
    found = [(places[0], tuple(ramp.evaluate(places[0])))]
    for start, end in pairwise(places):
        for part in range(1, _PARTS + 1):
            place = start + (end - start) * part / _PARTS
            found.append((place, tuple(ramp.evaluate(place))))
    return found


# blend modes


def _blend(graph: NodeGraph, node: bpy.types.Node) -> bpy.types.NodeSocket:
    if node.bl_idname == _OLD_MIX:
        ports, is_clamped, clamps_share = node.inputs, node.use_clamp, True
    else:
        ports = [each for each in node.inputs if each.enabled]
        is_clamped, clamps_share = node.clamp_result, node.clamp_factor
    share, a, b = (value_of(port) for port in ports[:3])
    if isinstance(share, tuple):
        share = sum(share) / 3
    if clamps_share:
        if isinstance(share, bpy.types.NodeSocket):
            share = _clamped(graph, "ADD", share, 0.0)
        else:
            share = min(1.0, max(0.0, share))
    found = _blended(graph, node.blend_type, share, a, b)
    if is_clamped:
        found = graph.vector("MINIMUM", graph.vector("MAXIMUM", found, 0.0), 1.0)
    return found


def _blended(graph: NodeGraph, kind: str, share: Any, a: Any, b: Any) -> bpy.types.NodeSocket:
    def of(operation: str, *values: Any) -> bpy.types.NodeSocket:
        return graph.vector(operation, *values)

    def towards(other: Any, by: Any = share) -> bpy.types.NodeSocket:
        """From `a` to another colour."""
        return of("MULTIPLY_ADD", of("SUBTRACT", other, a), by, a)

    def inverted(value: Any) -> bpy.types.NodeSocket:
        return of("SUBTRACT", 1.0, value)

    def between(start: float, end: Any) -> bpy.types.NodeSocket:
        """From a number to a colour, by the share."""
        return of("MULTIPLY_ADD", of("SUBTRACT", end, start), share, start)

    def is_positive(value: Any) -> bpy.types.NodeSocket:
        return of("CEIL", of("MINIMUM", of("ABSOLUTE", value), 1.0))

    if kind in _OF_HSV:
        return _blended_in_hsv(graph, kind, share, a, b)
    if kind == "MIX":
        return towards(b)
    if kind == "DARKEN":
        return towards(of("MINIMUM", a, b))
    if kind == "LIGHTEN":
        return towards(of("MAXIMUM", a, b))
    if kind == "MULTIPLY":
        return of("MULTIPLY", a, between(1.0, b))
    if kind == "SCREEN":
        return inverted(of("MULTIPLY", between(1.0, inverted(b)), inverted(a)))
    if kind == "ADD":
        return of("MULTIPLY_ADD", b, share, a)
    if kind == "SUBTRACT":
        return of("SUBTRACT", a, of("MULTIPLY", b, share))
    if kind == "DIVIDE":
        # where b is 0, a remains
        return towards(of("DIVIDE", a, b), of("MULTIPLY", is_positive(b), share))
    if kind == "DIFFERENCE":
        return towards(of("ABSOLUTE", of("SUBTRACT", a, b)))
    if kind == "EXCLUSION":
        both = of("MULTIPLY", of("MULTIPLY", a, b), 2.0)
        return of("MAXIMUM", towards(of("SUBTRACT", of("ADD", a, b), both)), 0.0)
    if kind == "SOFT_LIGHT":
        screen = inverted(of("MULTIPLY", inverted(b), inverted(a)))
        dark = of("MULTIPLY", of("MULTIPLY", inverted(a), b), a)
        return towards(of("MULTIPLY_ADD", a, screen, dark))
    if kind == "LINEAR_LIGHT":
        return of("MULTIPLY_ADD", of("MULTIPLY_ADD", b, 2.0, -1.0), share, a)
    if kind == "OVERLAY":
        dark = of("MULTIPLY", a, between(1.0, of("MULTIPLY", b, 2.0)))
        light = inverted(
            of("MULTIPLY", between(1.0, of("MULTIPLY", inverted(b), 2.0)), inverted(a))
        )
        # 1 from a half on
        side = of("FLOOR", of("MINIMUM", of("MAXIMUM", of("ADD", a, 0.5), 0.0), 1.0))
        return of("MULTIPLY_ADD", of("SUBTRACT", light, dark), side, dark)
    if kind == "DODGE":
        left = of("MAXIMUM", inverted(of("MULTIPLY", b, share)), _TINY)
        return of("MINIMUM", of("DIVIDE", a, left), 1.0)
    # BURN
    left = of("MAXIMUM", between(1.0, b), _TINY)
    burnt = inverted(of("DIVIDE", inverted(a), left))
    return of("MINIMUM", of("MAXIMUM", burnt, 0.0), 1.0)


def _blended_in_hsv(
    graph: NodeGraph, kind: str, share: Any, a: Any, b: Any
) -> bpy.types.NodeSocket:
    def parts(colour: Any) -> Any:
        return graph.node("ShaderNodeSeparateColor", {0: colour}, mode="HSV").outputs

    def joined(*values: Any) -> bpy.types.NodeSocket:
        ports = dict(enumerate(values))
        return graph.node("ShaderNodeCombineColor", ports, mode="HSV").outputs[0]

    def part_way(start: Any, end: Any, by: Any = share) -> bpy.types.NodeSocket:
        return graph.math("MULTIPLY_ADD", graph.math("SUBTRACT", end, start), by, start)

    hue, saturation, value = parts(a)
    of_b = parts(b)
    if kind == "VALUE":
        return joined(hue, saturation, part_way(value, of_b[2]))
    # grey has no hue
    grey = saturation if kind == "SATURATION" else of_b[1]
    by = graph.math("MULTIPLY", graph.math("GREATER_THAN", grey, 0.0), share)
    if kind == "SATURATION":
        return joined(hue, part_way(saturation, of_b[1], by), value)
    other = joined(of_b[0], saturation if kind == "HUE" else of_b[1], value)
    return graph.vector("MULTIPLY_ADD", graph.vector("SUBTRACT", other, a), by, a)


def _clamped(graph: NodeGraph, operation: str, *values: Any) -> bpy.types.NodeSocket:
    ports = dict(enumerate(values))
    return graph.node("ShaderNodeMath", ports, operation=operation, use_clamp=True).outputs[0]
