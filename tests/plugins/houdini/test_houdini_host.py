"""The adapter of Houdini, with a strict fake and real stages."""

import sys
import xml.etree.ElementTree as xml
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pxr import UsdShade

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import BakedResult, HostMaterial, LadderLook, RungLook

from ..contract import *  # noqa: F403 - the tests of the contract
from ..hosts import by_name, flattened
from .scenes import LIBRARY, PLATE, USD_DATA, texture_of, visible


def test_materials_of_mat_and_of_the_display_node_are_listed(host):
    assert [(each.key, each.source) for each in host.materials()] == [
        ("/mat/gold", "material network"),
        (f"{LIBRARY}:/materials/nested", "USD stage"),
        (f"{LIBRARY}:/materials/cascade", "USD stage"),
        (f"{LIBRARY}:/materials/tiles", "USD stage"),
    ]


def test_a_material_of_mat_is_translated_and_leaves_no_visible_node_behind(host, houdini):
    before = visible(houdini)
    found = host.document(by_name(host, "gold"))
    assert found.material == "gold" and 'value="0.9, 0.6, 0.2"' in found.text
    assert visible(houdini) == before and houdini.undo_stack == []


# A texture without a colour space for a colour and for a number.
TEXTURED = """#usda 1.0
def Scope "materials" {
    def Material "gold" {
        token outputs:mtlx:surface.connect = </materials/gold/surface.outputs:out>
        def Shader "surface" {
            uniform token info:id = "ND_standard_surface_surfaceshader"
            color3f inputs:base_color.connect = </materials/gold/colour.outputs:out>
            float inputs:specular_roughness.connect = </materials/gold/number.outputs:out>
            token outputs:out
        }
        def Shader "colour" {
            uniform token info:id = "ND_image_color3"
            asset inputs:file = @%s@
            color3f outputs:out
        }
        def Shader "number" {
            uniform token info:id = "ND_image_float"
            asset inputs:file = @/n.png@
            float outputs:out
        }
    }
}
"""


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("/c.png", "srgb_texture"),
        ("/c.exr", "acescg"),
        ("/c.tif", "srgb_texture"),
        ("/c.own", "studio log"),
        ("no OCIO.png", None),
        ("damaged.png", None),
    ],
)
def test_images_are_in_the_space_that_houdini_chooses_by_their_names(
    host, houdini, tmp_path, monkeypatch, file, expected
):
    rules = {
        ".png": ("sRGB - Display", 1), ".exr": ("ACEScg", 2), ".tif": ("default", 3),
        ".own": ("Studio Log", 0),
    }  # fmt: skip
    named = {"default": SimpleNamespace(getName=lambda: "sRGB - Texture")}
    config = SimpleNamespace(
        getColorSpaceFromFilepath=lambda path: rules[Path(path).suffix], getColorSpace=named.get
    )

    def current():
        if file == "damaged.png":
            raise ArithmeticError
        return config

    module = SimpleNamespace(GetCurrentConfig=current, Exception=ArithmeticError)
    monkeypatch.setitem(sys.modules, "PyOpenColorIO", None if file == "no OCIO.png" else module)
    # which Houdini lacks
    monkeypatch.setitem(sys.modules, "MaterialX", None)
    (tmp_path / "gold.usda").write_text(TEXTURED % file)
    houdini.stages["/mat/gold"] = str(tmp_path / "gold.usda")
    root = xml.fromstring(host.document(by_name(host, "gold")).text)
    spaces = {
        node.get("type"): node.find("input[@name='file']").get("colorspace")
        for node in root.iter("image")
    }
    assert spaces == {"color3": expected, "float": None}


def test_a_translation_that_fails_leaves_no_visible_node_behind_either(host, houdini):
    before = visible(houdini)
    houdini.stages["/mat/gold"] = "broken"
    with pytest.raises(HostError, match="does not cook"):
        host.document(by_name(host, "gold"))
    assert visible(houdini) == before


