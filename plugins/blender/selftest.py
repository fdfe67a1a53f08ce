# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calls every function of the add-on in a new scene and writes a report.

blender -b -P selftest.py -- REPORT.json
python selftest.py REPORT.json      (with the module bpy)
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verdigris.plugins.common.selftest.scratch import Scratch


def make_scene(folder: Path) -> Scratch:
    """Makes an unsaved scene with images, a normal map, a displacement, nodes that the export
    leaves out, a material of a library, and one without a shader."""
    import bpy

    from verdigris.plugins.common.selftest import scratch as parts

    # without the windows of the factory settings: an artist may have others
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
    _write_library(folder / "library.blend")
    images = parts.write_images(folder)
    gold = _assigned("gold", Roughness=parts.ROUGHNESS_VALUE)
    colour = _node(gold, "ShaderNodeTexImage", image=bpy.data.images.load(str(images.colour)))
    _feed(gold, colour, "Color", "Base Color")
    normal = _node(gold, "ShaderNodeTexImage", image=bpy.data.images.load(str(images.normal)))
    normal.image.colorspace_settings.name = "Non-Color"
    bump = _node(gold, "ShaderNodeNormalMap")
    gold.node_tree.links.new(normal.outputs["Color"], bump.inputs["Color"])
    _feed(gold, bump, "Normal", "Normal")
    dents = _node(gold, "ShaderNodeDisplacement")
    gold.node_tree.links.new(colour.outputs["Color"], dents.inputs["Height"])
    output = gold.node_tree.get_output_node("ALL")
    gold.node_tree.links.new(dents.outputs[0], output.inputs["Displacement"])
    mixed = _assigned("mixed", Base_Color=(*parts.COLOUR_VALUE, 1))
    ramp, cells = _node(mixed, "ShaderNodeValToRGB"), _node(mixed, "ShaderNodeTexVoronoi")
    # a ramp of a constant is a constant
    noise = _node(mixed, "ShaderNodeTexNoise")
    mixed.node_tree.links.new(noise.outputs[0], ramp.inputs[0])
    _feed(mixed, ramp, "Color", "Roughness")
    _feed(mixed, cells, "Distance", "Metallic")
    bare = _assigned("bare")
    bare.node_tree.nodes.clear()
    plain = {parts.BASE_COLOUR: parts.COLOUR_VALUE, parts.ROUGHNESS: parts.ROUGHNESS_VALUE}
    files = {parts.BASE_COLOUR: images.colour.name, parts.NORMAL: images.normal.name}
    files[parts.DISPLACEMENT] = images.colour.name
    left_out = {parts.ROUGHNESS: ramp.name, parts.METALNESS: cells.name}
    return parts.Scratch(
        (
            parts.Expected("gold", {parts.ROUGHNESS: parts.ROUGHNESS_VALUE}, files),
            parts.Expected("mixed", {parts.BASE_COLOUR: parts.COLOUR_VALUE}, nodes=left_out),
            parts.Expected("cloth", plain, refused={"attach": "the material is linked"}),
        ),
        refused={"start_painting": parts.NO_WINDOW},
    )


def _write_library(file: Path) -> None:
    """Writes a material into a library and links it."""
    import bpy

    from verdigris.plugins.common.selftest import scratch as parts

    cloth = _material("cloth", Base_Color=(*parts.COLOUR_VALUE, 1), Roughness=parts.ROUGHNESS_VALUE)
    bpy.data.libraries.write(str(file), {cloth}, fake_user=True)
    bpy.data.materials.remove(cloth)
    with bpy.data.libraries.load(str(file), link=True) as (_, wanted):
        wanted.materials = ["cloth"]
    _assign(wanted.materials[0])


def _assigned(name: str, **values: Any) -> Any:
    return _assign(_material(name, **values))


def _assign(material: Any) -> Any:
    """Gives a new plane a material."""
    import bpy

    bpy.ops.mesh.primitive_plane_add()
    bpy.context.object.data.materials.append(material)
    return material


def _material(name: str, **values: Any) -> Any:
    """A material with a Principled BSDF and these values of its sockets."""
    import bpy

    material = bpy.data.materials.new(name)
    if material.node_tree is None:
        # before Blender 6, new materials may have no nodes
        material.use_nodes = True
    for socket, value in values.items():
        _shader(material).inputs[socket.replace("_", " ")].default_value = value
    return material


def _shader(material: Any) -> Any:
    return next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")


def _node(material: Any, kind: str, image: Any = None) -> Any:
    node = material.node_tree.nodes.new(kind)
    if image is not None:
        node.image = image
    return node


def _feed(material: Any, node: Any, output: str, socket: str) -> None:
    material.node_tree.links.new(node.outputs[output], _shader(material).inputs[socket])


if __name__ == "__main__":
    load = runpy.run_path(str(Path(__file__).with_name("launcher.py")))["load_addon"]
    load()
    import bpy

    from verdigris.plugins.common.selftest.walk import run_program

    given = runpy.run_path(str(Path(__file__).with_name("batch.py")))
    words = given["own_arguments"](sys.argv[1:], bpy.app.module, "")
    code = run_program("selftest.py", given["start"], make_scene, words)
    sys.stdout.flush()
    sys.exit(code)
