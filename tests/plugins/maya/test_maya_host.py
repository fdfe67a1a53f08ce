"""The adapter of Maya, with a strict fake and scenes in Maya ASCII."""

import importlib
import json
import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError, HostError
from verdigris.core.hosts.host import BakedResult, HostMaterial
from verdigris.core.material.load.mtlx_document import parse_document

from ..contract import *  # noqa: F403 - the tests of the contract
from ..hosts import by_name, flattened
from .scenes import SHAPE, USD_DATA, add_native, export, open_scene


def test_materials_of_a_stack_with_a_surface_are_listed_once(maya):
    host = open_scene(maya, "stack.ma")
    assert [(each.name, each.source) for each in host.materials()] == [
        ("Standard_Surface1", "LookdevX material"),
        ("Plate", "LookdevX document"),
        ("Plain", "LookdevX document"),
        ("Maya_Lambert1", "LookdevX document"),
    ]


def test_the_rendered_shader_replaces_its_stack(maya):
    host = open_scene(maya, "render_document.ma")
    (gold,) = host.materials()
    found = host.document(gold)
    assert (found.name, found.material) == ("gold", "Standard_Surface1")
    node = parse_document(found.text).root.getNode("standard_surface1")
    assert node.getInput("base_color").getValueString() == "0.9, 0.6, 0.2"


def test_a_linked_document_is_exported_by_lookdevx(maya):
    host = open_scene(maya, "stack.ma")
    stack = maya.nodes["|materialXStack1|materialXStackShape1"]["attributes"]
    text = host.document(by_name(host, "Plain")).text
    stack["documents"] = json.dumps([{"name": "document1", "document": ""}])
    with pytest.raises(HostError, match="'document1' is not loaded: load it in LookdevX"):
        host.document(by_name(host, "Standard_Surface1"))
    maya.lookdevx_writes["document1"] = ""
    with pytest.raises(HostError, match=r"did not export 'document1': export it as \.mtlx"):
        host.document(by_name(host, "Standard_Surface1"))
    maya.lookdevx_writes["document1"] = text.replace("Plain", "Standard_Surface1")
    assert host.document(by_name(host, "Standard_Surface1")).material == "Standard_Surface1"


def test_a_shader_of_mayas_own_goes_through_its_usd_export(maya, tmp_path):
    host = open_scene(maya, "stack.ma")
    export_of_usd(maya, tmp_path)
    add_native(maya, [SHAPE])
    material = by_name(host, "standardSurface2")
    assert material.source == "Maya shader"
    found = export(host, "standardSurface2")
    loaded = parse_document(found.text, found.search)
    loaded.check(loaded.require_material(found.material))
    assert USD_DATA / "textures" in found.search
    assert maya.plugins["mayaUsdPlugin"]


def export_of_usd(maya, folder):
    """The file that maya-usd writes for a standardSurface."""
    text = (USD_DATA / "maya_usd.usda").read_text()
    maya.export = folder / "export.usda"
    maya.export.write_text(text.replace("@textures/", f"@{USD_DATA.as_posix()}/textures/"))


@pytest.mark.parametrize(("is_managed", "expected"), [(True, "srgb_texture"), (False, None)])
def test_files_in_the_space_of_their_rule_are_read_in_it(maya, tmp_path, is_managed, expected):
    host = open_scene(maya, "stack.ma")
    export_of_usd(maya, tmp_path)
    # maya-usd leaves out a space that a file rule of Maya chooses
    text = re.sub(r"png@ \(\s+colorSpace = \S+\s+\)", "png@", maya.export.read_text())
    maya.export.write_text(text)
    maya.has_color_management = is_managed
    add_native(maya, [SHAPE])
    found = export(host, "standardSurface2")
    file = xml.fromstring(found.text).find(".//image/input[@name='file']")
    assert file.get("value").endswith("plain.png") and file.get("colorspace") == expected


def test_a_shader_without_a_mesh_is_exported_too(maya, tmp_path):
    host = open_scene(maya, "stack.ma")
    export_of_usd(maya, tmp_path)
    add_native(maya, [])
    found = export(host, "standardSurface2")
    assert "standard_surface" in found.text
    assert maya.exports == [(["|persp"], False)], "no mesh is evaluated for it"


def test_an_old_maya_usd_exports_assigned_shaders_only(maya, tmp_path):
    host = open_scene(maya, "stack.ma")
    export_of_usd(maya, tmp_path)
    maya.has_old_usd = True
    add_native(maya, [])
    with pytest.raises(HostError, match="is not assigned to a mesh: assign it"):
        export(host, "standardSurface2")
    maya.members["standardSurface2SG"] = [SHAPE]
    assert export(host, "standardSurface2").text
    assert maya.exports == [(["|plate"], True)]


