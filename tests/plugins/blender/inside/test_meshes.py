"""Meshes and weights of a real Blender scene."""

import bpy
import numpy as np
import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.painted_meshes import find_painted
from verdigris.plugins.blender.adapter import BlenderHost
from verdigris.plugins.blender.scene.meshes import arm_brush, unified_settings

from .conftest import new_material, set_material

NAME = "verdigris_weights"


def read(name="plane", weight_set=NAME):
    host = BlenderHost()
    return host.mesh(name, host.materials()[0], weight_set)


def faces_up(mesh):
    """Whether the winding agrees with the normals."""
    edges = mesh.position[:, 1:] - mesh.position[:, :1]
    return (np.cross(edges[:, 0], edges[:, 1])[:, None] * mesh.normal).sum(-1).min() > 0


def test_positions_have_y_up(harness, plane):
    plane.location = (1, 2, 3)
    mesh = read()
    # Blender's (x, y, z) is (x, z, -y): the plane lies at its height
    assert np.allclose(mesh.position[..., 1], 3)
    assert np.allclose(mesh.position[..., 2].mean(), -2)
    assert np.allclose(mesh.normal, (0, 1, 0), atol=1e-6)


def test_uvs_are_those_of_the_uv_map_for_renders(harness, plane):
    second = plane.data.uv_layers.new(name="second")
    second.uv.foreach_set("vector", np.full(len(second.uv) * 2, 0.25, np.float32))
    assert np.ptp(read().uv) == 1
    second.active_render = True
    assert (read().uv == 0.25).all()


def test_modifiers_count(harness, plane):
    before = len(read().position)
    plane.modifiers.new("more", "SUBSURF").levels = 1
    assert len(read().position) == 4 * before


@pytest.mark.parametrize("scale", [(-1, 1, 1), (2, 1, 0.5), (-1, -1, -1), (1, 1, 0)])
def test_a_scaled_or_mirrored_object_keeps_its_winding(harness, plane, scale):
    plane.scale = scale
    plane.rotation_euler = (0.3, 0.4, 0.5)
    mesh = read()
    assert faces_up(mesh)
    assert np.allclose(np.linalg.norm(mesh.normal, axis=-1), 1, atol=1e-5)


def test_only_faces_with_the_material_are_read(harness, plane):
    plane.data.materials.append(new_material("other"))
    plane.data.polygons[0].material_index = 1
    mesh = read()
    assert len(mesh.position) == 2 * (len(plane.data.polygons) - 1)
    assert mesh.notes == ("plane: 1 of 4 faces have another material",)


def test_a_material_of_a_modifier_is_found(harness, plane):
    set_material(plane, bpy.data.materials["spare"])
    host = BlenderHost()
    spare = next(each for each in host.materials() if each.name == "spare")
    assert host.meshes(spare) == ("plane",)
    assert len(host.mesh("plane", spare).position) == 8


def test_a_slot_without_faces_is_no_mesh_of_its_material(harness, plane):
    plane.data.materials.append(bpy.data.materials["spare"])
    host = BlenderHost()
    first, spare = host.materials()
    assert host.meshes(first) == ("plane",) and host.meshes(spare) == ()
    plane.data.polygons[1].material_index = 1
    assert host.meshes(first) == host.meshes(spare) == ("plane",)


def test_a_hidden_mesh_is_read_without_what_is_not_evaluated(harness, plane):
    plane.modifiers.new("more", "SUBSURF").levels = 1
    posed = read()
    plane.hide_viewport = True
    found = read()
    assert len(posed.position) == 4 * len(found.position) and not posed.notes
    assert found.notes == (
        "plane is read without its modifiers and shape keys: show it in the viewport",
    )


def test_selected_objects_come_first(harness, plane):
    other = plane.copy()
    other.name = "another"
    bpy.context.scene.collection.objects.link(other)
    host = BlenderHost()
    for chosen in (plane, other):
        for each in (plane, other):
            each.select_set(each == chosen)
        assert host.meshes(host.materials()[0])[0] == chosen.name
    assert [each.name for each in host.selected_materials()] == ["copper"]


