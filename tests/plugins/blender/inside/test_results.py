"""Results in a real Blender file, and in what Blender exports."""

from pathlib import Path

import bpy
import pytest
from pxr import Sdf, Usd, UsdShade

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import BakedResult
from verdigris.plugins.blender.adapter import BlenderHost
from verdigris.plugins.blender.scene.results import (
    VerdigrisUSDHook,
    find_look,
    register_saving,
    swap_look,
    unregister_saving,
)

from .conftest import new_image, shader_of

KINDS = ("base_color", "roughness", "metalness", "normal", "emission", "opacity")


@pytest.fixture
def textures(tmp_path):
    for kind in KINDS:
        new_image(kind, tmp_path / f"copper_{kind}.png")
        bpy.data.images.remove(bpy.data.images[kind])
    return {kind: tmp_path / f"copper_{kind}.png" for kind in KINDS}


def attach(tmp_path, textures):
    host = BlenderHost()
    host.attach(host.materials()[0], BakedResult(tmp_path / "copper.vdg", textures))
    return bpy.data.materials["copper"]


def test_a_result_is_there_when_the_file_is_opened_again(harness, tmp_path):
    attach(tmp_path, {})
    host = BlenderHost()
    host.save_scene()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    host.open_scene(tmp_path / "scene.blend")
    assert host.attached(host.materials()[0]) == tmp_path / "copper.vdg"
    assert host.attached(host.materials()[1]) is None


@pytest.fixture
def saving():
    register_saving()
    yield
    unregister_saving()


@pytest.mark.usefixtures("saving")
def test_a_result_is_found_after_the_project_has_moved(harness, tmp_path):
    host, blend = BlenderHost(), tmp_path / "scene.blend"
    copper = attach(tmp_path / "out", {})
    host.save_scene()
    assert copper["verdigris_bundle"] == "//out/copper.vdg"
    # a copy is written for its place, and the open file stays as it is
    for name in ("shots", "out"):
        (tmp_path / name).mkdir()
    copies = tmp_path / "shots" / "copy.blend", tmp_path / "out" / "copy.blend"
    for copy in copies:
        bpy.ops.wm.save_as_mainfile(filepath=str(copy), copy=True)
        assert copper["verdigris_bundle"] == "//out/copper.vdg"
    for copy in copies:
        host.open_scene(copy)
        assert host.attached(host.materials()[0]) == tmp_path / "out" / "copper.vdg"
    assert bpy.data.materials["copper"]["verdigris_bundle"] == "//copper.vdg"
    # as another file
    host.open_scene(blend)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shots" / "as.blend"))
    assert host.attached(host.materials()[0]) == tmp_path / "out" / "copper.vdg"
    moved = tmp_path / "moved"
    moved.mkdir()
    blend.rename(moved / "scene.blend")
    host.open_scene(moved / "scene.blend")
    assert host.attached(host.materials()[0]) == moved / "out" / "copper.vdg"
    # one of before, with its whole path
    bpy.data.materials["copper"]["verdigris_bundle"] = "/out/copper.vdg"
    assert host.attached(host.materials()[0]) == Path("/out/copper.vdg")


def test_the_baked_look_has_a_texture_at_each_socket(harness, tmp_path, textures):
    copper = attach(tmp_path, textures)
    made = find_look(copper)
    assert made.name == "copper_verdigris" and made.use_fake_user
    shader = made.node_tree.nodes["Verdigris shader"]
    read = {}
    for port in shader.inputs:
        for link in port.links:
            source = link.from_node
            if source.type == "NORMAL_MAP":
                source = source.inputs["Color"].links[0].from_node
            read[port.name] = source.image.name, source.image.colorspace_settings.name
    assert read == {
        "Base Color": ("copper_base_color.png", "sRGB"),
        "Roughness": ("copper_roughness.png", "Non-Color"),
        "Metallic": ("copper_metalness.png", "Non-Color"),
        "Normal": ("copper_normal.png", "Non-Color"),
        "Emission Color": ("copper_emission.png", "sRGB"),
        "Alpha": ("copper_opacity.png", "Non-Color"),
    }
    assert shader.inputs["Emission Strength"].default_value == 1
    # it is not baked itself
    assert [each.name for each in BlenderHost().materials()] == ["copper", "spare"]


