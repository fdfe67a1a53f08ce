"""Shaders through the export of maya-usd, whose names and writers the fake follows.

The adapter reads the shaders that core/hosts/nodes knows from their nodes; maya-usd exports those
that only it knows. The tests export known ones, whose values they can tell.
"""

import importlib

import pytest
from fake_maya.usd_export import material_name

from verdigris.core.base.errors import HostError
from verdigris.core.material.load.mtlx_document import parse_document

from ..hosts import by_name
from .scenes import DATA, SHAPE, open_scene


@pytest.mark.parametrize(
    ("engine", "shader", "name"),
    [
        # `getMaterialName` in Autodesk/maya-usd, shadingModeExporterContext.cpp
        ("standardSurface2SG", "standardSurface2", "standardSurface2SG"),
        ("standardSurface2SG", "gold", "goldSG"),
        ("lambert3SG", "gold2", "gold2SG"),
        ("lambert3SG", "wall:gold", "wall:goldSG"),
        ("standardSurface2SG", "lambert7", "standardSurface2SG"),
        ("goldSG", "paint", "goldSG"),
        ("car:lambert2SG", "car:rubber", "car:lambert2SG"),
    ],
)
def test_a_material_is_named_after_a_renamed_shader_whose_group_was_not(engine, shader, name):
    assert material_name(engine, shader) == name


def add_shader(maya, engine, shader, kind="lambert", members=(SHAPE,), **attributes):
    maya.add(shader, kind, **attributes)
    maya.add(engine, "shadingEngine")
    maya.connections[f"{engine}.surfaceShader"] = f"{shader}.outColor"
    maya.members[engine] = list(members)


def export(name, engine):
    exports = importlib.import_module("verdigris.plugins.maya.scene.exports")
    return exports.export_native(engine, name, ())


GREEN = {"diffuseColor": (0.25, 0.5, 0.125)}


@pytest.mark.parametrize(
    ("engine", "shader"),
    [
        ("usdPreviewSurface2SG", "gold"),
        ("usdPreviewSurface2SG", "wall:gold"),
        ("car:usdPreviewSurface1SG", "car:gold"),
        ("ownGroup", "gold"),
    ],
)
def test_a_renamed_shader_is_read_whatever_its_group_is_called(maya, engine, shader):
    open_scene(maya, "stack.ma")
    # another shader in a group whose name the first material gets
    add_shader(maya, "other:goldSG", "other:paint", "usdPreviewSurface", diffuseColor=(1, 0, 0))
    add_shader(maya, engine, shader, "usdPreviewSurface", **GREEN)
    found = export(shader, engine)
    loaded = parse_document(found.text, found.search)
    loaded.check(loaded.require_material(found.material))
    assert "0.25, 0.5, 0.125" in found.text and "1, 0, 0" not in found.text


def feed_normal(maya, shader):
    """A normal map, as Maya's own button for a normal makes it."""
    maya.add("picture", "file", fileTextureName=(DATA / "plain.png").as_posix())
    maya.add("relief", "bump2d", bumpInterp=1)
    maya.connections["relief.bumpValue"] = "picture.outAlpha"
    maya.connections[f"{shader}.normal"] = "relief.outNormal"


def test_a_node_that_the_export_skips_is_named(maya):
    open_scene(maya, "stack.ma")
    add_shader(maya, "goldSG", "gold", "usdPreviewSurface", **GREEN)
    feed_normal(maya, "gold")
    notes = export("gold", "goldSG").notes
    assert notes[:1] == (
        "maya-usd does not export relief (bump2d): its effect on the material is missing",
    )


def test_a_shader_that_maya_usd_does_not_know_is_refused_with_the_way_around(maya):
    host = open_scene(maya, "stack.ma")
    add_shader(maya, "glassSG", "glass", "anisotropic")
    with pytest.raises(HostError, match=r"does not export glass \(anisotropic\): .* \.mtlx"):
        host.document(by_name(host, "glass"))


