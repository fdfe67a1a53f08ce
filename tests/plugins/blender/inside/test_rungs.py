"""Rungs of a ladder in a real Blender: as levels of detail, and as its glTF importer reads them."""

import json
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.hosts.host import LadderLook, RungLook, ShowsRungs
from verdigris.core.ladder.mesh.mesh_surface import Surface
from verdigris.core.ladder.output.gltf import write_gltf
from verdigris.core.ladder.rung import Rung
from verdigris.core.ladder.textures.texture_files import Written
from verdigris.core.ladder.views.scene import Scene
from verdigris.plugins.blender.adapter import BlenderHost

from .conftest import new_image, shader_of

LIT = ("base_color", "roughness", "metalness", "normal", "opacity")


def picture(file):
    new_image(file.stem, file)
    bpy.data.images.remove(bpy.data.images[file.stem])
    return file


@pytest.fixture
def ladder(harness, tmp_path):
    """Of the plane: vertices at x = 1 are red, the others are black and half there."""
    mesh = harness.host.mesh("plane", harness.first)
    position = np.unique(mesh.position.reshape(-1, 3), axis=0)
    colour = np.zeros((len(position), 4), np.float32)
    colour[:, 3] = 0.5
    colour[position[:, 0] > 0.9] = (2, 0, 0, 1)
    np.savez(tmp_path / "vertex_colours.npz", position=position, colour=colour)
    files = {kind: picture(tmp_path / f"pbr_{kind}.png") for kind in LIT}
    light, vertices = picture(tmp_path / "unlit_shown.png"), tmp_path / "vertex_colours.npz"
    return LadderLook(
        "copper",
        (
            RungLook("neural", "Neural material"),
            RungLook("pbr", "glTF textures", 512, files),
            RungLook("unlit", "One unlit texture", 64, {}, light, "UVMap", None, True),
            RungLook("vertex", "Vertex colours", None, {}, None, "", vertices),
        ),
    )  # fmt: skip


def levels():
    return {each["verdigris_rung"]: each for each in bpy.data.collections["copper levels"].children}


def test_each_rung_is_a_collection_with_the_mesh_in_its_material(harness, ladder):
    assert isinstance(harness.host, ShowsRungs)
    said = harness.host.attach_rungs(harness.first, ladder)
    assert said == (
        "Levels of detail in the collection 'copper levels': neural, pbr, unlit, vertex"
    )
    found = levels()
    assert list(found) == ["neural", "pbr", "unlit", "vertex"]
    plane = bpy.data.objects["plane"]
    assert list(found["neural"].objects) == [plane] and not found["neural"].hide_render
    assert found["pbr"]["verdigris_below_pixels"] == 512
    for name in ("pbr", "unlit", "vertex"):
        [item] = found[name].objects
        assert found[name].hide_viewport and found[name].hide_render
        assert item.material_slots[0].material.name == f"copper_{name}_verdigris"
        assert item.matrix_world == plane.matrix_world
    [item] = found["pbr"].objects
    assert item.data == plane.data and plane.material_slots[0].material.name == "copper"
    shader = shader_of(item.material_slots[0].material)
    assert shader.inputs["Base Color"].links[0].from_node.image.name == "pbr_base_color.png"
    assert shader.inputs["Alpha"].links[0].from_node.image.name == "pbr_opacity.png"
    # what was made for levels is not baked
    assert harness.host.meshes(harness.first) == ("plane",)
    assert [each.name for each in harness.host.materials()] == ["copper", "spare"]


def test_a_level_renders_the_light_that_it_stores(harness, ladder, tmp_path):
    harness.host.attach_rungs(harness.first, ladder)
    [item] = levels()["vertex"].objects
    colours = item.data.color_attributes["verdigris_vertex"]
    for vertex, each in zip(item.data.vertices, colours.data, strict=True):
        expected = (2, 0, 0, 1) if vertex.co.x > 0.9 else (0, 0, 0, 0.5)
        assert tuple(each.color) == pytest.approx(expected)
    tree = levels()["unlit"].objects[0].material_slots[0].material.node_tree
    texture = tree.nodes["Verdigris texture"]
    assert texture.image.name == "unlit_shown.png"
    assert texture.inputs["Vector"].links[0].from_node.uv_map == "UVMap"
    assert tree.nodes["Verdigris opacity"].inputs[0].links[0].from_node == texture


def test_attaching_is_one_undo_step_and_again_replaces_what_was_made(harness, ladder):
    before = harness.snapshot()
    harness.host.attach_rungs(harness.first, ladder)
    once = harness.snapshot()
    harness.host.attach_rungs(harness.host.materials()[0], ladder)
    assert harness.snapshot()[0] == once[0]
    harness.undo()
    assert harness.snapshot() == once
    harness.undo()
    assert harness.snapshot() == before


