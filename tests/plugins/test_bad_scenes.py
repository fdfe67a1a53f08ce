"""Incomplete scenes: the error names the problem, and the scene does not change."""

import base64
import importlib
import json
import zlib

import fake_houdini
import fake_maya
import pytest
from pxr import Usd

from verdigris.core.base.errors import VerdigrisError
from verdigris.plugins.common import batch_bake
from verdigris.plugins.common.batch import materials
from verdigris.plugins.common.batch.arguments import BatchOptions
from verdigris.plugins.common.batch.bake_process import Ended
from verdigris.plugins.common.batch.materials import bake_scene, choose

from .houdini.scenes import GOLD, LIBRARY, PLATE, visible
from .maya.scenes import SHAPE, open_scene

STACK = "|materialXStack1|materialXStackShape1"
BARE = """<materialx version="1.39">
<surfacematerial name="hollow" type="material"/></materialx>"""
HOLLOW = """#usda 1.0
def Scope "materials" {
    def Material "hollow" {}
}
"""


class Case:
    def __init__(self, scene, host):
        self.scene, self.host = scene, host


@pytest.fixture
def maya(monkeypatch):
    scene = fake_maya.Scene()
    fake_maya.install(monkeypatch, scene)
    return Case(scene, importlib.import_module("verdigris.plugins.maya.adapter").MayaHost())


@pytest.fixture
def houdini(monkeypatch):
    scene = fake_houdini.Scene()
    scene.hou = fake_houdini.install(monkeypatch, scene)
    return Case(scene, importlib.import_module("verdigris.plugins.houdini.adapter").HoudiniHost())


@pytest.fixture(params=["maya", "houdini"])
def empty(request):
    return request.getfixturevalue(request.param)


def add_stage(case, tmp_path, text=HOLLOW):
    path = tmp_path / "stage.usda"
    path.write_text(text)
    case.scene.add(LIBRARY, "null", display=True)
    case.scene.stages[LIBRARY] = str(path)


def test_a_scene_without_materialx_is_reported_with_the_remedy(empty):
    before = empty.scene.state()
    with pytest.raises(VerdigrisError, match=r"no MaterialX material: add one \(with LookdevX"):
        choose(empty.host, BatchOptions())
    assert empty.scene.state() == before


def test_a_material_of_a_stack_without_a_surface_is_named(maya):
    host = open_scene(maya.scene, "stack.ma")
    stack = maya.scene.nodes[STACK]["attributes"]
    packed = base64.b64encode(len(BARE).to_bytes(4, "big") + zlib.compress(BARE.encode()))
    stack["documents"] = json.dumps([{"name": "document1", "document": packed.decode()}])
    (warning,) = host.scene_warnings()
    assert warning == f"{STACK}: hollow has no surface shader: connect one to bake it"


def test_a_material_of_a_stage_without_a_surface_is_listed_with_the_reason(houdini, tmp_path):
    add_stage(houdini, tmp_path)
    (hollow,) = houdini.host.materials()
    assert hollow.name == "hollow" and "connect a MaterialX surface" in hollow.problem
    (outcome,) = bake_scene(houdini.host, BatchOptions(hand_over=True, out=tmp_path))
    assert (outcome.status, outcome.error) == ("left out", hollow.problem)


def test_a_material_of_mat_without_a_surface_is_named(houdini, tmp_path):
    houdini.scene.add("/mat/hollow", "mtlxstandard_surface", material=True)
    (tmp_path / "hollow.usda").write_text(HOLLOW)
    houdini.scene.stages["/mat/hollow"] = str(tmp_path / "hollow.usda")
    before = visible(houdini.scene)
    (outcome,) = bake_scene(houdini.host, BatchOptions(hand_over=True, out=tmp_path))
    assert outcome.status == "failed" and "hollow" in outcome.error
    assert "surface" in outcome.error
    assert visible(houdini.scene) == before


def test_an_unloaded_reference_is_named_with_the_remedy(maya):
    host = open_scene(maya.scene, "stack.ma")
    maya.scene.references = {"/shots/chair.ma": True, "/shots/table.ma": False}
    (warning, *_) = host.scene_warnings()
    assert warning.startswith(
        "the reference /shots/table.ma is not loaded: load it in the Reference"
    )
    # an unknown name may be in the reference
    with pytest.raises(VerdigrisError, match=r"no material 'oak'.*table\.ma is not loaded"):
        choose(host, BatchOptions(materials=("oak",)))