def test_without_maya_usd_the_plug_in_is_named(maya):
    host = open_scene(maya, "stack.ma")
    add_native(maya, [SHAPE])
    maya.plugins.clear()
    with pytest.raises(HostError, match="plug-in mayaUsdPlugin cannot be loaded"):
        export(host, "standardSurface2")


def test_a_maya_usd_without_its_python_is_named(maya, monkeypatch):
    host = open_scene(maya, "stack.ma")
    add_native(maya, [SHAPE])
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(HostError, match="the Python package of maya-usd is missing"):
        export(host, "standardSurface2")


def test_a_surface_without_materialx_is_refused_by_name(maya):
    host = open_scene(maya, "stack.ma")
    found = host.document(by_name(host, "Maya_Lambert1"))
    loaded = parse_document(found.text, found.search)
    with pytest.raises(DocumentError, match="of the kind 'MayaND_lambert', which no library"):
        loaded.check(loaded.require_material(found.material))


def test_a_scene_without_materials_has_none(maya):
    host = importlib.import_module("verdigris.plugins.maya.adapter").MayaHost()
    assert host.materials() == () and host.selected_materials() == ()


def test_an_unsaved_scene_is_reported_with_its_search_folders(maya, tmp_path):
    host = open_scene(maya, "stack.ma")
    maya.path, maya.project = "", tmp_path.as_posix()
    found = host.document(by_name(host, "Plate"))
    assert host.scene_file() is None
    assert "not saved" in found.notes[0]
    assert found.search == (tmp_path, tmp_path / "sourceimages")


def test_a_material_keeps_its_identity_when_the_scene_is_renamed(maya, tmp_path):
    host = open_scene(maya, "stack.ma")
    listed = host.materials()
    before = [host.identity(each) for each in listed]
    # the notes of the node and of the stack
    assert before[0].strip() == "2C3B3A40-0000-4000-8000-000000000003"
    assert before[1:] == [
        f"2C3B3A40-0000-4000-8000-000000000002 ,{each.key.partition(',')[2]}" for each in listed[1:]
    ]
    maya.path = str(tmp_path / "version_2.ma")
    assert [host.identity(each) for each in host.materials()] == before
    # by another name, too
    for kept in (maya.nodes, maya.uuids):
        kept["fine_gold"] = kept.pop(listed[0].key)
    maya.connections = {"Standard_Surface1SG.surfaceShader": "fine_gold.outColor"}
    renamed = HostMaterial("fine_gold", "fine_gold", listed[0].source)
    assert renamed in host.materials() and host.identity(renamed) == before[0]
    # another scene, with a node of this name
    other = open_scene(maya, "render_document.ma")
    maya.add(listed[0].key, "MaterialXSurfaceShader")
    assert other.identity(listed[0]) not in before


def test_a_selected_mesh_selects_its_material_and_a_selected_shader_itself(maya):
    host = open_scene(maya, "stack.ma")
    maya.members["Standard_Surface1SG"] = [SHAPE]
    maya.selection = ["|plate"]
    assert [each.name for each in host.selected_materials()] == ["Standard_Surface1"]
    maya.selection = ["Standard_Surface1"]
    assert [each.name for each in host.selected_materials()] == ["Standard_Surface1"]


def test_only_faces_with_the_material_are_read(maya):
    host = open_scene(maya, "stack.ma")
    maya.members["Standard_Surface1SG"] = [f"{SHAPE}.f[0:0]"]
    add_native(maya, [f"{SHAPE}.f[1:1]"])
    first = host.mesh(SHAPE, by_name(host, "Standard_Surface1"))
    second = host.mesh(SHAPE, by_name(host, "standardSurface2"))
    assert (len(first.uv), len(second.uv), len(host.mesh(SHAPE).uv)) == (2, 1, 3)
    assert second.uv.tolist() == [[[0.5, 0], [1, 0], [0.5, 1]]]
    assert first.notes == (f"{SHAPE}: 1 of 2 faces have another material",)


def test_a_mesh_of_a_z_up_scene_is_turned(maya):
    host = open_scene(maya, "stack.ma")
    lying = host.mesh(SHAPE)
    maya.up_axis = "z"
    standing = host.mesh(SHAPE)
    for before, after in ((lying.position, standing.position), (lying.normal, standing.normal)):
        x, y, z = np.moveaxis(before, -1, 0)
        np.testing.assert_array_equal(after, np.stack([x, z, -y], -1))
    assert lying.position[..., 2].any() or lying.normal[..., 2].any()