def test_a_karma_node_is_named_with_the_input_that_loses_it(host, houdini):
    houdini.stages[LIBRARY] = str(USD_DATA / "solaris.usda")
    found = host.document(by_name(host, "karma"))
    assert any("'kma_curvature', a node of Karma only" in note for note in found.notes)
    problems = {each.name: each.problem for each in host.materials()}
    assert problems["preview"] == "" and "mtlx:surface" in problems["bare"]
    # what can be baked comes first
    assert list(problems)[-1] in ("bare", "absent")


def test_a_stage_that_does_not_cook_is_named(host, houdini):
    houdini.stages[LIBRARY] = "broken"
    with pytest.raises(HostError, match="/stage/materials does not cook: Error: cook failed"):
        host.materials()


def test_selected_lops_replace_the_display_node(host, houdini, tmp_path):
    houdini.add("/stage/other", "null")
    houdini.stages["/stage/other"] = str(tmp_path / "gold.usda")
    houdini.selection = ["/stage/other"]
    assert [each.key for each in host.selected_materials()] == ["/stage/other:/materials/gold"]
    houdini.selection = [PLATE]
    assert [each.key for each in host.selected_materials()] == ["/mat/gold"]


def test_an_unsaved_scene_is_reported(host):
    assert host.scene_file() is None
    assert "not saved" in host.document(by_name(host, "nested")).notes[-1]


def test_faces_of_a_subset_are_meshes_of_its_material(host):
    (name,) = host.meshes(by_name(host, "cascade"))
    assert name == f"{LIBRARY}:/plate"
    part = host.mesh(name, by_name(host, "cascade"))
    assert part.uv.tolist() == [[[0.5, 0], [1, 0], [0.5, 1]]]
    assert part.weights.tolist() == [[4, 4, 4]]
    assert part.notes == (f"{name}: 1 of 2 faces have another material",)
    assert len(host.mesh(name).uv) == 3


def test_only_faces_with_the_material_are_read(host, houdini):
    houdini.nodes[PLATE]["parms"]["shop_materialpath"] = ""
    geometry = houdini.geometries["/obj/plate/shape"]
    geometry["prims"]["shop_materialpath"] = ["/mat/gold", "/mat/other"]
    assert host.meshes(by_name(host, "gold")) == (PLATE,)
    mesh = host.mesh(PLATE, by_name(host, "gold"))
    assert len(mesh.uv) == 2 and "1 of 2 faces" in mesh.notes[0]


def test_weights_of_vertices_override_those_of_points(host, houdini):
    geometry = houdini.geometries["/obj/plate/shape"]
    geometry["points"]["verdigris_weights"] = np.full((5, 1), 2.0)
    assert (host.mesh(PLATE).weights == 2).all()
    geometry["vertices"]["verdigris_weights"] = np.arange(7, dtype=float)[:, None]
    # the winding is reversed
    assert host.mesh(PLATE).weights.tolist() == [[2, 1, 0], [3, 2, 0], [6, 5, 4]]
    assert host.mesh(PLATE).uv[2].tolist() == [[0.5, 0], [1, 0], [0.5, 1]]


def test_a_mesh_without_uvs_is_refused_with_the_remedy(host, houdini):
    del houdini.geometries["/obj/plate/shape"]["vertices"]["uv"]
    with pytest.raises(HostError, match="has no attribute 'uv': add a UV Unwrap"):
        host.mesh(PLATE)