def test_a_later_bake_updates_the_baked_look(harness, tmp_path, textures):
    copper = attach(tmp_path, textures)
    made, count = find_look(copper), len(bpy.data.images)
    copper.name = "bronze"
    made.node_tree.nodes["Verdigris shader"].inputs["Coat Weight"].default_value = 0.5
    host = BlenderHost()
    kept = {kind: textures[kind] for kind in ("base_color", "roughness")}
    host.attach(host.materials()[0], BakedResult(tmp_path / "copper.vdg", kept))
    assert find_look(copper) == made and len(bpy.data.images) == count
    shader = made.node_tree.nodes["Verdigris shader"]
    assert not shader.inputs["Alpha"].is_linked
    assert shader.inputs["Emission Strength"].default_value == 0
    # what the artist changed in it stays
    assert shader.inputs["Coat Weight"].default_value == 0.5


def test_the_baked_look_is_shown_and_put_back(harness, plane, tmp_path, textures):
    copper = attach(tmp_path, textures)
    assert swap_look(copper) == 1
    made = plane.material_slots[0].material
    assert made.name == "copper_verdigris"
    # a material that only its baked look replaces is not lost
    assert "copper" in [each.name for each in BlenderHost().materials()]
    assert swap_look(made) == 1
    assert plane.material_slots[0].material == copper


def test_a_texture_that_is_missing_leaves_the_scene_unchanged(harness, tmp_path):
    before = harness.snapshot()
    with pytest.raises(HostError, match=r"gone\.png: Blender cannot read it"):
        attach(tmp_path, {"base_color": tmp_path / "gone.png"})
    assert harness.snapshot() == before


def test_a_relative_path_of_a_bundle_is_made_absolute(harness, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    host = BlenderHost()
    host.attach(host.materials()[0], BakedResult(Path("out", "copper.vdg")))
    assert host.attached(host.materials()[0]) == tmp_path / "out" / "copper.vdg"


def test_a_linked_material_is_an_error_with_the_remedy(harness, tmp_path):
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {bpy.data.materials["copper"]}, fake_user=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.materials = ["copper"]
    bpy.context.object.data.materials.append(wanted.materials[0])
    host = BlenderHost()
    linked = next(each for each in host.materials() if "library.blend" in each.key)
    # it can be read and baked
    assert host.document(linked).material == "copper"
    with pytest.raises(HostError, match=r"copper is linked from .*library\.blend: open that file"):
        host.attach(linked, BakedResult(tmp_path / "copper.vdg"))


def test_an_unsaved_scene_is_not_saved(plane):
    with pytest.raises(HostError, match="not saved: save it first"):
        BlenderHost().save_scene()


def test_a_file_that_is_no_scene_is_an_error(plane, tmp_path):
    (tmp_path / "text.blend").write_text("no scene")
    for name in ("gone.blend", "text.blend"):
        with pytest.raises(HostError, match=name):
            BlenderHost().open_scene(tmp_path / name)


def test_an_export_has_the_bundle_as_an_asset(harness, tmp_path):
    attach(tmp_path, {})
    bpy.utils.register_class(VerdigrisUSDHook)
    try:
        out = tmp_path / "out.usda"
        bpy.ops.wm.usd_export(filepath=str(out), generate_materialx_network=True)
    finally:
        bpy.utils.unregister_class(VerdigrisUSDHook)
    stage = Usd.Stage.Open(str(out))
    found = [prim for prim in stage.Traverse() if UsdShade.Material(prim)]
    (attribute,) = (prim.GetAttribute("verdigris:bundle") for prim in found)
    assert attribute.GetTypeName() == Sdf.ValueTypeNames.Asset
    assert attribute.Get().path == (tmp_path / "copper.vdg").as_posix()
    # and as Blender's own custom property
    own = found[0].GetAttribute("userProperties:verdigris_bundle").Get()
    assert own in ("//copper.vdg", (tmp_path / "copper.vdg").as_posix())


def test_the_shader_of_the_scene_is_left_alone(harness, tmp_path, textures):
    copper = attach(tmp_path, textures)
    assert not any(port.is_linked for port in shader_of(copper).inputs)