def test_an_export_that_fails_is_tried_without_a_root_and_then_refused(maya):
    open_scene(maya, "stack.ma")
    add_shader(maya, "goldSG", "gold", "usdPreviewSurface", **GREEN)
    maya.refuses = {"|persp"}
    assert "0.25, 0.5, 0.125" in export("gold", "goldSG").text
    assert [roots for roots, _ in maya.exports] == [["|persp"], []]
    from maya import cmds

    maya.refuses = set()
    cmds.setAttr("gold.ior", 2.0)
    maya.refuses = {"export"}
    with pytest.raises(HostError, match="maya-usd cannot export gold: Maya command error"):
        export("gold", "goldSG")


def test_two_materials_that_maya_usd_writes_into_one_are_refused(maya):
    open_scene(maya, "stack.ma")
    add_shader(maya, "usdPreviewSurface2SG", "gold", "usdPreviewSurface", **GREEN)
    add_shader(maya, "goldSG", "paint", "usdPreviewSurface", diffuseColor=(1, 0, 0))
    with pytest.raises(HostError, match=r"writes it and paint as one material, goldSG: rename"):
        export("gold", "usdPreviewSurface2SG")


@pytest.fixture
def crowd(maya, tmp_path):
    """The host of a scene with sixty materials, each with a texture of the project."""
    host = open_scene(maya, "stack.ma")
    maya.project = tmp_path.as_posix()
    texture = tmp_path / "maps" / "plain.png"
    texture.parent.mkdir()
    texture.write_bytes((DATA / "plain.png").read_bytes())
    for number in range(60):
        name, value = f"paint{number}", number / 64
        add_shader(maya, f"usdPreviewSurface{number + 2}SG", name, "usdPreviewSurface", ior=value)
        maya.add(f"picture{number}", "file", fileTextureName="maps/plain.png")
        maya.add(f"relief{number}", "bump2d")
        maya.connections[f"relief{number}.bumpValue"] = f"picture{number}.outAlpha"
        maya.connections[f"{name}.normal"] = f"relief{number}.outNormal"
    return host


def test_a_scene_is_exported_once_for_all_its_materials(crowd, maya, tmp_path):
    from maya import cmds

    materials = [each for each in crowd.materials() if each.name.startswith("paint")]
    assert len(materials) == 60 and maya.exports == []
    for number, material in enumerate(materials):
        assert f'"ior" type="float" value="{number / 64:g}"' in crowd.document(material).text
    assert maya.exports == maya.opened == [], "their nodes are read"
    for number, material in enumerate(materials):
        text = export(material.name, material.key).text
        assert f'"ior" type="float" value="{number / 64:g}"' in text
    assert len(maya.exports) == 1 and len(maya.opened) == 60
    assert maya.evaluated == [], "materials need no geometry"

    def again():
        return export(materials[7].name, materials[7].key).text

    cmds.setAttr("paint7.roughness", 0.75)
    assert "0.75" in again() and len(maya.exports) == 2
    cmds.undo()
    assert "0.75" not in again() and len(maya.exports) == 3
    maya.time = 2.0
    assert again() and len(maya.exports) == 4, "materials may be animated"
    crowd.open_scene(DATA / "stack.ma")
    add_shader(maya, "usdPreviewSurface9SG", "paint7", "usdPreviewSurface", [], **GREEN)
    assert "0.25, 0.5, 0.125" in again()


def test_files_of_an_export_are_found_after_it(crowd, tmp_path):
    exports = importlib.import_module("verdigris.plugins.maya.scene.exports")
    exports.load_plugin(exports.USD_PLUGIN)
    stage = exports.exported_stage("paint3", ())
    graph = "/persp/mtl/paint3SG/MayaNG_paint3SG"
    file = stage.GetAttributeAtPath(f"{graph}/picture3.inputs:file").Get()
    # maya-usd writes it relative to its own file, which is gone
    assert file.path == (tmp_path / "maps" / "plain.png").as_posix()
