"""The LOP that bakes: its digital asset, its buttons and its results on the stage."""

import importlib
import json
import re
from functools import partial
from pathlib import Path

import pytest
from fake_worker import FakeWorker
from pxr import UsdShade

from verdigris.core.worker.client.client import WorkerClient
from verdigris.plugins.common.bake_queue import BakeQueue

from ...core.worker.running_worker import BRISK_WORKER
from ..hosts import flattened
from .scenes import LIBRARY

BAKE = "/stage/verdigris_bake"


def module(name):
    return importlib.import_module(f"verdigris.plugins.houdini.{name}")


@pytest.fixture
def scene(harness, tmp_path, monkeypatch):
    """A scene with a LOP after the materials, and a fake worker."""
    found = harness.houdini
    found.home = str(tmp_path / "preferences")
    monkeypatch.delenv("VERDIGRIS_TREE", raising=False)
    found.workers = []

    def make():
        found.workers.append(FakeWorker())
        return found.workers[-1]

    monkeypatch.setattr(module("nodes.buttons"), "queue", BakeQueue(make))
    module("actions").add_lop()
    assert found.dialogs == []
    return found


def press(scene, name, path=BAKE):
    scene.hou.node(path).parm(name).pressButton()


def parms(scene, path=BAKE):
    return scene.nodes[path]["parms"]


def tick(scene):
    for callback in list(scene.loop):
        callback()


def finish(scene, name, folder, worker=-1):
    """The worker opens and bakes what it was sent."""
    tick(scene)
    client = scene.workers[worker]
    client.emit("opened", chosen=name, materials=[])
    client.emit("phase", name="training")
    client.emit("step", step=1, steps=4)
    tick(scene)
    client.emit("finished", results=[str(folder / f"{name}.vdg")])
    client.emit("state", state="done")
    tick(scene)


def test_the_lop_is_added_after_the_display_node_in_one_undo_step(harness, scene):
    assert scene.nodes[BAKE]["input"] == LIBRARY and scene.nodes[BAKE]["display"]
    assert [label for label, _ in scene.undo_stack] == ["Verdigris Bake"]


# bakes


def test_the_button_bakes_the_materials_and_writes_the_results_to_the_stage(scene, tmp_path):
    parms(scene)["materials"] = "nested tiles"
    parms(scene)["preset"] = "draft"
    steps = len(scene.undo_stack)
    press(scene, "bake")
    # Houdini goes on: the worker is started by the event loop
    assert len(scene.loop) == 1 and not scene.workers
    finish(scene, "nested", tmp_path)
    assert parms(scene)["state"] == f"written: {tmp_path / 'nested.vdg'}"
    finish(scene, "tiles", tmp_path)
    start = scene.workers[0].sent[-1]
    assert (start.name, start.request.preset, start.folder) == (
        "tiles",
        "draft",
        str(tmp_path / "neural"),
    )
    assert parms(scene)["state"] == "2 of 2 materials baked"
    assert scene.loop == [] and scene.workers[0].ended == "closed"
    # each result is one step, and progress is none
    assert [name for name, _ in scene.undo_stack[steps:]] == ["Verdigris result"] * 2
    stage = scene.hou.node(BAKE).stage()
    for name in ("nested", "tiles"):
        found = stage.GetAttributeAtPath(f"/materials/{name}.verdigris:bundle")
        assert str(found.GetTypeName()) == "asset"
        assert Path(found.Get().path) == tmp_path / f"{name}.vdg"
    assert not stage.GetAttributeAtPath("/materials/cascade.verdigris:bundle")


def test_viewport_textures_of_a_lop_become_a_preview_surface(scene, tmp_path):
    parms(scene).update(materials="nested", textures=1)
    press(scene, "bake")
    tick(scene)
    client = scene.workers[0]
    client.emit("opened", chosen="nested", materials=[])
    tick(scene)
    assert client.sent[-1].request.viewport_textures
    files = {kind: str(file) for kind, file in flattened(tmp_path).items()}
    client.emit("finished", results=[str(tmp_path / "nested.vdg")], textures=[files])
    tick(scene)
    stage = scene.hou.node(BAKE).stage()
    material = UsdShade.Material(stage.GetPrimAtPath("/materials/nested"))
    surface, *_ = material.ComputeSurfaceSource()
    assert surface.GetIdAttr().Get() == "UsdPreviewSurface"
    assert "ND_" in material.ComputeSurfaceSource("mtlx")[0].GetIdAttr().Get()


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*", ["nested", "cascade", "tiles"]),
        ("n* tiles", ["nested", "tiles"]),
        ("* ^t*", ["nested", "cascade"]),
        ("/materials/c*", ["cascade"]),
    ],
)
def test_a_pattern_chooses_materials(scene, pattern, expected):
    parms(scene)["materials"] = pattern
    jobs = module("nodes.scene_bakes").jobs_of_lop(scene.hou.node(BAKE))
    assert [job.name for job in jobs] == expected


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"materials": "gold*"}, "no material matches 'gold\\*'.*nested, cascade, tiles"),
        ({"folder": ""}, "the folder is empty"),
    ],
)
def test_wrong_parameters_are_refused_on_the_node(scene, values, message):
    parms(scene).update(values)
    press(scene, "bake")
    assert re.search(message, parms(scene)["state"])
    assert scene.dialogs == [parms(scene)["state"]] and not scene.loop