def test_unloaded_payloads_and_broken_references_are_named_with_the_remedy(houdini, tmp_path):
    stage = Usd.Stage.CreateInMemory()
    stage.DefinePrim("/table").GetReferences().AddReference("/shots/table.usda")
    stage.GetRootLayer().Export(str(tmp_path / "shot.usda"))
    add_stage(houdini, tmp_path, (tmp_path / "shot.usda").read_text())
    (warning,) = houdini.host.scene_warnings()
    assert "references are broken: Could not open asset @/shots/table.usda@" in warning

    there = Usd.Stage.CreateInMemory()
    there.SetDefaultPrim(there.DefinePrim("/chair"))
    there.GetRootLayer().Export(str(tmp_path / "chair.usda"))
    held = Usd.Stage.CreateInMemory()
    chair = held.DefinePrim("/chair")
    chair.GetPayloads().AddPayload(str(tmp_path / "chair.usda"))
    chair.Unload()
    module = importlib.import_module("verdigris.plugins.houdini.scene.stage")
    node = houdini.scene.hou.node(LIBRARY)
    type(node).stage = lambda self: held
    assert "payloads are not loaded: /chair. Load them" in module.stage_warnings([node])[0]


def test_a_locked_mesh_is_not_painted_on(maya):
    host = open_scene(maya.scene, "stack.ma")
    maya.scene.nodes[SHAPE]["locked"] = True
    before = maya.scene.state()
    with pytest.raises(VerdigrisError, match="plateShape is locked: unlock it"):
        host.start_painting(SHAPE)
    assert maya.scene.state() == before and maya.scene.undo_stack == []


def test_an_object_inside_a_locked_asset_is_not_painted_on(houdini, tmp_path):
    houdini.scene.add(PLATE, "geo", locked=True)
    houdini.scene.add(f"{PLATE}/shape", "null", display=True)
    houdini.scene.geometries[f"{PLATE}/shape"] = fake_houdini.plate()
    before = houdini.scene.state()
    with pytest.raises(VerdigrisError, match="/obj/plate is inside a locked asset: allow editing"):
        houdini.host.start_painting(PLATE)
    assert houdini.scene.state() == before


def test_a_mesh_of_a_stage_without_uvs_is_refused_with_the_remedy(houdini, tmp_path):
    mesh = """
def Mesh "plate" {
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
}
"""
    add_stage(houdini, tmp_path, GOLD + mesh)
    with pytest.raises(VerdigrisError, match=r"/plate: has no texture coordinates.*unwrap it"):
        houdini.host.mesh(f"{LIBRARY}:/plate")


def test_a_batch_that_notes_results_saves_the_scene(empty, monkeypatch, tmp_path):
    scene = empty.scene
    if isinstance(scene, fake_maya.Scene):
        open_scene(scene, "stack.ma")
        scene.members["Standard_Surface1SG"] = [SHAPE]
    else:
        scene.add("/mat/gold", "mtlxstandard_surface", material=True)
        (tmp_path / "gold.usda").write_text(GOLD)
        scene.stages["/mat/gold"] = str(tmp_path / "gold.usda")
        scene.path = str(tmp_path / "shot.hip")
        (tmp_path / "shot.hip").write_text("")
    material = empty.host.materials()[0]
    done = Ended(0, {"event": "finished", "results": [str(tmp_path / "x.vdg")]})
    monkeypatch.setattr(materials, "run_bake", lambda *_: done)
    summary = tmp_path / "summary.json"
    arguments = [scene.path, "-m", material.name, "--attach", "--summary", str(summary)]
    assert batch_bake.main("batch", lambda: empty.host, arguments) == 0
    assert len(scene.saved) == 1 and "x.vdg" in str(scene.saved[0])
    scene.refuses = {"save"}
    assert batch_bake.main("batch", lambda: empty.host, arguments) == 1
    assert "the disk is full" in json.loads(summary.read_text())["error"]
    scene.path = ""
    with pytest.raises(VerdigrisError, match="not saved: save it"):
        empty.host.save_scene()
