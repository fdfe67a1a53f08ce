"""Materials of USD stages in a Maya scene."""

import pytest

from verdigris.core.base.errors import DocumentError, HostError
from verdigris.core.hosts.host import BakedResult
from verdigris.core.material.load.mtlx_document import parse_document

from ..hosts import by_name, flattened
from .scenes import USD_DATA, open_scene

SHAPE = "|show:stage1|show:stageShape1"
FLOOR = """#usda 1.0
(
    upAxis = "Y"
    subLayers = [@{materials}@]
)
def Xform "set"
{{
    def Mesh "floor" (prepend apiSchemas = ["MaterialBindingAPI"])
    {{
        int[] faceVertexCounts = [4, 3]
        int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 2]
        point3f[] points = [(0,0,0), (1,0,0), (1,1,0), (0,1,0), (2,0,0)]
        texCoord2f[] primvars:st = [(0,0), (0.5,0), (0.5,1), (0,1), (1,0)] (
            interpolation = "vertex"
        )
        float[] primvars:verdigris_weights = [1, 4, 4, 1, 1] (interpolation = "vertex")
        rel material:binding = </plate/mtl/standardSurface2SG>
    }}
}}
"""


@pytest.fixture
def staged(maya, tmp_path):
    from pxr import Usd

    host = open_scene(maya, "stack.ma")
    file = tmp_path / "show.usda"
    file.write_text(FLOOR.format(materials=(USD_DATA / "maya_usd.usda").as_posix()))
    maya.add(SHAPE.rpartition("|")[0], "transform")
    maya.add(SHAPE, "mayaUsdProxyShape")
    maya.stages[SHAPE] = Usd.Stage.Open(file.as_posix())
    return host


def gold_of(host):
    key = f"{SHAPE},/plate/mtl/standardSurface2SG"
    return next(each for each in host.materials() if each.key == key)


def test_materials_of_a_stage_are_listed_and_read(staged):
    gold = gold_of(staged)
    assert (gold.name, gold.source) == ("standardSurface2SG", "USD stage")
    found = staged.document(gold)
    loaded = parse_document(found.text, found.search)
    loaded.check(loaded.require_material(found.material))
    assert USD_DATA / "textures" in found.search


def test_meshes_of_a_stage_have_their_primvar_as_weights(staged):
    gold = gold_of(staged)
    assert f"{SHAPE},/set/floor" in staged.meshes(gold)
    mesh = staged.mesh(f"{SHAPE},/set/floor", gold)
    assert len(mesh.uv) == 3
    # by vertex: the triangles are fans of the quad and the triangle
    assert mesh.weights.tolist() == [[1, 4, 4], [1, 4, 1], [4, 1, 4]]
    assert "verdigris_weights" in staged.weight_sets(f"{SHAPE},/set/floor")
    with pytest.raises(HostError, match="show:stageShape1 has no mesh /gone: refresh"):
        staged.mesh(f"{SHAPE},/gone")
    with pytest.raises(HostError, match="which Maya's brush does not reach: paint in the panel"):
        staged.start_painting(f"{SHAPE},/set/floor")


@pytest.mark.parametrize(
    "item",
    [
        f"{SHAPE},/plate/mtl/standardSurface2SG",
        f"{SHAPE},/plate/mtl/standardSurface2SG/standardSurface2",
        f"{SHAPE},/set/floor",
        f"{SHAPE},/set",
        SHAPE,
        SHAPE.rpartition("|")[0],
    ],
)
def test_a_selected_item_selects_its_material(staged, maya, item):
    maya.selection = [item]
    assert gold_of(staged) in staged.selected_materials()
    maya.selection = ["|plate"]
    assert gold_of(staged) not in staged.selected_materials()