def test_an_unsaved_scene_and_a_missing_input_are_refused_with_the_remedy(scene):
    scene.path = ""
    press(scene, "bake")
    assert "save the scene, or set a folder" in parms(scene)["state"]
    scene.nodes[BAKE]["input"] = ""
    press(scene, "bake")
    assert "connect a LOP with materials" in parms(scene)["state"]


def test_several_nodes_wait_for_each_other(scene, tmp_path):
    second = scene.add("/stage/second", "verdigris_bake", input=LIBRARY)
    for path, name in ((BAKE, "nested"), (second, "tiles")):
        parms(scene, path)["materials"] = name
        press(scene, "bake", path)
    assert len(scene.loop) == 1
    assert parms(scene, second)["state"] == "waiting for 1 other bake"
    press(scene, "bake", second)
    assert "bakes already" in parms(scene, second)["state"]
    finish(scene, "nested", tmp_path)
    finish(scene, "tiles", tmp_path)
    for path, name in ((BAKE, "nested"), (second, "tiles")):
        assert parms(scene, path)["state"] == f"written: {tmp_path / name}.vdg"
    assert len(scene.workers) == 1


def test_progress_is_shown_on_the_node_and_can_be_cancelled(scene, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module("nodes.scene_bakes").time, "monotonic", lambda: now[0])
    press(scene, "cancel")
    assert parms(scene)["state"] == "nothing to cancel"
    press(scene, "bake")
    tick(scene)
    client = scene.workers[0]
    client.emit("opened", chosen="nested", materials=[])
    client.emit("phase", name="training")
    tick(scene)
    client.emit("step", step=1, steps=4, seconds_left=90.0)
    scene.nodes[BAKE]["comment"] = "mine"
    now[0] += 3
    tick(scene)
    # the comment does not cook, and the artist's own stays
    assert parms(scene)["state"] == "baking nested"
    shown = "mine\nVerdigris: baking nested: training 25%, 1 min 30 s left"
    assert scene.nodes[BAKE]["comment"] == shown and scene.nodes[BAKE]["displaycomment"]
    press(scene, "cancel")
    client.emit("state", state="idle")
    tick(scene)
    assert scene.loop == [] and client.ended == "closed"
    assert parms(scene)["state"].startswith("0 of 3 materials baked; nested: the bake was cancel")
    # nothing was noted
    assert parms(scene)["bundles"] == "{}"
    assert scene.nodes[BAKE]["comment"] == "mine" and not scene.nodes[BAKE]["displaycomment"]


def test_progress_cooks_nothing_and_is_written_every_two_seconds(scene, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module("nodes.scene_bakes").time, "monotonic", lambda: now[0])
    parms(scene)["materials"] = "nested"
    press(scene, "bake")
    tick(scene)
    client = scene.workers[0]
    client.emit("opened", chosen="nested", materials=[])
    client.emit("phase", name="training")
    tick(scene)
    scene.redraw()
    written = []
    for step in range(1, 101):
        now[0] += 0.1
        client.emit("step", step=step, steps=100)
        tick(scene)
        written.append(scene.nodes[BAKE]["comment"])
        assert BAKE not in scene.stale
    # ten seconds
    assert 4 <= len(set(written)) <= 6
    assert "100%" not in parms(scene)["state"]


def test_a_node_that_is_deleted_during_its_bake_loses_no_result(scene, tmp_path):
    parms(scene)["materials"] = "nested"
    press(scene, "bake")
    tick(scene)
    scene.hou.node(BAKE).destroy()
    finish(scene, "nested", tmp_path)
    assert "was deleted during the bake. The result is written to" in scene.dialogs[-1]
    assert scene.loop == []


