"""Rungs of a ladder in a real Blender: as levels of detail, and as its glTF importer reads them."""

import json
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.hosts.host import (
    LadderLook,
    RungLook,
    ShaderLook,
    ShaderTexture,
    ShowsRungs,
    StoredLight,
)
from verdigris.core.ladder.mesh.mesh_surface import Surface
from verdigris.core.ladder.output.gltf import write_gltf
from verdigris.core.ladder.rungs.pbr import PbrRung
from verdigris.core.ladder.rungs.rung import Written
from verdigris.core.ladder.rungs.stored_light import UnlitRung
from verdigris.core.ladder.views.scene import Scene
from verdigris.plugins.blender.adapter import BlenderHost
from verdigris.plugins.blender.scene.rungs import attach_rungs
from verdigris.plugins.blender.scene.surface_nodes import SHADERS

from .conftest import new_image, new_material, set_material, shader_of


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
    files = {name: picture(tmp_path / f"pbr_{name}.png") for name in ("base_color", "opacity")}
    lit = {name: ShaderTexture(file, True, False) for name, file in files.items()}
    values = {"emission": 3.0, "emission_color": (1.0, 1.0, 1.0)}
    pbr = ShaderLook("standard_surface", values, lit, "UVMap", has_bounces=False)
    light = StoredLight({"light": picture(tmp_path / "unlit_light.png")}, (0, 1, 0), None, "st1")
    return LadderLook(
        "copper",
        (
            RungLook("neural", "Neural material"),
            RungLook("pbr", "glTF textures", 512, shader=pbr),
            RungLook("unlit", "One unlit texture", 64, light=light, has_alpha=True),
            RungLook("vertex", "Vertex colours", vertices=tmp_path / "vertex_colours.npz"),
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
    assert tuple(shader.inputs["Emission Color"].default_value)[:3] == (3.0, 3.0, 3.0)
    # the fit knows no light of several bounces, which Blender adds to others
    assert shader.distribution == "GGX"
    # what was made for levels is not baked
    assert harness.host.meshes(harness.first) == ("plane",)
    assert [each.name for each in harness.host.materials()] == ["copper", "spare"]


def test_a_level_has_the_light_of_its_nearest_vertices(harness, ladder):
    harness.host.attach_rungs(harness.first, ladder)
    [item] = levels()["vertex"].objects
    colours = item.data.color_attributes["verdigris_vertex"]
    for vertex, each in zip(item.data.vertices, colours.data, strict=True):
        expected = (2, 0, 0, 1) if vertex.co.x > 0.9 else (0, 0, 0, 0.5)
        assert tuple(each.color) == pytest.approx(expected)


def test_light_of_vertices_fits_a_mesh_at_rest_and_as_it_is_posed(harness, ladder, tmp_path):
    plane = bpy.data.objects["plane"]
    plane.shape_key_add(name="Basis")
    key = plane.shape_key_add(name="mirrored beside itself")
    for each in key.data:
        each.co.x = 3 - each.co.x
    for value in (0, 1):
        # the ladder's mesh is as it is shown
        key.value = value
        bpy.context.view_layer.update()
        mesh = harness.host.mesh("plane", harness.first)
        position = np.unique(mesh.position.reshape(-1, 3), axis=0)
        colour = np.ones((len(position), 4), np.float32)
        colour[:, 0] = position[:, 0]
        np.savez(tmp_path / "vertex_colours.npz", position=position, colour=colour)
        harness.host.attach_rungs(harness.first, ladder)
        [item] = levels()["vertex"].objects
        colours = item.data.color_attributes["verdigris_vertex"].data
        for vertex, each in zip(item.data.vertices, colours, strict=True):
            assert each.color[0] == pytest.approx(3 - vertex.co.x if value else vertex.co.x)


def test_what_the_artist_has_put_into_a_level_stays_in_the_scene(harness, ladder):
    plane, scene = bpy.data.objects["plane"], bpy.context.scene.collection
    harness.host.attach_rungs(harness.first, ladder)
    scene.objects.unlink(plane)
    own = bpy.data.collections.new("own")
    levels()["pbr"].children.link(own)
    lamp = bpy.data.objects.new("lamp", bpy.data.lights.new("lamp", "POINT"))
    own.objects.link(lamp)
    harness.host.attach_rungs(harness.first, LadderLook("copper", ladder.rungs[2:]))
    assert plane.name in scene.objects and "own" in scene.children
    assert lamp.name in bpy.context.scene.objects


def test_a_material_that_a_modifier_sets_is_named_as_it_stays(harness, ladder):
    set_material(bpy.data.objects["plane"], bpy.data.materials["spare"])
    spare = next(each for each in harness.host.materials() if each.name == "spare")
    said = harness.host.attach_rungs(spare, ladder)
    assert said.endswith("vertex; copies of plane keep the material that a modifier sets")


def test_rungs_are_no_materials_to_bake_or_to_attach_to_whatever_their_names(harness, ladder):
    taken = new_material("copper_pbr_verdigris")
    taken.use_fake_user = True
    harness.host.attach_rungs(harness.first, ladder)
    made = levels()["pbr"].objects[0].material_slots[0].material
    assert made.name == "copper_pbr_verdigris.001"
    assert made.name not in [each.name for each in harness.host.materials()]
    with pytest.raises(HostError, match="is made by Verdigris: choose the material that it was"):
        attach_rungs(made, ladder)


def test_a_uv_set_that_an_importer_renamed_is_found_by_its_place(harness, ladder):
    layers = bpy.data.objects["plane"].data.uv_layers
    layers.new(name="UVMap.001")
    harness.host.attach_rungs(harness.first, ladder)
    unlit = levels()["unlit"].objects[0].material_slots[0].material.node_tree.nodes
    assert [node.uv_map for node in unlit if node.type == "UVMAP"] == ["UVMap.001"]
    layers.new(name="st1")
    layers.new(name="more")
    harness.host.attach_rungs(harness.host.materials()[0], ladder)
    unlit = levels()["unlit"].objects[0].material_slots[0].material.node_tree.nodes
    assert [node.uv_map for node in unlit if node.type == "UVMAP"] == ["st1"]


def surface_shader(tmp_path, category="standard_surface"):
    files = {name: picture(tmp_path / f"surface_{name}.png") for name in ("a", "b", "c", "d", "e")}
    values = {
        "base": 0.5, "specular": 0.8, "specular_roughness": 0.3, "specular_IOR": 1.4, "coat": 0.6,
        "specular_anisotropy": 0.45, "specular_rotation": 0.25, "sheen_color": (0.1, 0.2, 0.3),
        "emission": 2.0, "emission_color": (0.5, 0.25, 1.0), "opacity": (0.5, 0.5, 0.5),
        "transmission": 0.9, "thin_walled": True,
    }  # fmt: skip
    textures = {
        "base_color": ShaderTexture(files["a"], True, False),
        "metalness": ShaderTexture(files["b"], False, False),
        "sheen": ShaderTexture(files["c"], False, False, 0.5, 2.0),
        "normal": ShaderTexture(files["d"], False, True),
        "tangent": ShaderTexture(files["e"], False, True),
    }
    return RungLook("surface", "Textures", shader=ShaderLook(category, values, textures, "UVMap"))


def test_a_surface_shader_becomes_a_principled_bsdf(harness, ladder, tmp_path):
    rung = surface_shader(tmp_path)
    harness.host.attach_rungs(harness.first, LadderLook("copper", (rung,)))
    made = levels()["surface"].objects[0].material_slots[0].material
    found = shader_of(made).inputs

    def value(socket):
        value = found[socket].default_value
        return pytest.approx(value[:3] if hasattr(value, "__len__") else value)

    assert value("Specular IOR Level") == 0.4 and value("Coat Weight") == 0.6
    assert value("Roughness") == 0.3 and value("IOR") == 1.4 and value("Alpha") == 0.5
    assert value("Sheen Tint") == (0.1, 0.2, 0.3)
    assert value("Emission Color") == (1.0, 0.5, 2.0) and value("Emission Strength") == 1.0
    # MaterialX turns tangents the other way, and its aspect has no factor of .9
    assert value("Anisotropic") == 0.5 and value("Anisotropic Rotation") == 0.75
    assert found["Tangent"].links[0].from_node.uv_map == "UVMap"
    # transmission is no input that Blender means the same by
    assert value("Transmission Weight") == 0.0

    def source(port):
        return port.links[0].from_node

    halved = source(found["Base Color"])
    assert (halved.operation, tuple(halved.inputs[1].default_value)) == ("MULTIPLY", (0.5,) * 3)
    colour = source(halved.inputs[0])
    assert colour.image.name == "surface_a.png"
    assert colour.image.colorspace_settings.name == "sRGB"
    assert source(found["Metallic"]).image.colorspace_settings.name == "Non-Color"
    ranged = source(found["Sheen Weight"])
    assert [port.default_value[0] for port in ranged.inputs[1:3]] == [1.5, 0.5]
    normal = source(found["Normal"])
    assert normal.uv_map == "UVMap" and source(normal.inputs["Color"]).image.name == "surface_d.png"
    assert "surface_e.png" not in str(
        [getattr(each, "image", None) for each in made.node_tree.nodes]
    )


def test_the_surface_shaders_of_materialx_have_the_inputs_that_are_connected():
    import MaterialX as mx

    library = mx.createDocument()
    mx.loadLibraries(mx.getDefaultDataLibraryFolders(), mx.getDefaultDataSearchPath(), library)
    tree = bpy.data.node_groups.new("any", "ShaderNodeTree")
    sockets = tree.nodes.new("ShaderNodeBsdfPrincipled").inputs
    for category, table in SHADERS.items():
        [*_, definition] = library.getMatchingNodeDefs(category)
        known = {port.getName() for port in definition.getActiveInputs()}
        assert {name for _, *inputs in table.values() for name in inputs} <= known
        assert set(table) <= {socket.name for socket in sockets}


def test_a_surface_shader_that_blender_has_no_sockets_for_is_named(harness, ladder, tmp_path):
    rung = surface_shader(tmp_path, "disney_principled")
    said = harness.host.attach_rungs(harness.first, LadderLook("copper", (*ladder.rungs, rung)))
    assert said.endswith("vertex; Blender gets no nodes of disney_principled: use surface.mtlx")
    assert "surface" not in levels()


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
        {"name": "unlit", "files": {"light": "unlit_light.png"}, "curve": {"a": 0, "b": 1, "c": 0}},
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
            with pytest.raises(RuntimeError, match="is not the report of a ladder"):
                bpy.ops.verdigris.attach_ladder(filepath=str(file))
    finally:
        registration.unregister()


def test_a_missing_file_or_mesh_leaves_the_scene_unchanged(harness, ladder, tmp_path):
    before = harness.snapshot()
    (tmp_path / "unlit_light.png").unlink()
    with pytest.raises(HostError, match=r"unlit_light.png: Blender cannot read it .* bake again"):
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
            (PbrRung(None), Written(files, numbers)),
            (UnlitRung(None), Written(light, {"alpha_mode": "BLEND"})),
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