def test_a_result_is_an_asset_on_the_usd_material_behind_the_node(harness, tmp_path):
    houdini = harness.houdini
    houdini.add("/stage/render", "null", input=LIBRARY)
    before = harness.snapshot()
    nested, tiles = (by_name(harness.host, name) for name in ("nested", "tiles"))
    harness.host.attach(nested, BakedResult(tmp_path / "nested.vdg"))
    steps = len(houdini.undo_stack)
    holder = houdini.hou.node("/stage/verdigris_result")
    assert houdini.nodes["/stage/render"]["input"] == holder.path()
    attribute = holder.stage().GetAttributeAtPath("/materials/nested.verdigris:bundle")
    assert str(attribute.GetTypeName()) == "asset"
    assert Path(attribute.Get().path) == tmp_path / "nested.vdg"
    houdini.undo()
    assert steps == 1 and harness.snapshot() == before

    harness.host.attach(nested, BakedResult(tmp_path / "nested.vdg"))
    # the stage now shows the result node, with the same materials
    again = HostMaterial(f"{LIBRARY}:/materials/tiles", "tiles", tiles.source)
    harness.host.attach(again, BakedResult(tmp_path / "tiles.vdg"))
    names = [path for path in houdini.nodes if "verdigris_result" in path]
    assert names == ["/stage/verdigris_result"]
    stage = houdini.hou.node(names[0]).stage()
    for name in ("nested", "tiles"):
        found = stage.GetAttributeAtPath(f"/materials/{name}.verdigris:bundle").Get()
        assert Path(found.path) == tmp_path / f"{name}.vdg"
    shown = [each for each in harness.host.materials() if each.name == "nested"]
    assert harness.host.attached(shown[0]) == tmp_path / "nested.vdg"


def test_keys_of_stage_materials_stay_after_a_bake_and_its_undo(harness, tmp_path):
    before = harness.host.materials()
    harness.host.attach(by_name(harness.host, "nested"), BakedResult(tmp_path / "nested.vdg"))
    assert harness.houdini.nodes["/stage/verdigris_result"]["display"]
    assert harness.host.materials() == before
    harness.undo()
    assert harness.host.materials() == before


def test_flattened_textures_become_a_principled_shader_beside_a_material_of_mat(harness, tmp_path):
    before, listed = harness.snapshot(), harness.host.materials()
    harness.host.attach(harness.first, BakedResult(tmp_path / "a.vdg", flattened(tmp_path)))
    made = harness.houdini.nodes["/mat/gold_verdigris"]
    for parm, kind in (
        ("basecolor_texture", "base_color"),
        ("rough_texture", "roughness"),
        ("metallic_texture", "metalness"),
        ("baseNormal_texture", "normal"),
    ):
        assert made["parms"][parm] == f"$HIP/{kind}.png"
    # factors of textures are 1, unlike the defaults of the shader
    assert all(made["parms"][name] == 1 for name in ("basecolorg", "rough", "metallic"))
    made["material"] = True
    assert harness.host.materials() == listed
    harness.undo()
    assert harness.snapshot() == before


def test_flattened_textures_are_a_preview_surface_on_the_usd_material(harness, tmp_path):
    nested = by_name(harness.host, "nested")
    harness.host.attach(nested, BakedResult(tmp_path / "a.vdg", flattened(tmp_path)))
    # a later bake of another material keeps them
    tiles = HostMaterial(f"{LIBRARY}:/materials/tiles", "tiles", nested.source)
    harness.host.attach(tiles, BakedResult(tmp_path / "b.vdg"))
    stage = harness.houdini.hou.node("/stage/verdigris_result").stage()
    material = UsdShade.Material(stage.GetPrimAtPath("/materials/nested"))
    assert not stage.GetPrimAtPath("/materials/tiles/verdigris_look")
    surface, *_ = material.ComputeSurfaceSource()
    assert surface.GetIdAttr().Get() == "UsdPreviewSurface"
    # renderers with MaterialX keep their surface
    assert "ND_" in material.ComputeSurfaceSource("mtlx")[0].GetIdAttr().Get()
    for name, kind, channels, space in (
        ("diffuseColor", "base_color", "rgb", "sRGB"),
        ("roughness", "roughness", "r", "raw"),
        ("metallic", "metalness", "r", "raw"),
        ("normal", "normal", "rgb", "raw"),
    ):
        texture = texture_of(surface, name, channels)
        assert Path(texture.GetInput("file").Get().path) == tmp_path / f"{kind}.png"
        assert texture.GetInput("sourceColorSpace").Get() == space
        (st,) = UsdShade.Utils.GetValueProducingAttributes(texture.GetInput("st"))
        assert UsdShade.Shader(st.GetPrim()).GetInput("varname").Get() == "st"
    assert tuple(texture.GetInput("scale").Get()) == (2, 2, 2, 1)
    assert tuple(texture.GetInput("bias").Get()) == (-1, -1, -1, 0)


