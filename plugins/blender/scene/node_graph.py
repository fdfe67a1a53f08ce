# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Trees of shader nodes: read from the output of a material, or written as formulas, where each
call makes a node and returns the socket of its result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import bpy

from verdigris.core.base.errors import HostError

ENGINES = {"ALL": "all engines", "EEVEE": "EEVEE", "CYCLES": "Cycles"}
"""For which an output can be, the first that is read first."""
_COLUMN, _ROW = 220, 260


class NodeGraph:
    """A tree whose nodes are made anew, or that gets more. Values are sockets, numbers or
    tuples."""

    def __init__(self, tree: bpy.types.NodeTree, is_new: bool = True) -> None:
        self.tree = tree
        if is_new:
            tree.nodes.clear()

    def node(self, kind: str, inputs: dict[str | int, Any], **settings: Any) -> bpy.types.Node:
        """A node of a type, with these values of its inputs and properties."""
        made = self.tree.nodes.new(kind)
        for name, value in settings.items():
            setattr(made, name, value)
        for port, value in inputs.items():
            self.feed(value, made.inputs[port])
        return made

    def feed(self, value: Any, port: bpy.types.NodeSocket) -> None:
        if isinstance(value, bpy.types.NodeSocket):
            self.tree.links.new(value, port)
        elif isinstance(value, tuple) and port.type == "RGBA":
            port.default_value = (*value, 1.0)
        elif isinstance(value, tuple) or port.type in ("VALUE", "INT"):
            port.default_value = value
        else:
            port.default_value = (value,) * len(port.default_value)

    def math(self, operation: str, *values: Any) -> bpy.types.NodeSocket:
        """An operation on numbers."""
        made = self.node("ShaderNodeMath", dict(enumerate(values)), operation=operation)
        return made.outputs[0]

    def vector(self, operation: str, *values: Any) -> bpy.types.NodeSocket:
        """The same on each of three numbers; a product of vectors is one number."""
        made = self.node("ShaderNodeVectorMath", dict(enumerate(values)), operation=operation)
        return made.outputs["Value" if operation == "DOT_PRODUCT" else "Vector"]

    def image(self, image: bpy.types.Image, uv: bpy.types.NodeSocket | None) -> bpy.types.Node:
        inputs = {} if uv is None else {"Vector": uv}
        return self.node("ShaderNodeTexImage", inputs, image=image, label=image.name)

    def uv(self, name: str) -> bpy.types.NodeSocket:
        return self.node("ShaderNodeUVMap", {}, uv_map=name).outputs["UV"]

    def split(self, vector: bpy.types.NodeSocket) -> tuple[bpy.types.NodeSocket, ...]:
        return tuple(self.node("ShaderNodeSeparateXYZ", {0: vector}).outputs)

    def joined(self, x: Any, y: Any, z: Any) -> bpy.types.NodeSocket:
        return self.node("ShaderNodeCombineXYZ", {0: x, 1: y, 2: z}).outputs[0]

    def arrange(self) -> None:
        """Places each node to the right of all nodes that feed it."""
        columns: dict[str, int] = {}

        def column(node: bpy.types.Node) -> int:
            if node.name not in columns:
                links = [link for port in node.inputs for link in port.links]
                columns[node.name] = 1 + max((column(link.from_node) for link in links), default=-1)
            return columns[node.name]

        rows: dict[int, int] = {}
        for node in self.tree.nodes:
            place = column(node)
            rows[place] = row = rows.get(place, -1) + 1
            node.location = place * _COLUMN, -row * _ROW


def output_of(material: bpy.types.Material) -> bpy.types.Node | None:
    """The output for all engines, or that for EEVEE, or that for Cycles."""
    tree = material.node_tree
    found = [tree.get_output_node(each) for each in ENGINES] if tree is not None else []
    return next((each for each in found if each is not None), None)


def nodes_behind(ports: Iterable[bpy.types.NodeSocket]) -> Iterator[bpy.types.Node]:
    """The nodes that feed sockets, also inside groups."""
    stack, seen = [link.from_node for port in ports for link in port.links], set()
    while stack:
        node = stack.pop()
        if node.as_pointer() in seen:
            continue
        seen.add(node.as_pointer())
        yield node
        if node.type == "GROUP" and node.node_tree is not None:
            stack += [each for each in node.node_tree.nodes if each.type == "GROUP_OUTPUT"]
        stack += [link.from_node for port in node.inputs for link in port.links]


def surface_of(material: bpy.types.Material) -> bpy.types.Node | None:
    """The shader at the output."""
    output = output_of(material)
    if output is None or not output.inputs["Surface"].is_linked:
        return None
    return output.inputs["Surface"].links[0].from_node


def nodes_read(material: bpy.types.Material) -> list[bpy.types.Node]:
    """The nodes that surface and displacement read, also inside groups."""
    output = output_of(material)
    ports = [output.inputs[name] for name in ("Surface", "Displacement")] if output else []
    return list(nodes_behind(ports))


def new_material(name: str) -> bpy.types.Material:
    """A material with a tree of nodes, which those of Blender 4 have only on request."""
    made = bpy.data.materials.new(name)
    if made.node_tree is None:
        made.use_nodes = True
    return made


def load_data(path: Path, space: str = "Non-Color") -> bpy.types.Image:
    """An image whose alpha does not change its colours."""
    try:
        image = bpy.data.images.load(str(path.absolute()), check_existing=True)
    except RuntimeError as failure:
        raise HostError(f"{path}: Blender cannot read it ({failure}): bake again") from None
    image.reload()
    image.colorspace_settings.name, image.alpha_mode = space, "CHANNEL_PACKED"
    return image
