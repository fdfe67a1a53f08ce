"""A real Blender with a scene of two materials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import MaterialX  # noqa: F401 - before that of Blender, which is older
import numpy as np
import pytest

bpy.utils.expose_bundled_modules()

import verdigris.plugins.blender as addon  # noqa: E402
from verdigris.plugins.blender import operators  # noqa: E402
from verdigris.plugins.blender.adapter import BlenderHost  # noqa: E402

from ...contract import Harness  # noqa: E402

COUNTS = ("objects", "meshes", "materials", "images", "scenes", "node_groups", "collections")


class BlenderHarness(Harness):
    """A plane with the first material, in a saved file."""

    def snapshot(self) -> Any:
        return (
            {kind: sorted(each.name for each in getattr(bpy.data, kind)) for kind in COUNTS},
            {each.name: _properties(each) for each in bpy.data.materials},
            {each.name: _attributes(each) for each in bpy.data.objects if each.type == "MESH"},
            [each.name for each in bpy.context.view_layer.objects.selected],
            bpy.context.mode,
        )

    def paint(self, mesh: str, weight: float) -> None:
        data = bpy.data.objects[mesh].data
        painted = data.attributes.get("verdigris_weights")
        if painted is None:
            painted = data.attributes.new("verdigris_weights", "FLOAT", "CORNER")
            painted.data.foreach_set("value", np.ones(len(data.loops), np.float32))
        data.calc_loop_triangles()
        for corner in data.loop_triangles[0].loops:
            painted.data[corner].value = weight

    def undo(self) -> None:
        bpy.ops.ed.undo()


def _properties(item: Any) -> dict[str, Any]:
    nodes = {node.name: node.location[:] for node in item.node_tree.nodes}
    return {"nodes": nodes, **{name: str(value) for name, value in item.items()}}


def _attributes(item: Any) -> Any:
    names = sorted(each.name for each in item.data.attributes if not each.name.startswith("."))
    return names, sorted(group.name for group in item.vertex_groups)


def new_material(name: str, **values: Any) -> bpy.types.Material:
    """A material with a Principled BSDF and these values of its sockets."""
    material = bpy.data.materials.new(name)
    if material.node_tree is None:
        material.use_nodes = True
    for socket, value in values.items():
        shader_of(material).inputs[socket.replace("_", " ")].default_value = value
    return material


def shader_of(material: bpy.types.Material) -> bpy.types.Node:
    return next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")


def feed(material: bpy.types.Material, socket: str, kind: str) -> bpy.types.Node:
    """Connects the first output of a new node to the shader."""
    node = material.node_tree.nodes.new(kind)
    output = next(each for each in node.outputs if each.enabled)
    material.node_tree.links.new(output, shader_of(material).inputs[socket])
    return node


def new_image(name: str, file: Path | None = None) -> bpy.types.Image:
    """A small image, in a file or only in memory."""
    image = bpy.data.images.new(name, 8, 8)
    values = np.random.default_rng(1).random((8, 8, 4)).astype(np.float32)
    values[..., 3] = 1
    image.pixels.foreach_set(values.ravel())
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        image.filepath_raw, image.file_format = str(file), "PNG"
        image.save()
    return image


@pytest.fixture
def plane(tmp_path):
    """An empty file with a plane, saved."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=2, y_subdivisions=2)
    plane = bpy.context.object
    plane.name = "plane"
    plane.data.materials.append(new_material("copper", Base_Color=(0.9, 0.4, 0.2, 1), Metallic=1))
    return plane


@pytest.fixture
def harness(plane, tmp_path):
    spare = new_material("spare")
    spare.use_fake_user = True
    scene = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    bpy.ops.ed.undo_push(message="made")
    return BlenderHarness(BlenderHost(), scene)


@pytest.fixture
def registered():
    """The add-on's operators and panels."""
    addon.register()
    yield
    addon.unregister()
    operators._Running.job = None


def set_material(item, material):
    """Gives an object a modifier that sets a material."""
    tree = bpy.data.node_groups.new("set", "GeometryNodeTree")
    for kind in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=kind, socket_type="NodeSocketGeometry")
    start, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    node = tree.nodes.new("GeometryNodeSetMaterial")
    node.inputs["Material"].default_value = material
    tree.links.new(start.outputs[0], node.inputs["Geometry"])
    tree.links.new(node.outputs[0], end.inputs[0])
    item.modifiers.new("set", "NODES").node_group = tree