def test_a_node_inside_a_locked_asset_is_refused_and_nothing_changes(harness, tmp_path):
    harness.houdini.nodes["/mat/gold"]["locked"] = True
    before = harness.snapshot()
    with pytest.raises(HostError, match="/mat/gold is inside a locked asset"):
        harness.host.attach(harness.first, BakedResult(tmp_path / "a.vdg"))
    assert harness.snapshot() == before


@pytest.mark.parametrize("call", ["createNode", "setUserData", "set"])
def test_a_failure_undoes_its_own_changes_only(harness, tmp_path, call):
    harness.houdini.undo_stack.append(("the artist's own step", None))
    before = harness.snapshot()
    harness.houdini.refuses = {call}
    with pytest.raises(HostError, match="Houdini reports"):
        harness.host.attach(by_name(harness.host, "nested"), BakedResult(tmp_path / "a.vdg"))
    assert harness.snapshot() == before
    assert [name for name, _ in harness.houdini.undo_stack] == ["the artist's own step"]


@pytest.mark.parametrize("kind", ["OperationFailed", "PermissionError", "ObjectWasDeleted"])
@pytest.mark.parametrize("call", ["Parm.set", "Node.createNode", "Node.setUserData"])
def test_whatever_error_houdini_raises_a_half_made_change_is_undone(harness, tmp_path, call, kind):
    scene = harness.houdini
    before = harness.snapshot()
    scene.fails[call] = getattr(scene.hou, kind)("nobody knows why")
    with pytest.raises(HostError, match="Houdini reports: nobody knows why"):
        harness.host.attach(by_name(harness.host, "nested"), BakedResult(tmp_path / "a.vdg"))
    scene.fails.clear()
    assert harness.snapshot() == before


def test_a_file_that_is_not_a_scene_is_refused(host, tmp_path):
    (tmp_path / "bad.hip").write_text("broken")
    with pytest.raises(HostError, match=r"Houdini cannot open .*bad\.hip: not a hip file"):
        host.open_scene(tmp_path / "bad.hip")
    with pytest.raises(HostError, match="does not exist"):
        host.open_scene(tmp_path / "none.hip")


def test_a_material_keeps_its_identity_when_the_scene_is_renamed(harness, houdini, tmp_path):
    host = harness.host
    listed = host.materials()
    before = [host.identity(each) for each in listed]
    houdini.path = str(tmp_path / "version_2.hip")
    assert [host.identity(each) for each in listed] == before
    Path(houdini.path).write_text("whole")
    host.open_scene(Path(houdini.path))
    assert not set(before) & {host.identity(each) for each in listed}


ODD_NAMES = (
    "`touch broken`",
    "$HIP and ${F}",
    'it\'s "quoted" @here',
    "back\\slash \\$HOME \\`x`",
    "$UNKNOWN $ ${",
)
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows allows no such names")


@posix
@pytest.mark.parametrize("name", ODD_NAMES)
def test_houdini_expands_no_name_of_a_file(harness, tmp_path, name):
    folder = tmp_path / name
    textures = {kind: folder / f"{kind}.png" for kind in ("base_color", "roughness")}
    harness.host.attach(harness.first, BakedResult(folder / "a.vdg", textures))
    shader = harness.houdini.hou.node("/mat/gold_verdigris")
    assert shader.parm("basecolor_texture").evalAsString() == str(textures["base_color"])
    assert shader.parm("rough_texture").evalAsString() == str(textures["roughness"])
    nested = by_name(harness.host, "nested")
    harness.host.attach(nested, BakedResult(folder / "b.vdg", textures))
    assert harness.host.attached(nested) == folder / "b.vdg"
    holder = harness.houdini.hou.node("/stage/verdigris_result")
    script = holder.parm("python").rawValue()
    assert "`" not in script and "$" not in script
    found = holder.stage().GetAttributeAtPath("/materials/nested.verdigris:bundle").Get()
    assert found.path == str(folder / "b.vdg")
    shown = "/materials/nested/verdigris_look/preview_base_color.inputs:file"
    assert holder.stage().GetAttributeAtPath(shown).Get().path == str(textures["base_color"])