@pytest.mark.parametrize("call", ["set", "createNode"])
def test_a_change_that_houdini_refuses_is_reported_and_the_queue_goes_on(scene, tmp_path, call):
    """A locked parameter, or a material that cannot be translated."""
    scene.window = True
    press(scene, "bake")
    scene.refuses = {call}
    if call == "createNode":
        module("nodes.buttons").cancel(scene.hou.node(BAKE))
        module("nodes.buttons").bake_materials([scene.hou.node("/mat/gold")])
        tick(scene)
        assert "Houdini reports: createNode failed" in scene.dialogs[-1]
    else:
        for name in ("nested", "cascade", "tiles"):
            finish(scene, name, tmp_path)
        assert "Houdini reports: set failed" in scene.dialogs[-1]
    assert scene.loop == []


def test_a_renamed_node_gets_its_result(scene, tmp_path):
    parms(scene)["materials"] = "nested"
    press(scene, "bake")
    tick(scene)
    for path in [path for path in scene.nodes if path.startswith(BAKE)]:
        scene.nodes[path.replace(BAKE, "/stage/renamed")] = scene.nodes.pop(path)
    finish(scene, "nested", tmp_path)
    assert "nested.vdg" in parms(scene, "/stage/renamed")["bundles"]


def test_the_panel_knows_the_results_of_a_lop_and_lists_its_materials_once(
    harness, scene, tmp_path
):
    parms(scene)["materials"] = "nested"
    before = harness.host.materials()
    press(scene, "bake")
    finish(scene, "nested", tmp_path)
    assert harness.host.materials() == before
    nested = next(each for each in before if each.name == "nested")
    assert harness.host.attached(nested) == tmp_path / "nested.vdg"
    # the panel writes to the LOP, too: no second node writes the same attribute
    from verdigris.core.hosts.host import BakedResult

    harness.host.attach(nested, BakedResult(tmp_path / "again.vdg"))
    assert "/stage/verdigris_result" not in scene.nodes
    assert harness.host.attached(nested) == tmp_path / "again.vdg"
    scene.selection = [BAKE]
    assert nested in harness.host.selected_materials()


def test_a_result_of_a_lop_is_found_again_in_the_saved_scene(harness, scene, tmp_path):
    parms(scene)["materials"] = "nested"
    press(scene, "bake")
    finish(scene, "nested", tmp_path)
    file = Path(scene.path)
    harness.host.save_scene()
    scene.hou.hipFile.clear(suppress_save_prompt=True)
    harness.host.open_scene(file)
    nested = next(each for each in harness.host.materials() if each.name == "nested")
    assert harness.host.attached(nested) == tmp_path / "nested.vdg"
    found = scene.hou.node(BAKE).stage().GetAttributeAtPath("/materials/nested.verdigris:bundle")
    assert Path(found.Get().path) == tmp_path / "nested.vdg"


def test_a_scene_that_is_replaced_during_a_bake_loses_no_result(scene, tmp_path):
    parms(scene)["materials"] = "nested"
    press(scene, "bake")
    tick(scene)
    scene.hou.hipFile.clear(suppress_save_prompt=True)
    finish(scene, "nested", tmp_path)
    assert "The result is written to" in scene.dialogs[-1] and scene.loop == []


def test_a_state_of_a_bake_that_no_longer_runs_is_corrected_when_a_scene_opens(scene):
    parms(scene)["state"] = "baking nested"
    scene.nodes[BAKE]["comment"] = "mine\nVerdigris: baking nested: training 25%"
    names = {"kwargs": {"node": scene.hou.node(BAKE)}}
    exec(scene.definitions["verdigris_bake"]["sections"]["OnLoaded"], names)
    assert parms(scene)["state"] == "interrupted: press Bake again"
    assert scene.nodes[BAKE]["comment"] == "mine"


# without a window


def test_without_a_window_the_button_waits_and_fails_with_the_reason(scene, monkeypatch, capsys):
    scene.window = False
    parms(scene)["materials"] = "nested"
    worker = FakeWorker()
    monkeypatch.setattr(module("nodes.buttons"), "queue", BakeQueue(lambda: worker))
    worker.emit("error", command="open", text="nested: 'kma_hair' is a node of Karma only")
    with pytest.raises(scene.hou.OperationFailed, match="'kma_hair' is a node of Karma only"):
        press(scene, "bake")
    assert "kma_hair" in parms(scene)["state"] and scene.loop == []
    # the terminal is never silent until the end
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "verdigris: nested: baking nested: reading the material"
    assert "is a node of Karma only" in printed[-1]
    scene.path = ""
    with pytest.raises(scene.hou.OperationFailed, match="save the scene"):
        press(scene, "bake")