def test_a_corner_keeps_the_weight_of_its_own_face(maya):
    host = open_scene(maya, "stack.ma")
    data = maya.nodes[SHAPE]["attributes"]["mesh"]
    data["colours"]["verdigris_weights"] = {1: (2.0, 2.0, 2.0), 4: (8.0, 8.0, 8.0)}
    weights = host.mesh(SHAPE).weights
    # vertex 1 is corner 1 of the quad and corner 4 of the triangle
    assert weights.tolist() == [[1, 2, 1], [1, 1, 1], [8, 1, 1]]


@pytest.mark.parametrize(
    ("counts", "message"),
    [([0, 0], "has no texture coordinates: unwrap it"), ([4, 0], "1 of 2 faces have no texture")],
)
def test_a_mesh_without_uvs_is_refused_with_the_remedy(maya, counts, message):
    host = open_scene(maya, "stack.ma")
    maya.nodes[SHAPE]["attributes"]["mesh"]["uv_counts"] = counts
    with pytest.raises(HostError, match=message):
        host.mesh(SHAPE)


def test_a_locked_node_is_refused_and_nothing_changes(harness, tmp_path):
    harness.maya.nodes["Standard_Surface1"]["locked"] = True
    before = harness.snapshot()
    with pytest.raises(HostError, match="Standard_Surface1 is locked: unlock it"):
        harness.host.attach(harness.first, BakedResult(tmp_path / "a.vdg"))
    assert harness.snapshot() == before and harness.maya.undo_stack == []


@pytest.mark.parametrize("command", ["addAttr", "setAttr", "connectAttr"])
def test_a_failure_undoes_its_own_changes_only(harness, tmp_path, command):
    harness.maya.undo_stack.append(("the artist's own step", None))
    before = harness.snapshot()
    harness.maya.refuses = {command}
    result = BakedResult(tmp_path / "a.vdg", {"base_color": tmp_path / "c.png"})
    with pytest.raises(HostError, match="Maya reports"):
        harness.host.attach(harness.first, result)
    assert harness.snapshot() == before
    assert [name for name, _ in harness.maya.undo_stack] == ["the artist's own step"]


def test_results_of_a_stack_are_stored_by_material(harness, tmp_path):
    plate, plain = (by_name(harness.host, name) for name in ("Plate", "Plain"))
    harness.host.attach(plate, BakedResult(tmp_path / "plate.vdg"))
    harness.host.attach(plain, BakedResult(tmp_path / "plain.vdg"))
    assert harness.host.attached(plate) == tmp_path / "plate.vdg"
    assert harness.host.attached(plain) == tmp_path / "plain.vdg"


def test_results_are_noted_relative_to_the_project_and_move_with_it(harness, tmp_path):
    maya, first = harness.maya, harness.first
    plain = by_name(harness.host, "Plain")
    here, there = tmp_path / "show", tmp_path / "farm"
    maya.project, maya.path = here.as_posix(), (here / "scenes" / "shot.ma").as_posix()
    harness.host.attach(first, BakedResult(here / "scenes" / "neural" / "a.vdg"))
    harness.host.attach(plain, BakedResult(here / "neural" / "b.vdg"))
    assert str(here) not in str(maya.nodes)
    assert harness.host.attached(first) == here / "scenes" / "neural" / "a.vdg"
    # the project is elsewhere now
    maya.project, maya.path = there.as_posix(), (there / "scenes" / "shot.ma").as_posix()
    assert harness.host.attached(first) == there / "scenes" / "neural" / "a.vdg"
    assert harness.host.attached(plain) == there / "neural" / "b.vdg"
    # a scene outside of its project
    maya.project, maya.path = str(tmp_path / "default"), (here / "shot.ma").as_posix()
    bundle = here / "neural" / "c.vdg"
    bundle.mkdir(parents=True)
    harness.host.attach(first, BakedResult(bundle))
    assert harness.host.attached(first) == bundle
    # an older scene has whole paths, and a result on another drive keeps its own
    maya.nodes[first.key]["attributes"]["verdigrisBundle"] = (tmp_path / "old.vdg").as_posix()
    assert harness.host.attached(first) == tmp_path / "old.vdg"
    harness.host.attach(first, BakedResult(tmp_path / "elsewhere" / "d.vdg"))
    assert harness.host.attached(first) == tmp_path / "elsewhere" / "d.vdg"


