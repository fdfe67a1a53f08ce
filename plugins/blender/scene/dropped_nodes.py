# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Images in the place of nodes that Blender's MaterialX export leaves out or changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy

from verdigris.core.base.errors import HostError
from verdigris.core.base.text import unused_names

from .export_losses import dropped_outputs
from .node_graph import load_data
from .undo import push_undo, require_local

_SIZE = 1024
_TEMPORARY = ".verdigris"


def bake_to_images(
    material: bpy.types.Material, nodes: list[bpy.types.Node], folder: Path
) -> list[Path]:
    """Bakes nodes of a material with Cycles, and puts images into their place, as one undo step.
    The nodes stay in the tree without a connection."""
    require_local(material)
    if not nodes:
        raise HostError(f"{material.name}: no node outside of groups is left out: nothing to do")
    outputs = [
        (node, output)
        for node in nodes
        for output in dropped_outputs(node)
        if output.type != "SHADER"
    ]
    names = unused_names([f"{node.name}_{output.name}" for node, output in outputs])
    written = []
    with _bench_of(material) as bench:
        for (node, output), name in zip(outputs, names, strict=True):
            file = folder / f"{name}.exr"
            bench.bake(node.name, list(node.outputs).index(output), file)
            written.append(file)
    tree = material.node_tree
    for (node, output), file in zip(outputs, written, strict=True):
        reader = tree.nodes.new("ShaderNodeTexImage")
        reader.image, reader.label = load_data(file), f"{node.name}: {output.name}"
        reader.location = node.location.x, node.location.y - 200
        for link in list(output.links):
            tree.links.new(reader.outputs["Color"], link.to_socket)
    push_undo("Verdigris left-out nodes to images")
    return written


class _Bench:
    """A copy of a material whose output shows one node, on a copy of its mesh."""

    def __init__(self, material: bpy.types.Material, context: dict[str, object]) -> None:
        self._tree, self._context = material.node_tree, context
        self._shown = self._tree.nodes.new("ShaderNodeEmission")
        # Cycles bakes it, and an output for EEVEE alone shows it nothing
        output = self._tree.get_output_node("CYCLES") or self._tree.nodes.new(
            "ShaderNodeOutputMaterial"
        )
        self._tree.links.new(self._shown.outputs[0], output.inputs["Surface"])
        self._target = self._tree.nodes.new("ShaderNodeTexImage")
        self._tree.nodes.active = self._target

    def bake(self, node: str, output: int, file: Path) -> None:
        """Writes what an output of a node has over the unit square of uv."""
        self._tree.links.new(self._tree.nodes[node].outputs[output], self._shown.inputs["Color"])
        image = bpy.data.images.new(_TEMPORARY, _SIZE, _SIZE, float_buffer=True)
        try:
            image.colorspace_settings.name = "Non-Color"
            image.filepath_raw, image.file_format = str(file), "OPEN_EXR"
            self._target.image = image
            with bpy.context.temp_override(**self._context):
                bpy.ops.object.bake(type="EMIT", margin=16)
            image.save()
        finally:
            bpy.data.images.remove(image)


@contextmanager
def _bench_of(material: bpy.types.Material) -> Iterator[_Bench]:
    """A scene of its own, so that the artist's settings, selection and visibility stay."""
    copied, scene = material.copy(), bpy.data.scenes.new(_TEMPORARY)
    source = _mesh_with(material)
    if source is not None:
        mesh, place = source.data.copy(), source.matrix_world.copy()
    else:
        mesh, place = bpy.data.meshes.new(_TEMPORARY), None
        mesh.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [], [(0, 1, 2, 3)])
        mesh.uv_layers.new(name="UVMap").uv.foreach_set("vector", [0, 0, 1, 0, 1, 1, 0, 1])
    slots = max(1, len(mesh.materials))
    mesh.materials.clear()
    for _ in range(slots):
        mesh.materials.append(copied)
    holder = bpy.data.objects.new(_TEMPORARY, mesh)
    if place is not None:
        holder.matrix_world = place
    scene.collection.objects.link(holder)
    scene.render.engine, scene.cycles.samples = "CYCLES", 16
    layer = scene.view_layers[0]
    layer.objects.active = holder
    holder.select_set(True, view_layer=layer)
    context = {
        "scene": scene,
        "view_layer": layer,
        "active_object": holder,
        "object": holder,
        "selected_objects": [holder],
        "selected_editable_objects": [holder],
    }
    try:
        yield _Bench(copied, context)
    finally:
        bpy.data.objects.remove(holder)
        bpy.data.meshes.remove(mesh)
        bpy.data.scenes.remove(scene)
        bpy.data.materials.remove(copied)


def _mesh_with(material: bpy.types.Material) -> bpy.types.Object | None:
    """A mesh in the scene that has the material and a uv map."""
    return next(
        (
            each
            for each in bpy.context.scene.objects
            if each.type == "MESH" and each.data.uv_layers and material.name in each.data.materials
        ),
        None,
    )
