# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rungs of a ladder as levels of detail, each a collection and a material. Stored light is
emitted: its nodes read the textures as the shaders of docs/LADDER.md do."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import MIRROR_RIM, VIEWPORT_SUFFIX, LadderLook, RungLook, StoredLight
from verdigris.core.hosts.ladder_looks import read_vertices

from .meshes import RUNG, evaluated, objects_with, world_from_object, world_y_up
from .node_graph import NodeGraph, load_data, new_material
from .results import MADE_FOR, note_result
from .surface_nodes import SHADERS, add_surface
from .undo import push_undo, require_local

LEVELS_OF = "verdigris_levels_of"
"""A property of a collection: the material whose levels it contains."""
BELOW = "verdigris_below_pixels"
AXES = "verdigris_x", "verdigris_y", "verdigris_z"
"""Properties of an object: the axes of the ladder's mesh, in the object's own space."""
_OCTAHEDRAL = "Verdigris octahedral map"
COLOURS = "verdigris_vertex"
"""The colour attribute of the rung of vertex colours."""

Images = dict[str, bpy.types.Image]


def attach_rungs(material: bpy.types.Material, ladder: LadderLook) -> str:
    """Makes a collection with a collection for each rung. The collection of the material itself
    contains the objects; the others contain copies, hidden until their collection is shown."""
    require_local(material)
    if MADE_FOR in material:
        raise HostError(
            f"{material.name} is made by Verdigris: choose the material that it was made for"
        )
    objects = objects_with(material)
    if not objects:
        raise HostError(
            f"{material.name}: no mesh of the scene has it: assign it to one, or make instances "
            "real (Object > Apply > Make Instances Real)"
        )
    rungs = [each for each in ladder.rungs if not each.shader or each.shader.category in SHADERS]
    images = {rung.name: _images_of(rung) for rung in rungs}
    colours = {each.name: read_vertices(each.vertices) for each in rungs if each.vertices}
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
        if not rung.is_material:
            shown = _material_of(material, rung, images[rung.name], objects[0].data)
            level.hide_viewport = level.hide_render = True
        for item in objects:
            if rung.is_material:
                level.objects.link(item)
                continue
            copied = _copy_of(item, material, shown)
            copied[RUNG] = rung.name
            note_axes(copied)
            level.objects.link(copied)
            if rung.name in colours:
                _colour(copied, item, colours[rung.name])
    push_undo("Verdigris levels of detail")
    names = ", ".join(each.name for each in rungs)
    others = [each.shader.category for each in ladder.rungs if each.shader and each not in rungs]
    note = f"; Blender gets no nodes of {others[0]}: use surface.mtlx" if others else ""
    left = [each.name for each in objects if material not in _materials(each)]
    if left:
        note += f"; copies of {', '.join(left)} keep the material that a modifier sets"
    return f"Levels of detail in the collection {top.name!r}: {names}{note}"


def _materials(item: bpy.types.Object) -> list[bpy.types.Material | None]:
    return [slot.material for slot in item.material_slots]


def _remove_levels(material: bpy.types.Material) -> None:
    """Removes what was made for another ladder. Objects that the artist has put there go to the
    scene."""
    for top in [each for each in bpy.data.collections if each.get(LEVELS_OF) == material]:
        made = [each for each in top.children if RUNG in each]
        for item in [each for level in made for each in level.objects if RUNG in each]:
            mesh = item.data
            bpy.data.objects.remove(item)
            if mesh is not None and not mesh.users:
                bpy.data.meshes.remove(mesh)
        kept = bpy.context.scene.collection
        for level in (top, *made):
            for item in [
                each for each in level.objects if {*each.users_collection} <= {top, *made}
            ]:
                kept.objects.link(item)
            for other in [each for each in level.children if each not in made]:
                if other.name not in kept.children:
                    kept.children.link(other)
        for level in (*made, top):
            bpy.data.collections.remove(level)


def _images_of(rung: RungLook) -> dict[str, bpy.types.Image]:
    images = {}
    if rung.light is not None:
        images |= {use: load_data(path) for use, path in rung.light.files.items()}
    for name, each in rung.shader.textures.items() if rung.shader else ():
        images[name] = load_data(each.file, "sRGB" if each.is_colour else "Non-Color")
    return images


