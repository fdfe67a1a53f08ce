# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values that Blender's MaterialX export leaves out or gets wrong: a copy of the material emits
them, and the nodes that the export makes of this emission feed the exported material."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from .node_graph import NodeGraph


@contextmanager
def emitting(
    material: bpy.types.Material, name: str, write: Callable[[NodeGraph], Any]
) -> Iterator[bpy.types.Material]:
    """A copy of a material whose surface emits the socket or value that a function makes in its
    tree."""
    copied = material.copy()
    copied.name = name
    try:
        tree = copied.node_tree
        emission = NodeGraph(tree, is_new=False).node("ShaderNodeEmission", {})
        graph = NodeGraph(tree, is_new=False)
        graph.feed(write(graph), emission.inputs["Color"])
        tree.links.new(emission.outputs[0], tree.get_output_node("ALL").inputs["Surface"])
        yield copied
    finally:
        bpy.data.materials.remove(copied)


def feed_emitted(stage: Any, path: str, other: str, port: Any, channel: int | None) -> None:
    """Feeds an input of an exported material with what another one emits: a channel, or all three
    as a vector. The other one is removed."""
    from pxr import Sdf, UsdShade

    lit, _, _ = UsdShade.Material(stage.GetPrimAtPath(other)).ComputeSurfaceSource("mtlx")
    (emission,) = lit.GetInput("edf").GetValueProducingAttributes()
    colour = UsdShade.Shader(emission.GetPrim()).GetInput("color")
    (source,) = colour.GetValueProducingAttributes()
    port.GetAttr().ClearConnections()
    if not UsdShade.Output.IsOutput(source):
        numbers = tuple(source.Get())
        port.Set(numbers if channel is None else numbers[channel])
    else:
        graph = source.GetPrim().GetParent().GetPath()
        layer, place = stage.GetRootLayer(), Sdf.Path(path).AppendChild(Sdf.Path(other).name)
        Sdf.CopySpec(layer, graph, layer, place)
        part = UsdShade.Shader.Define(stage, place.AppendChild("emitted"))
        part.CreateIdAttr(f"ND_{'convert_color3_vector3' if channel is None else 'extract_color3'}")
        given = part.CreateInput("in", Sdf.ValueTypeNames.Color3f)
        given.GetAttr().SetConnections([source.GetPath().ReplacePrefix(graph, place)])
        if channel is not None:
            part.CreateInput("index", Sdf.ValueTypeNames.Int).Set(channel)
        kind = port.GetTypeName()
        out = UsdShade.NodeGraph(stage.GetPrimAtPath(place)).CreateOutput("emitted", kind)
        out.ConnectToSource(part.CreateOutput("out", kind))
        port.ConnectToSource(out)
    stage.RemovePrim(other)