def test_a_result_is_noted_at_the_shape_and_found_after_a_rename(staged, maya, tmp_path):
    gold, before = gold_of(staged), maya.state()
    result = BakedResult(tmp_path / "gold.vdg", flattened(tmp_path))
    staged.attach(gold, result)
    # no shader of Maya's: a stage cannot use it
    assert set(maya.nodes) == set(before[1])
    assert staged.attached(gold) == tmp_path / "gold.vdg"
    others = [each for each in staged.materials() if each != gold]
    assert {staged.attached(each) for each in others} == {None}
    for kept in (maya.nodes, maya.uuids, maya.stages):
        kept["|late|lateShape"] = kept.pop(SHAPE)
    renamed = next(m for m in staged.materials() if m.key.endswith("/standardSurface2SG"))
    assert staged.attached(renamed) == tmp_path / "gold.vdg"
    assert staged.identity(renamed).endswith(" ,/plate/mtl/standardSurface2SG")


def test_the_look_is_shown_by_a_layer_over_the_stage(staged, maya, tmp_path):
    from pxr import UsdShade

    gold = gold_of(staged)
    stage = maya.stages[SHAPE]

    def shown():
        material = UsdShade.Material(stage.GetPrimAtPath(gold.key.partition(",")[2]))
        return str(material.ComputeSurfaceSource("mtlx")[0].GetPath())

    source, saved = shown(), (tmp_path / "show.usda").read_text()
    bundle = tmp_path / "gold.vdg"
    staged.attach(gold, BakedResult(bundle))
    with pytest.raises(HostError, match="no baked look for its materials: bake with Textures"):
        staged.switch_look([gold])
    bundle.mkdir()
    (tmp_path / "gold_base_color.png").write_bytes(b"")
    said = staged.switch_look([gold])
    layer = tmp_path / "show.looks.usda"
    assert said == (
        "Baked looks are shown: standardSurface2SG. To keep them, put "
        f"{layer} in the stage's sublayers"
    )
    assert shown().endswith("standardSurface2SG/verdigris_look/materialx")
    assert staged.switch_look([gold]) == f"The materials of {SHAPE} are shown again"
    assert shown() == source and (tmp_path / "show.usda").read_text() == saved
    # a second bake is seen at once
    (tmp_path / "gold_roughness.png").write_bytes(b"")
    staged.switch_look([gold])
    look = stage.GetPrimAtPath(f"{gold.key.partition(',')[2]}/verdigris_look/preview_roughness")
    assert look.IsValid()


def test_a_shape_without_a_stage_is_a_warning_and_hides_nothing(staged, maya):
    maya.stages.clear()
    assert [each for each in staged.materials() if each.source == "USD stage"] == []
    assert by_name(staged, "Plate")
    assert any("stageShape1 has no stage: see why" in each for each in staged.scene_warnings())


def test_a_material_without_a_surface_is_listed_with_the_reason(staged):
    import mayaUsd.lib
    from pxr import UsdShade

    stage = mayaUsd.lib.GetPrim(SHAPE).GetStage()
    UsdShade.Material.Define(stage, "/plate/mtl/bare")
    bare = next(each for each in staged.materials() if each.name == "bare")
    assert bare.problem.startswith("has no surface: connect a MaterialX surface shader")
    with pytest.raises(DocumentError, match="/plate/mtl/bare: has no surface"):
        staged.document(bare)
    assert gold_of(staged).problem == ""


def test_each_stage_is_traversed_once_for_the_selection(staged, maya, monkeypatch):
    from verdigris.plugins.maya.scene import stages

    traversed, traverse = [], stages.meshes_by_material
    monkeypatch.setattr(
        stages, "meshes_by_material", lambda stage: traversed.append(stage) or traverse(stage)
    )
    maya.selection = [f"{SHAPE},/set/floor"]
    assert [each.key for each in staged.selected_materials()] == [gold_of(staged).key]
    assert len(traversed) == 1


def test_without_the_python_of_maya_usd_the_package_is_named(staged, monkeypatch):
    import sys

    gold = gold_of(staged)
    monkeypatch.setitem(sys.modules, "mayaUsd.lib", None)
    with pytest.raises(HostError, match="Python package of maya-usd is missing"):
        staged.document(gold)