def test_the_operator_attaches_the_ladder_of_a_report(harness, ladder, tmp_path):
    from verdigris.plugins.blender import registration

    rungs = [
        {"name": "neural", "title": "Neural material", "bundle": "copper.vdg"},
        {"name": "unlit", "title": "Unlit", "files": {"shown": "unlit_shown.png"}},
    ]
    file = tmp_path / "ladder.json"
    file.write_text(json.dumps({"format": "verdigris.ladder", "name": "copper", "rungs": rungs}))
    registration.register()
    try:
        with bpy.context.temp_override(object=bpy.data.objects["plane"], material=None):
            assert bpy.ops.verdigris.attach_ladder(filepath=str(file)) == {"FINISHED"}
            assert list(levels()) == ["neural", "unlit"]
            assert harness.host.attached(harness.first) == tmp_path / "copper.vdg"
            file.write_text("{}")
            with pytest.raises(RuntimeError, match="is no report of a ladder"):
                bpy.ops.verdigris.attach_ladder(filepath=str(file))
    finally:
        registration.unregister()


def test_a_missing_file_or_mesh_leaves_the_scene_unchanged(harness, ladder, tmp_path):
    before = harness.snapshot()
    (tmp_path / "unlit_shown.png").unlink()
    with pytest.raises(HostError, match=r"unlit_shown.png: Blender cannot read it .* bake again"):
        harness.host.attach_rungs(harness.first, ladder)
    assert harness.snapshot()[0]["collections"] == before[0]["collections"]
    spare = next(each for each in harness.host.materials() if each.name == "spare")
    with pytest.raises(HostError, match="spare: no mesh of the scene has it: assign it to one"):
        harness.host.attach_rungs(spare, LadderLook("spare", (RungLook("neural", ""),)))


def test_blenders_importer_reads_occlusion_alpha_coat_and_emission_of_the_gltf(harness, tmp_path):
    place = np.array([[[0, 0, 0], [1, 0, 0], [1, 0, 1]]], np.float32)
    normal = np.tile(np.array([0, 1, 0], np.float32), (1, 3, 1))
    uv = np.array([[[0, 0], [1, 0], [1, 1]]], np.float32)
    surface = Surface(Mesh(place, normal, uv), {"st": uv, "st1": uv * 0.5}, name="one")
    scene = Scene(None, SimpleNamespace(surface=surface), None, 1.0, "st", "st1", True)
    uses = ("base_color", "orm", "normal", "coat", "emissive")
    files = {use: picture(tmp_path / f"pbr_{use}.png").name for use in uses}
    numbers = {"emissive_strength": 3.0, "alpha_mode": "MASK", "alpha_cutoff": 0.5}
    light = {"shown": picture(tmp_path / "unlit_shown.png").name}
    write_gltf(
        scene,
        [
            (Rung("pbr", 8, 1, 0.0, None), Written(files, numbers)),
            (Rung("unlit", 8, 1, 0.0, None), Written(light, {"alpha_mode": "BLEND"})),
        ],
        tmp_path,
        "one",
    )
    bpy.ops.import_scene.gltf(filepath=str(tmp_path / "one.gltf"))
    made = bpy.data.materials["pbr"]
    shader = shader_of(made)

    def behind(port):
        """The image behind a socket, and the sockets on the way to it."""
        names = []
        while port.links:
            link = port.links[0]
            names.append(link.from_socket.name)
            if link.from_node.type == "TEX_IMAGE":
                return link.from_node.image.name, names[-2:] if len(names) > 1 else names
            port = next(each for each in link.from_node.inputs if each.links)
        return None, names

    assert behind(shader.inputs["Base Color"])[0] == "pbr_base_color.png"
    assert behind(shader.inputs["Alpha"]) == ("pbr_base_color.png", ["Value", "Alpha"])
    assert behind(shader.inputs["Roughness"]) == ("pbr_orm.png", ["Green", "Color"])
    assert behind(shader.inputs["Metallic"]) == ("pbr_orm.png", ["Blue", "Color"])
    assert behind(shader.inputs["Coat Weight"]) == ("pbr_coat.png", ["Red", "Color"])
    assert behind(shader.inputs["Coat Roughness"]) == ("pbr_coat.png", ["Green", "Color"])
    assert behind(shader.inputs["Emission Color"])[0] == "pbr_emissive.png"
    assert shader.inputs["Emission Strength"].default_value == 3
    group = next(each for each in made.node_tree.nodes if each.type == "GROUP")
    assert behind(group.inputs["Occlusion"]) == ("pbr_orm.png", ["Red", "Color"])
    unlit = bpy.data.materials["unlit"]
    texture = next(each for each in unlit.node_tree.nodes if each.type == "TEX_IMAGE")
    assert texture.inputs["Vector"].links[0].from_node.uv_map == "UVMap.001"
    assert texture.outputs["Alpha"].links
    assert isinstance(BlenderHost(), ShowsRungs)
