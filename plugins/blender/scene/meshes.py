# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The meshes of a Blender scene, with their weights, which artists paint in Weight Paint."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from verdigris.core.base.errors import HostError
from verdigris.core.geometry.mesh import FROM_Z_UP
from verdigris.core.hosts.host import NORMAL_WEIGHT, HostMesh

from .undo import push_undo, require_local

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAINT_SCALE = 8.0
"""The weight of a full stroke. Vertex groups contain 0 to 1, so that 1/8 in a group is a weight of
1."""

FIRST_STROKE = 4.0
"""The weight that the brush starts with."""

RUNG = "verdigris_rung"
"""A property of a material or of a copy of an object: the rung of a ladder that it shows."""

_VALUES = {"FLOAT": ("value", 1), "FLOAT_COLOR": ("color", 4), "BYTE_COLOR": ("color", 4)}
_DOMAINS = ("POINT", "CORNER", "FACE")


def require_object(name: str) -> bpy.types.Object:
    """The mesh object with this name in the scene."""
    found = next((each for each in bpy.context.scene.objects if each.name_full == name), None)
    if found is None:
        raise HostError(f"the scene has no object {name!r}: refresh the list")
    if found.type != "MESH":
        raise HostError(f"{name} is not a mesh: convert it to one (Object > Convert)")
    return found


def objects_with(material: bpy.types.Material) -> list[bpy.types.Object]:
    """The mesh objects with a material, also through modifiers; selected ones first."""
    graph = bpy.context.evaluated_depsgraph_get()
    found = []
    for each in bpy.context.scene.objects:
        if each.type != "MESH" or RUNG in each:
            # copies that show rungs have the same mesh, with other materials
            continue
        if _is_on_faces(each.evaluated_get(graph), material):
            found.append(each)
    selected = set(bpy.context.view_layer.objects.selected)
    return sorted(found, key=lambda each: each not in selected)


def weight_sets(item: bpy.types.Object) -> tuple[str, ...]:
    """Vertex groups, and attributes of numbers and colours."""
    with evaluated(item) as (_, mesh):
        names = [each.name for each in mesh.attributes if _is_weight(each)]
    return tuple(dict.fromkeys((*(group.name for group in item.vertex_groups), *names)))


def read_mesh(
    item: bpy.types.Object, material: bpy.types.Material | None, weight_set: str
) -> HostMesh:
    """The triangles of an object after its modifiers, with only the faces of this material."""
    name = item.name_full
    with evaluated(item) as (made, mesh):
        mesh.calc_loop_triangles()
        corners = _values(mesh.loop_triangles, "loops", np.int32, 3)
        faces = _values(mesh.loop_triangles, "polygon_index", np.int32)
        layer = next((each for each in mesh.uv_layers if each.active_render), None)
        if layer is None:
            raise HostError(f"{name} has no UV map: unwrap it (UV > Unwrap)")
        vertex = _values(mesh.loops, "vertex_index", np.int32)
        position = _values(mesh.vertices, "co", np.float32, 3)
        normal = _values(mesh.corner_normals, "vector", np.float32, 3)
        uv = _values(layer.uv, "vector", np.float32, 2)
        weights = _weights(item, mesh, weight_set, vertex)
        kept = _faces_with(made, mesh, material)
        to_world = world_from_object(made)
    notes: tuple[str, ...] = ()
    if not kept.all():
        corners = corners[kept[faces]]
        notes = (f"{name}: {int((~kept).sum())} of {len(kept)} faces have another material",)
    if not made.is_evaluated and (item.modifiers or item.data.shape_keys):
        notes += (f"{name} is read without its modifiers and shape keys: show it in the viewport",)
    if not len(corners):
        raise HostError(f"{name} has no faces with this material")
    turn = to_world[:3, :3]
    if np.linalg.det(turn) < 0:
        # a mirrored object turns the other way round
        corners = corners[:, ::-1]
    place = position @ turn.T + to_world[:3, 3]
    turned = normal @ _for_normals(turn).T
    turned /= np.maximum(np.linalg.norm(turned, axis=-1, keepdims=True), 1e-12)
    return HostMesh(
        name,
        place.astype(np.float32)[vertex[corners]],
        turned.astype(np.float32)[corners],
        np.ascontiguousarray(uv[corners]),
        None if weights is None else weights[corners],
        notes,
    )


def world_y_up(item: bpy.types.Object, mesh: bpy.types.Mesh) -> NDArray[np.float32]:
    """The vertices of a mesh where its object has them, in the space of `read_mesh`."""
    to_world = world_from_object(item)
    place = _values(mesh.vertices, "co", np.float32, 3) @ to_world[:3, :3].T + to_world[:3, 3]
    return place.astype(np.float32)


def world_from_object(item: bpy.types.Object) -> NDArray[np.float64]:
    """The matrix from an object's own space to the world with y up."""
    return np.asarray(FROM_Z_UP.T @ np.array(item.matrix_world, np.float64))


@contextmanager
def evaluated(item: bpy.types.Object) -> Iterator[tuple[bpy.types.Object, bpy.types.Mesh]]:
    """The object and its mesh after modifiers, with all attributes."""
    if item.mode == "EDIT":
        item.update_from_editmode()
    graph = bpy.context.evaluated_depsgraph_get()
    made = item.evaluated_get(graph)
    try:
        mesh = made.to_mesh(preserve_all_data_layers=True, depsgraph=graph)
        yield made, mesh
    finally:
        made.to_mesh_clear()