def test_a_real_worker_bakes_a_material_of_the_stage(scene, monkeypatch, tmp_path):
    """Without fakes but Houdini's: a bundle that verifies, and its path on the stage."""
    from verdigris.core import api

    scene.window = False
    parms(scene)["materials"] = "tiles"
    brisk = partial(WorkerClient, BRISK_WORKER)
    monkeypatch.setattr(module("nodes.buttons"), "queue", BakeQueue(brisk))
    scenes = module("nodes.scene_bakes")
    plain = scenes.BakeRequest
    small = {"resolution": 16, "iterations": 40, "batch": 256, "network": "2x16"}
    monkeypatch.setattr(
        scenes, "BakeRequest", lambda **values: plain(**values, changes=dict(small))
    )
    press(scene, "bake")
    noted = json.loads(parms(scene)["bundles"])["/materials/tiles"]
    found = Path(noted.replace("$HIP", tmp_path.as_posix()))
    assert found.parent == tmp_path / "neural"
    assert api.verify(api.open_bundle(found)).holds


# materials of networks


def test_clicked_materials_are_baked_and_noted_on_themselves(harness, scene, tmp_path):
    actions = module("actions")
    scene.add_builder("/mat/karma", "kma", "mtlxstandard_surface")
    scene.stages["/mat/karma"] = scene.stages["/mat/gold"]
    gold, inside = scene.hou.node("/mat/gold"), scene.hou.node("/mat/karma/surface")
    scene.selection = ["/mat/gold", "/mat/karma/surface"]
    jobs = []
    monkeyed = module("nodes.buttons")
    monkeyed._run, run = jobs.extend, monkeyed._run
    try:
        actions.bake_clicked(inside)
        assert [job.material.key for job in jobs] == ["/mat/gold", "/mat/karma"]
        jobs.clear()
        scene.selection = []
        actions.bake_clicked(gold)
    finally:
        monkeyed._run = run
    assert [job.material.key for job in jobs] == ["/mat/gold"]
    run(jobs)
    finish(scene, "gold", tmp_path)
    assert harness.host.attached(harness.first) == tmp_path / "gold.vdg"
    assert scene.dialogs[-1] == "Verdigris: 1 material baked"


def test_a_click_on_nothing_that_can_be_baked_is_an_error(scene):
    module("actions").bake_selected()
    assert "no MaterialX material is selected" in scene.dialogs[-1]
    scene.path = ""
    module("actions").bake_clicked(scene.hou.node("/mat/gold"))
    assert "the scene is not saved" in scene.dialogs[-1]


def test_the_network_of_tops_lists_bakes_and_waits(scene):
    steps = len(scene.undo_stack)
    module("actions").add_tops()
    top = "/obj/verdigris_tops"
    assert scene.nodes[f"{top}/bake"]["input"] == f"{top}/materials"
    assert scene.nodes[f"{top}/all_baked"]["input"] == f"{top}/bake"
    assert parms(scene, f"{top}/localscheduler") == {"maxprocsmenu": "-1", "maxprocs": 1}
    assert "`@material`" in parms(scene, f"{top}/bake")["pdg_command"]
    assert len(scene.undo_stack) == steps + 1
    scene.path = ""
    module("actions").add_tops()
    assert "save it first" in scene.dialogs[-1]


def test_the_script_of_the_tops_makes_an_item_for_each_material(scene, monkeypatch):
    """Runs the text as PDG does, with the answer of a batch that lists."""
    import subprocess
    import sys
    from types import SimpleNamespace

    items = []

    def make_item(index):
        items.append({"index": index})
        return SimpleNamespace(
            setStringAttrib=items[-1].__setitem__, setIntAttrib=items[-1].__setitem__
        )

    answer = SimpleNamespace(returncode=0, stderr="")
    commands = []

    def run(command, capture_output, text):
        commands.append(command)
        Path(command[-1]).write_text(json.dumps({"materials": listed}))
        return answer

    listed = [{"key": "/mat/gold"}, {"key": "/stage/a:/materials/b", "error": ""}]
    listed.append({"key": "/mat/rs", "error": "is a material of Redshift"})
    monkeypatch.setattr(subprocess, "run", run)
    hou = SimpleNamespace(
        text=SimpleNamespace(expandString=lambda text: text),
        hipFile=SimpleNamespace(path=lambda: "/shot.hip"),
    )
    monkeypatch.setitem(sys.modules, "hou", hou)
    holder = SimpleNamespace(addWorkItem=make_item)
    text = module("nodes.top_recipe").GENERATE
    exec(text, {"item_holder": holder})
    assert [each["material"] for each in items] == ["/mat/gold", "/stage/a:/materials/b"]
    assert commands[0][:4] == ["$HFS/bin/hython", "$VERDIGRIS_TREE/batch.py", "/shot.hip", "--list"]
    answer.returncode, answer.stderr = 1, "Traceback\nthe scene has no MaterialX material\n"
    with pytest.raises(RuntimeError, match="the scene has no MaterialX material"):
        exec(text, {"item_holder": holder})