def _material_of(
    material: bpy.types.Material,
    rung: RungLook,
    images: dict[str, bpy.types.Image],
    mesh: bpy.types.Mesh,
) -> bpy.types.Material:
    made = next(
        (each for each in bpy.data.materials
         if each.get(MADE_FOR) == material and each.get(RUNG) == rung.name),
        None,
    )  # fmt: skip
    if made is None:
        made = new_material(f"{material.name}_{rung.name}{VIEWPORT_SUFFIX}")
        made[MADE_FOR], made[RUNG] = material, rung.name
    graph = NodeGraph(made.node_tree)
    if rung.shader is not None:
        uv_map = _uv_map(mesh, rung.shader.uv_set, True)
        add_surface(graph, rung.shader, images, uv_map)
        return made
    if rung.light is not None:
        wanted, first = rung.light.uv_set, rung.light.uv_set_of_detail
        sets = _uv_map(mesh, wanted, wanted == first), _uv_map(mesh, first, True)
        light, alpha = add_light(graph, rung.light, images, *sets)
    else:
        light, alpha = graph.node("ShaderNodeVertexColor", {}, layer_name=COLOURS).outputs
    emit(graph, light, alpha if rung.has_alpha else None)
    return made


def _uv_map(mesh: bpy.types.Mesh, uv_set: str, is_first: bool) -> str:
    """The uv map of a set. Importers rename uv maps: if none has the name, the ladder's first set
    is the map that renders, and any other set the last map."""
    layers = mesh.uv_layers
    if uv_set in layers or not layers:
        return uv_set
    return next(each for each in layers if each.active_render).name if is_first else layers[-1].name


def _copy_of(
    item: bpy.types.Object, material: bpy.types.Material, shown: bpy.types.Material
) -> bpy.types.Object:
    """An object with the same mesh, and another material in the slots of this one."""
    copied = item.copy()
    copied.name = f"{item.name} {shown.get(RUNG, '')}"
    for slot, before in zip(copied.material_slots, item.material_slots, strict=True):
        if before.material == material:
            slot.link = "OBJECT"
            slot.material = shown
    return copied


def _colour(copied: bpy.types.Object, item: bpy.types.Object, known: Sequence[np.ndarray]) -> None:
    """Gives a copy of an object a mesh of its own, with the colours of the nearest vertices. The
    ladder's mesh may be the object at rest, or as modifiers and shape keys pose it."""
    position, colour = known
    with evaluated(item) as (made, posed):
        places = [world_y_up(item, item.data)]
        if len(posed.vertices) == len(item.data.vertices):
            places.append(world_y_up(made, posed))
    index, _ = min((_nearest(each, position) for each in places), key=lambda found: found[1])
    copied.data = mesh = item.data.copy()
    attribute = mesh.color_attributes.new(COLOURS, "FLOAT_COLOR", "POINT")
    attribute.data.foreach_set("color", np.ascontiguousarray(colour[index], np.float32).ravel())


def _nearest(wanted: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, float]:
    """The nearest known position of each position, and the sum of the distances."""
    from mathutils.kdtree import KDTree

    tree = KDTree(len(known))
    for number, each in enumerate(known):
        tree.insert(each, number)
    tree.balance()
    found = [tree.find(each)[1:] for each in wanted]
    return np.array([number for number, _ in found]), sum(far for _, far in found)


def note_axes(item: bpy.types.Object) -> None:
    """Notes the axes of the ladder's mesh, so that the reflection turns with the object."""
    for name, row in zip(AXES, world_from_object(item)[:3, :3], strict=True):
        item[name] = [float(each) for each in row]


def add_light(
    graph: NodeGraph, light: StoredLight, images: Images, uv_set: str, uv_set_of_detail: str
) -> tuple[bpy.types.NodeSocket, bpy.types.NodeSocket]:
    """The nodes that read stored light, and its opacity."""
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
    """The place on the map of the direction that mirrors the view direction."""
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
    """The group that finds a direction on the map. All materials share it."""
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