def test_a_layer_with_the_looks_lies_beside_the_bundle(harness, tmp_path):
    nested = by_name(harness.host, "nested")
    bundle = tmp_path / "nested.vdg"
    bundle.mkdir()
    harness.host.attach(nested, BakedResult(bundle))
    assert not list(tmp_path.glob("*.looks.usda"))
    (tmp_path / "nested_base_color.png").write_bytes(b"")
    harness.host.attach(nested, BakedResult(bundle))
    [layer] = tmp_path.glob("*.looks.usda")
    text = layer.read_text()
    assert "@./nested.vdg@" in text and "@./nested_base_color.png@" in text
    # for a stage with the material that the node has
    node = harness.houdini.hou.node(nested.key.partition(":")[0])
    assert layer.name == f"{node.name()}.looks.usda"


@posix
@pytest.mark.parametrize("name", ODD_NAMES)
def test_houdini_expands_no_name_of_a_ladder(harness, tmp_path, name):
    (tmp_path / name).mkdir()
    stage = tmp_path / name / "gold.usdc"
    stage.touch()
    ladder = LadderLook("gold", (RungLook(name, "a rung"),), stage)
    harness.host.attach_rungs(harness.first, ladder)
    node = harness.houdini.hou.node
    assert node("/stage/gold_ladder").parm("filepath1").evalAsString() == str(stage)
    assert node("/stage/gold_rung").parm("variantname1").evalAsString() == name


def test_results_beside_the_scene_follow_it_to_another_folder(harness, tmp_path):
    host, scene = harness.host, harness.houdini
    nested, folder = by_name(host, "nested"), tmp_path / "neural"
    textures = {"base_color": folder / "base $F.png"}
    host.attach(harness.first, BakedResult(folder / "a.vdg", textures))
    host.attach(nested, BakedResult(folder / "b.vdg", textures))
    assert scene.nodes["/mat/gold"]["data"]["verdigris_bundle"] == "$HIP/neural/a.vdg"
    shader = scene.hou.node("/mat/gold_verdigris").parm("basecolor_texture")
    assert shader.rawValue() == "$HIP/neural/base \\$F.png"
    scene.path = "/farm/shots/shot.hip"
    moved = Path("/farm/shots/neural")
    assert host.attached(harness.first) == moved / "a.vdg"
    assert host.attached(nested) == moved / "b.vdg"
    assert shader.evalAsString() == str(moved / "base $F.png")
    stage = scene.hou.node("/stage/verdigris_result").stage()
    found = stage.GetAttributeAtPath("/materials/nested.verdigris:bundle").Get()
    assert found.path == str(moved / "b.vdg")
    shown = "/materials/nested/verdigris_look/preview_base_color.inputs:file"
    assert stage.GetAttributeAtPath(shown).Get().path == str(moved / "base $F.png")


def test_results_of_a_project_are_relative_to_it_and_others_keep_their_paths(
    harness, tmp_path, monkeypatch
):
    host, data = harness.host, harness.houdini.nodes["/mat/gold"]["data"]
    for file, expected in (
        ("/job/neural/a.vdg", "$JOB/neural/a.vdg"),
        ("/jobs/neural/a.vdg", "/jobs/neural/a.vdg"),
    ):
        host.attach(harness.first, BakedResult(Path(file)))
        assert data["verdigris_bundle"] == expected
        assert host.attached(harness.first) == Path(file)
    # notes of earlier versions
    data["verdigris_bundle"] = "/anywhere/$HIP/a.vdg"
    assert host.attached(harness.first) == Path("/anywhere/$HIP/a.vdg")
    # a scene that was never saved has no folder
    harness.houdini.path = ""
    host.attach(harness.first, BakedResult(Path("/home/a.vdg")))
    assert data["verdigris_bundle"] == "/home/a.vdg"