def _values(items: Any, name: str, kind: Any, size: int = 1) -> NDArray[Any]:
    found = np.empty(len(items) * size, kind)
    items.foreach_get(name, found)
    return found if size == 1 else found.reshape(-1, size)


def _for_normals(turn: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix for normals that belongs to a matrix for positions. It needs no inverse, so that
    flat objects work, too."""
    cofactors = np.stack([np.cross(turn[i - 2], turn[i - 1]) for i in range(3)])
    return -cofactors if np.linalg.det(turn) < 0 else cofactors


def _is_weight(attribute: bpy.types.Attribute) -> bool:
    is_shown = not attribute.name.startswith(".") and not attribute.is_internal
    return is_shown and attribute.data_type in _VALUES and attribute.domain in _DOMAINS


def _weights(
    item: bpy.types.Object, mesh: bpy.types.Mesh, name: str, vertex: NDArray[np.int32]
) -> NDArray[np.float32] | None:
    """The weight of each corner; None if there is no such set."""
    if name in item.vertex_groups:
        return _of_group(mesh, item.vertex_groups[name].index)[vertex]
    attribute = mesh.attributes.get(name)
    if attribute is None or not _is_weight(attribute):
        return None
    field, size = _VALUES[attribute.data_type]
    found = _values(attribute.data, field, np.float32, size)
    if size > 1:
        found = found[:, :3].mean(1)
    if attribute.domain == "POINT":
        return found[vertex]
    if attribute.domain == "FACE":
        return np.repeat(found, _values(mesh.polygons, "loop_total", np.int32))
    return found


def _of_group(mesh: bpy.types.Mesh, index: int) -> NDArray[np.float32]:
    """The weights of the vertices. Vertices outside of the group have a normal weight."""
    found = np.full(len(mesh.vertices), NORMAL_WEIGHT, np.float32)
    # Blender has no array with these values
    for number, each in enumerate(mesh.vertices):
        for member in each.groups:
            if member.group == index:
                found[number] = member.weight * PAINT_SCALE
    return found


def _slots_with(
    made: bpy.types.Object, mesh: bpy.types.Mesh, material: bpy.types.Material | None
) -> NDArray[np.bool_]:
    """A mask of the slots with a material."""
    slots = [slot.material for slot in made.material_slots]
    # modifiers can add materials after those of the slots
    slots += list(mesh.materials)[len(slots) :]
    return np.array([one is not None and one.original == material for one in slots], bool)


def _is_on_faces(made: bpy.types.Object, material: bpy.types.Material) -> bool:
    """Whether faces of an object have a material. A mesh in edit mode has no list of its faces, so
    its slots count."""
    has_it = _slots_with(made, made.data, material)
    if not has_it.any() or has_it.all() or made.data.is_editmode:
        return bool(has_it.any())
    index = _values(made.data.polygons, "material_index", np.int32)
    return bool(has_it[np.minimum(index, len(has_it) - 1)].any())


def _faces_with(
    made: bpy.types.Object, mesh: bpy.types.Mesh, material: bpy.types.Material | None
) -> NDArray[np.bool_]:
    """A mask of the faces with a material."""
    has_it = _slots_with(made, mesh, material)
    if material is None or not has_it.any():
        return np.ones(len(mesh.polygons), bool)
    index = _values(mesh.polygons, "material_index", np.int32)
    return has_it[np.minimum(index, len(has_it) - 1)]


def arm_brush(item: bpy.types.Object, name: str) -> None:
    """Gives an object a vertex group of ones if it has none, and starts Weight Paint on it."""
    require_local(item)
    require_local(item.data)
    if not item.visible_get():
        raise HostError(f"{item.name} is hidden: show it to paint on it")
    group = item.vertex_groups.get(name)
    if group is None and name in item.data.attributes:
        raise HostError(
            f"{item.name}: {name!r} is an attribute, for which Blender has no brush of numbers: "
            "rename it (Object Data > Attributes), or choose another name"
        )
    active = bpy.context.view_layer.objects.active
    if active is not None and active != item and active.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in tuple(bpy.context.view_layer.objects.selected):
        other.select_set(False)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    if group is None:
        if item.mode != "OBJECT":
            # groups cannot be filled in other modes
            bpy.ops.object.mode_set(mode="OBJECT")
        group = item.vertex_groups.new(name=name)
        everything = range(len(item.data.vertices))
        group.add(everything, NORMAL_WEIGHT / PAINT_SCALE, "REPLACE")
    item.vertex_groups.active_index = group.index
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    settings = unified_settings()
    settings.use_unified_weight = True
    settings.weight = FIRST_STROKE / PAINT_SCALE
    push_undo("Verdigris weights")


def unified_settings() -> bpy.types.UnifiedPaintSettings:
    """The weight that all brushes share: of Weight Paint, or in Blender 4 of all modes."""
    tools = bpy.context.tool_settings
    of_mode = getattr(tools.weight_paint, "unified_paint_settings", None)
    return of_mode or tools.unified_paint_settings
