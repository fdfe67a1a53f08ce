# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rungs of a ladder as levels of detail: a collection and a material for each."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import BASE_COLOR, VIEWPORT_SUFFIX, LadderLook, RungLook
from verdigris.core.settings.rung_names import NEURAL

from .meshes import RUNG, objects_with, world_y_up
from .results import MADE_FOR, connect, fill_likeness, load_image, node_of, note_result
from .undo import push_undo, require_local

LEVELS_OF = "verdigris_levels_of"
"""Of a collection: the material whose levels are in it."""
BELOW = "verdigris_below_pixels"
COLOURS = "verdigris_vertex"
"""The colour attribute of the rung of vertex colours."""


def attach_rungs(material: bpy.types.Material, ladder: LadderLook) -> str:
    """Makes a collection with a collection for each rung. The neural one shows the objects
    themselves; those of the others are copies, hidden until their collection is shown."""
    require_local(material)
    objects = objects_with(material)
    if not objects:
        raise HostError(f"{material.name}: no mesh of the scene has it: assign it to one")
    # Blender has no node of the surface shaders of MaterialX
    rungs = [each for each in ladder.rungs if each.shader is None]
    images = {rung.name: _images_of(rung) for rung in rungs}
    colours = {each.name: _read_vertices(each) for each in rungs if each.vertices}
    if ladder.result is not None:
        note_result(material, ladder.result)
    _remove_levels(material)
    top = bpy.data.collections.new(f"{material.name} levels")
    top[LEVELS_OF] = material
    bpy.context.scene.collection.children.link(top)
    for number, rung in enumerate(rungs):
        level = bpy.data.collections.new(f"{material.name} LOD{number} {rung.name}")
        level[RUNG] = rung.name
        if rung.below_pixels:
            level[BELOW] = rung.below_pixels
        top.children.link(level)
        shown = material
        if rung.name != NEURAL:
            shown = _material_of(material, rung, images[rung.name])
            level.hide_viewport = level.hide_render = True
        for item in objects:
            if rung.name == NEURAL:
                level.objects.link(item)
                continue
            copied = _copy_of(item, material, shown)
            copied[RUNG] = rung.name
            level.objects.link(copied)
            if rung.name in colours:
                _colour(copied, colours[rung.name])
    push_undo("Verdigris levels of detail")
    names = ", ".join(each.name for each in rungs)
    return f"Levels of detail in the collection {top.name!r}: {names}"


def _remove_levels(material: bpy.types.Material) -> None:
    for top in [each for each in bpy.data.collections if each.get(LEVELS_OF) == material]:
        for level in tuple(top.children):
            for item in [each for each in level.objects if RUNG in each]:
                mesh = item.data
                bpy.data.objects.remove(item)
                if mesh is not None and not mesh.users:
                    bpy.data.meshes.remove(mesh)
            bpy.data.collections.remove(level)
        bpy.data.collections.remove(top)


def _images_of(rung: RungLook) -> dict[str, bpy.types.Image]:
    images = {kind: load_image(path, kind) for kind, path in rung.textures.items()}
    if rung.light is not None:
        images[BASE_COLOR] = load_image(rung.light, BASE_COLOR)
    return images


def _read_vertices(rung: RungLook) -> tuple[np.ndarray, np.ndarray]:
    assert rung.vertices is not None
    try:
        with np.load(rung.vertices) as found:
            return found["position"], found["colour"]
    except (OSError, ValueError, KeyError) as failure:
        raise HostError(f"{rung.vertices}: cannot be read ({failure}): bake again") from None


def _material_of(
    material: bpy.types.Material, rung: RungLook, images: dict[str, bpy.types.Image]
) -> bpy.types.Material:
    made = next(
        (each for each in bpy.data.materials
         if each.get(MADE_FOR) == material and each.get(RUNG) == rung.name),
        None,
    )  # fmt: skip
    if made is None:
        made = bpy.data.materials.new(f"{material.name}_{rung.name}{VIEWPORT_SUFFIX}")
        made[MADE_FOR], made[RUNG] = material, rung.name
        made.node_tree.nodes.clear()
    if rung.textures:
        fill_likeness(made, images)
    else:
        _fill_unlit(made, rung, images.get(BASE_COLOR))
    return made


def _fill_unlit(made: bpy.types.Material, rung: RungLook, image: bpy.types.Image | None) -> None:
    """Light as it is stored, whatever the scene's lights are."""
    tree = made.node_tree
    emission = node_of(tree, "ShaderNodeEmission", "Verdigris light", (0, 300))
    output = node_of(tree, "ShaderNodeOutputMaterial", "Verdigris output", (500, 300))
    if image is None:
        source = node_of(tree, "ShaderNodeVertexColor", "Verdigris vertices", (-300, 300))
        source.layer_name = COLOURS
    else:
        source = node_of(tree, "ShaderNodeTexImage", "Verdigris texture", (-300, 300))
        source.image = image
        if rung.uv_set:
            place = node_of(tree, "ShaderNodeUVMap", "Verdigris uv", (-500, 300))
            place.uv_map = rung.uv_set
            connect(tree, place.outputs["UV"], source.inputs["Vector"])
    connect(tree, source.outputs["Color"], emission.inputs["Color"])
    shader = emission.outputs["Emission"]
    if rung.has_alpha:
        clear = node_of(tree, "ShaderNodeBsdfTransparent", "Verdigris holes", (0, 150))
        mixed = node_of(tree, "ShaderNodeMixShader", "Verdigris opacity", (250, 300))
        connect(tree, source.outputs["Alpha"], mixed.inputs[0])
        connect(tree, clear.outputs["BSDF"], mixed.inputs[1])
        connect(tree, shader, mixed.inputs[2])
        shader = mixed.outputs["Shader"]
    connect(tree, shader, output.inputs["Surface"])


def _copy_of(
    item: bpy.types.Object, material: bpy.types.Material, shown: bpy.types.Material
) -> bpy.types.Object:
    """An object of the same mesh with another material in the slots of one."""
    copied = item.copy()
    copied.name = f"{item.name} {shown.get(RUNG, '')}"
    for slot, before in zip(copied.material_slots, item.material_slots, strict=True):
        if before.material == material:
            slot.link = "OBJECT"
            slot.material = shown
    return copied


def _colour(item: bpy.types.Object, known: Sequence[np.ndarray]) -> None:
    """Gives an object a mesh of its own, with the colours of the nearest vertices."""
    position, colour = known
    item.data = mesh = item.data.copy()
    place = world_y_up(item, mesh)
    found = colour[_nearest(place, position)]
    attribute = mesh.color_attributes.new(COLOURS, "FLOAT_COLOR", "POINT")
    attribute.data.foreach_set("color", np.ascontiguousarray(found, np.float32).ravel())


def _nearest(wanted: np.ndarray, known: np.ndarray) -> np.ndarray:
    from mathutils.kdtree import KDTree

    tree = KDTree(len(known))
    for number, each in enumerate(known):
        tree.insert(each, number)
    tree.balance()
    return np.array([tree.find(each)[1] for each in wanted])
