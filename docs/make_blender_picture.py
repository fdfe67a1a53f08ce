"""Draws the picture of docs/BLENDER.md, with Blender's module bpy.

python docs/make_blender_picture.py SCENE.blend RENDERED.png

SCENE.blend has one object, whose material was baked with `batch.py --attach --viewport-textures`.
RENDERED.png is its bundle on the same object (File > Export > OBJ), drawn by
`verdigris render --view mesh --mesh OBJECT.obj --size 260`.
"""

from __future__ import annotations

import runpy
import sys
import tempfile
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "images" / "blender.png"


def pixels(file: Path) -> np.ndarray:
    image = bpy.data.images.load(str(file))
    found = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(found)
    return found.reshape(*reversed(image.size), 4)


def set_up(size: int) -> None:
    """A camera, a sun and a grey sky."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 48
    scene.render.resolution_x = scene.render.resolution_y = size
    scene.view_settings.view_transform = "Standard"
    scene.render.film_transparent = True
    scene.world = bpy.data.worlds.new("sky")
    if scene.world.node_tree is None:
        scene.world.use_nodes = True
    tree = scene.world.node_tree
    background = tree.nodes["Background"]
    # a gradient, so that metal has something to reflect
    ramp = tree.nodes.new("ShaderNodeTexGradient")
    place = tree.nodes.new("ShaderNodeTexCoord")
    turn = tree.nodes.new("ShaderNodeMapping")
    turn.inputs["Rotation"].default_value = (0, 0.6, 2.4)
    tree.links.new(place.outputs["Generated"], turn.inputs["Vector"])
    tree.links.new(turn.outputs["Vector"], ramp.inputs["Vector"])
    tree.links.new(ramp.outputs["Color"], background.inputs["Color"])
    background.inputs["Strength"].default_value = 1.6
    bpy.ops.object.camera_add(location=(0, -4.4, 0.6), rotation=(1.435, 0, 0))
    bpy.context.object.data.lens = 70
    scene.camera = bpy.context.object
    bpy.ops.object.light_add(type="SUN", rotation=(0.75, -0.45, 0.2))
    bpy.context.object.data.energy = 3.0


def main(scene: Path, rendered: Path) -> None:
    runpy.run_path(str(ROOT / "plugins" / "blender" / "launcher.py"))["load_addon"]()
    from verdigris_blender.scene.results import swap_look

    bpy.ops.wm.open_mainfile(filepath=str(scene.resolve()))
    (item,) = (each for each in bpy.context.scene.objects if each.type == "MESH")
    right = pixels(rendered.resolve())
    set_up(right.shape[0])
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("material", "look"):
            bpy.context.scene.render.filepath = str(Path(folder, f"{name}.png"))
            bpy.ops.render.render(write_still=True)
            parts.append(pixels(Path(folder, f"{name}.png")))
            swap_look(item.active_material)
    # the backdrop of the last picture, a column without an object
    backdrop = right[:, :1, :3]
    for part in parts:
        part[..., :3] = part[..., :3] + (1 - part[..., 3:]) * backdrop
        part[..., 3] = 1
    sheet = np.concatenate([*parts, right], axis=1)
    image = bpy.data.images.new("sheet", sheet.shape[1], sheet.shape[0])
    image.pixels.foreach_set(sheet.ravel())
    image.filepath_raw, image.file_format = str(TARGET), "PNG"
    image.save()
    print(TARGET)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