def test_flattened_textures_become_a_material_for_the_viewport_in_the_same_step(harness, tmp_path):
    before, listed = harness.snapshot(), harness.host.materials()
    harness.host.attach(harness.first, BakedResult(tmp_path / "a.vdg", flattened(tmp_path)))
    name, made = "Standard_Surface1_verdigris", harness.maya.connections
    assert {target: source for target, source in made.items() if "verdigris" in target} == {
        f"{name}SG.surfaceShader": f"{name}.outColor",
        f"{name}.baseColor": f"{name}_base_color.outColor",
        f"{name}.specularRoughness": f"{name}_roughness.outColorR",
        f"{name}.metalness": f"{name}_metalness.outColorR",
        f"{name}_bump.bumpValue": f"{name}_normal.outAlpha",
        f"{name}.normalCamera": f"{name}_bump.outNormal",
    }
    for kind, space in (("base_color", "sRGB"), ("roughness", "Raw"), ("normal", "Raw")):
        file = harness.maya.nodes[f"{name}_{kind}"]["attributes"]
        assert Path(file["fileTextureName"]) == tmp_path / f"{kind}.png"
        assert file["colorSpace"] == space
    # normals in tangent space
    assert harness.maya.nodes[f"{name}_bump"]["attributes"]["bumpInterp"] == 1
    # viewport materials are not listed
    assert harness.host.materials() == listed
    harness.undo()
    assert harness.snapshot() == before


def test_a_second_bake_gives_the_viewport_material_its_new_textures(harness, tmp_path):
    harness.host.attach(harness.first, BakedResult(tmp_path / "a.vdg", flattened(tmp_path)))
    nodes = set(harness.maya.nodes)
    harness.host.attach(harness.first, BakedResult(tmp_path / "a.vdg", flattened(tmp_path / "b")))
    assert set(harness.maya.nodes) == nodes
    file = harness.maya.nodes["Standard_Surface1_verdigris_normal"]["attributes"]
    assert Path(file["fileTextureName"]) == tmp_path / "b" / "normal.png"


def test_the_textures_of_a_baked_look_move_with_the_project(harness, tmp_path):
    """Maya searches a relative name of a file node in the project (File > Set Project)."""
    harness.maya.project = str(tmp_path)
    harness.host.attach(harness.first, BakedResult(tmp_path / "a.vdg", flattened(tmp_path / "b")))
    file = harness.maya.nodes["Standard_Surface1_verdigris_normal"]["attributes"]
    assert file["fileTextureName"] == "b/normal.png"


def test_viewport_materials_are_found_for_names_with_special_characters(harness, tmp_path):
    plate = by_name(harness.host, "Plate")
    for name in ("töpfer-粘土", "char:gold", "|group|gold"):
        material = HostMaterial(plate.key, name, plate.source)
        harness.host.attach(material, BakedResult(tmp_path / "a.vdg", flattened(tmp_path)))
        nodes = set(harness.maya.nodes)
        harness.host.attach(material, BakedResult(tmp_path / "a.vdg", flattened(tmp_path)))
        assert set(harness.maya.nodes) == nodes


def files_of(maya, shader):
    """The textures of a shader."""
    return {
        target.rpartition(".")[2]: Path(
            maya.nodes[source.partition(".")[0]]["attributes"]["fileTextureName"]
        )
        for target, source in maya.connections.items()
        if target.startswith(f"{shader}.") and maya.require(source)["type"] == "file"
    }


def test_materials_of_the_same_name_have_separate_viewport_materials(harness, tmp_path):
    plate = by_name(harness.host, "Plate")
    twins = [HostMaterial(f"{plate.key}{end}", "gold", plate.source) for end in ("", "_b")]
    for number, material in enumerate((*twins, *twins)):
        textures = flattened(tmp_path / str(number))
        harness.host.attach(material, BakedResult(tmp_path / "a.vdg", textures))
    shaders = [each for each in harness.maya.nodes if each.endswith("_verdigris")]
    assert shaders == ["gold_verdigris", "gold_2_verdigris"]
    for shader, folder in zip(shaders, ("2", "3"), strict=True):
        found = files_of(harness.maya, shader)
        assert found["baseColor"] == tmp_path / folder / "base_color.png"
        assert {path.parent.name for path in found.values()} == {folder}
    engines = {
        target: source
        for target, source in harness.maya.connections.items()
        if target.startswith("gold") and target.endswith("surfaceShader")
    }
    assert sorted(engines.values()) == ["gold_2_verdigris.outColor", "gold_verdigris.outColor"]