@pytest.mark.parametrize(
    ("data_type", "domain"),
    [("FLOAT", "POINT"), ("FLOAT", "CORNER"), ("FLOAT", "FACE"), ("FLOAT_COLOR", "POINT")],
)
def test_weights_come_from_attributes_of_each_domain(harness, plane, data_type, domain):
    made = plane.data.attributes.new(NAME, data_type, domain)
    field = "value" if data_type == "FLOAT" else "color"
    for number, item in enumerate(made.data):
        setattr(item, field, number if field == "value" else (number, number, number, 1))
    mesh = read()
    plane.data.calc_loop_triangles()
    triangle = plane.data.loop_triangles[-1]
    expected = {"POINT": triangle.vertices, "CORNER": triangle.loops}.get(
        domain, [triangle.polygon_index] * 3
    )
    assert list(mesh.weights[-1]) == list(expected)
    assert BlenderHost().weight_sets("plane") == (NAME,)


def test_uvs_and_flags_are_no_weights(harness, plane):
    plane.data.attributes.new("flag", "BOOLEAN", "POINT")
    plane.data.attributes.new("edges", "FLOAT", "EDGE")
    assert BlenderHost().weight_sets("plane") == ()


def test_the_brush_starts_on_a_group_of_ones_and_a_stroke_counts(harness, plane):
    arm_brush(plane, NAME)
    assert bpy.context.mode == "PAINT_WEIGHT"
    assert bpy.context.view_layer.objects.active == plane
    assert plane.vertex_groups.active.name == NAME
    assert (read().weights == 1).all()
    settings = unified_settings()
    assert settings.weight == 0.5
    # what a stroke does: the brush's weight in the group
    plane.vertex_groups[NAME].add([0], settings.weight, "REPLACE")
    assert read().weights.max() == 4
    host = BlenderHost()
    painted = find_painted(host, host.materials()[0])
    assert painted is not None and painted.weights.max() > painted.weights.min()


def test_painting_again_keeps_what_was_painted(harness, plane):
    arm_brush(plane, NAME)
    plane.vertex_groups[NAME].add([0], 1.0, "REPLACE")
    bpy.ops.object.mode_set(mode="OBJECT")
    arm_brush(plane, NAME)
    assert read().weights.max() == 8
    assert [group.name for group in plane.vertex_groups] == [NAME]


def test_vertices_outside_of_the_group_are_normal(harness, plane):
    plane.vertex_groups.new(name=NAME).add([0], 1.0, "REPLACE")
    assert sorted(set(read().weights.ravel())) == [1, 8]


def test_an_attribute_that_no_brush_paints_is_an_error(harness, plane):
    plane.data.attributes.new(NAME, "FLOAT", "POINT")
    with pytest.raises(HostError, match="has no brush of numbers"):
        arm_brush(plane, NAME)
    assert bpy.context.mode == "OBJECT" and not plane.vertex_groups


def test_what_cannot_be_painted_on_is_an_error_and_stays_as_it_is(harness, plane, tmp_path):
    plane.hide_viewport = True
    with pytest.raises(HostError, match="plane is hidden: show it to paint on it"):
        arm_brush(plane, NAME)
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {plane.data})
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.meshes = [plane.data.name]
    linked = next(each for each in bpy.data.meshes if each.library)
    other = bpy.data.objects.new("other", linked)
    bpy.context.scene.collection.objects.link(other)
    with pytest.raises(HostError, match=r"is linked from .*library.blend: open that file"):
        arm_brush(other, NAME)
    assert not plane.vertex_groups and not other.vertex_groups and bpy.context.mode == "OBJECT"


def test_a_mesh_that_is_edited_is_read_as_it_is(harness, plane):
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    assert len(read().position) == 32
    bpy.ops.object.mode_set(mode="OBJECT")


def test_what_a_mesh_lacks_is_an_error(harness, plane):
    while plane.data.uv_layers:
        plane.data.uv_layers.remove(plane.data.uv_layers[0])
    plane.data.update()
    with pytest.raises(HostError, match="plane has no UV map: unwrap it"):
        read()
    bpy.ops.object.light_add()
    with pytest.raises(HostError, match="is not a mesh"):
        read(bpy.context.object.name)