def test_a_node_of_the_artists_with_that_name_is_left_alone(harness, tmp_path):
    maya = harness.maya
    maya.add("Standard_Surface1_verdigris", "lambert", color="mine")
    maya.add("Standard_Surface1_2_verdigris_normal", "file", fileTextureName="mine.png")
    before = maya.state()[1]
    harness.host.attach(harness.first, BakedResult(tmp_path / "a.vdg", flattened(tmp_path)))
    for name in ("Standard_Surface1_verdigris", "Standard_Surface1_2_verdigris_normal"):
        assert maya.nodes[name] == before[name]
    found = files_of(maya, "Standard_Surface1_2_verdigris")
    assert found["baseColor"] == tmp_path / "base_color.png"


def test_renamed_and_referenced_viewport_nodes_are_recognised(harness, tmp_path):
    maya = harness.maya
    result = BakedResult(tmp_path / "a.vdg", flattened(tmp_path))
    harness.host.attach(harness.first, result)
    old, new = "Standard_Surface1_verdigris", "my_gold_verdigris"
    maya.nodes[new] = maya.nodes.pop(old)
    maya.connections = {
        target.replace(f"{old}.", f"{new}."): source.replace(f"{old}.", f"{new}.")
        for target, source in maya.connections.items()
    }
    # the note of another scene, with a material of this name
    for name, facts in list(maya.nodes.items()):
        if "verdigris" in name:
            maya.nodes[f"other:{name}"] = {**facts, "attributes": dict(facts["attributes"])}
    nodes = set(maya.nodes)
    harness.host.attach(harness.first, BakedResult(tmp_path / "a.vdg", flattened(tmp_path / "new")))
    assert set(maya.nodes) == nodes
    assert files_of(maya, new)["baseColor"] == tmp_path / "new" / "base_color.png"
    referenced = maya.nodes[f"other:{old}_base_color"]["attributes"]["fileTextureName"]
    assert Path(referenced) == tmp_path / "base_color.png"


@pytest.mark.parametrize("gone", ["", "_normal", "_base_color"])
def test_a_damaged_viewport_material_is_repaired_by_the_next_bake(gone, harness, tmp_path):
    name, maya = "Standard_Surface1_verdigris", harness.maya
    result = BakedResult(tmp_path / "a.vdg", flattened(tmp_path, "emission"))
    harness.host.attach(harness.first, result)
    nodes, connections = maya.state()[1:3]
    sys.modules["maya.cmds"].delete(f"{name}{gone}")
    harness.host.attach(harness.first, result)
    assert (maya.nodes, maya.connections) == (nodes, connections)


def test_without_a_window_painting_is_refused_with_the_remedy(harness):
    harness.maya.batch = True
    with pytest.raises(HostError, match="no window for the brush: paint in the panel"):
        harness.host.start_painting(SHAPE)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{", "list of documents cannot be read"),
        ('[{"document": "AAAA"}]', "list of documents cannot be read"),
        ('[{"name": "a", "document": "!!"}]', "document 'a' is damaged"),
        ('[{"name": "a", "document": "AAAAAXicAwAAAAAB"}]', "0 bytes instead of 1"),
        ('[{"name": "a", "document": "f////wAA"}]', "has 2047 MB; the limit is 64 MB"),
    ],
)
def test_a_damaged_stack_is_refused_with_the_remedy(maya, value, message):
    host = open_scene(maya, "stack.ma")
    maya.nodes["|materialXStack1|materialXStackShape1"]["attributes"]["documents"] = value
    with pytest.raises(HostError, match=message):
        host.materials()


def test_a_missing_stack_is_named(maya):
    host = open_scene(maya, "stack.ma")
    gone = HostMaterial("|gone|goneShape,%document1%gold", "gold", "LookdevX document")
    with pytest.raises(HostError, match=r"\|gone\|goneShape is not in the scene"):
        host.document(gone)


def test_the_fake_refuses_unknown_names_and_flags(maya):
    from maya import cmds

    with pytest.raises(AttributeError, match="polySphere: the fake does not know"):
        cmds.polySphere()
    with pytest.raises(TypeError, match="unexpected keyword argument 'sceneNaem'"):
        cmds.file(query=True, sceneNaem=True)


def test_corners_of_triangles_are_the_right_face_vertices():
    from verdigris.plugins.maya.scene.meshes import triangle_corners

    counts, vertices = np.array([4, 3]), np.array([5, 2, 7, 1, 2, 9, 7])
    corners, faces = triangle_corners(
        counts, vertices, np.array([2, 1]), np.array([5, 2, 7, 5, 7, 1, 2, 9, 7])
    )
    assert corners.tolist() == [[0, 1, 2], [0, 2, 3], [4, 5, 6]]
    assert faces.tolist() == [0, 0, 1]
