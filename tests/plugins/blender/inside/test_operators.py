"""The add-on's operators and panels, registered in a real Blender. The worker is scripted."""

import json
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

import verdigris.plugins.blender as addon
from verdigris.core.worker.client.client import WorkerClient
from verdigris.core.worker.protocol.commands import Start
from verdigris.plugins.blender import bake_job, changes, live_link, operators, panels
from verdigris.plugins.blender.adapter import BlenderHost
from verdigris.plugins.blender.bake_job import BakeJob

SCRIPT = Path(__file__).parent / "scripted_worker.py"
pytestmark = pytest.mark.usefixtures("registered")


@pytest.fixture
def worker(monkeypatch, tmp_path):
    """Workers that answer as a file says, and note the commands that they get."""

    def use(behaviour):
        command = [sys.executable, str(SCRIPT), behaviour, str(tmp_path / "commands.jsonl")]
        monkeypatch.setattr(
            operators,
            "BakeJob",
            lambda *values: BakeJob(*values, make_client=lambda: WorkerClient(command)),
        )

    return use


def commands(tmp_path):
    lines = (tmp_path / "commands.jsonl").read_text().splitlines()
    return {each["command"]: each for each in map(json.loads, lines)}


def test_a_bake_is_noted_at_its_material(harness, tmp_path, worker):
    worker("bakes")
    bpy.context.scene.verdigris.preset = "draft"
    assert bpy.ops.verdigris.bake() == {"FINISHED"}
    host = BlenderHost()
    assert host.attached(host.materials()[0]) == tmp_path / "neural" / "copper.vdg"
    sent = commands(tmp_path)
    assert sent["start"] == {
        "command": "start",
        "folder": f"{tmp_path}/neural",
        "name": "copper",
        "preset": "draft",
        "viewport_textures": True,
    }
    assert sent["open"]["material"] == "copper"
    assert "importance" not in sent


def test_painted_weights_go_to_the_worker(harness, tmp_path, worker):
    worker("bakes")
    harness.paint("plane", 4.0)
    assert bpy.ops.verdigris.bake() == {"FINISHED"}
    assert commands(tmp_path)["importance"]["width"] == 512
    bpy.context.scene.verdigris.use_weights = False
    (tmp_path / "commands.jsonl").unlink()
    assert bpy.ops.verdigris.bake() == {"FINISHED"}
    assert "importance" not in commands(tmp_path)
    assert "preset" not in commands(tmp_path)["start"]


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ("refuses", "no such node: replace it"),
        ("fails", "the disk is full: free space"),
        ("dies", "The worker has ended .code 3.: out of luck"),
    ],
)
def test_a_failure_is_a_report_and_leaves_the_scene(harness, worker, behaviour, message):
    worker(behaviour)
    before = harness.snapshot()
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.verdigris.bake()
    assert harness.snapshot() == before
    assert operators.running_job().state == bake_job.FAILED


def test_without_a_worker_the_report_has_the_command_that_makes_it(harness, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_PYTHON", "/nowhere/python")
    with pytest.raises(RuntimeError, match="VERDIGRIS_PYTHON is '/nowhere/python'"):
        bpy.ops.verdigris.bake()


def test_a_scene_that_was_never_saved_needs_another_folder(plane, tmp_path, worker):
    worker("bakes")
    with pytest.raises(RuntimeError, match="not saved: save it first, or choose another folder"):
        bpy.ops.verdigris.bake()
    bpy.context.scene.verdigris.folder = str(tmp_path / "out")
    assert bpy.ops.verdigris.bake() == {"FINISHED"}


def test_a_folder_that_cannot_be_made_is_a_report(harness, tmp_path, worker):
    worker("bakes")
    (tmp_path / "file").write_text("")
    bpy.context.scene.verdigris.folder = str(tmp_path / "file" / "out")
    with pytest.raises(RuntimeError, match=r"cannot be made .Not a directory.: choose another"):
        bpy.ops.verdigris.bake()


def test_a_material_that_is_renamed_or_deleted_during_the_bake(harness, plane, tmp_path, worker):
    worker("bakes")
    copper = bpy.data.materials["copper"]
    ends = operators.VERDIGRIS_OT_bake._end

    def rename(self):
        copper.name = "bronze"
        return ends(self)

    def delete(self):
        bpy.data.materials.remove(copper)
        return ends(self)

    for change, noted in ((rename, True), (delete, False)):
        operators.VERDIGRIS_OT_bake._end = change
        try:
            assert bpy.ops.verdigris.bake() == {"FINISHED"}
        finally:
            operators.VERDIGRIS_OT_bake._end = ends
        found = {each.name: BlenderHost().attached(each) for each in BlenderHost().materials()}
        assert bool(found.get("bronze")) == noted
    # nothing is lost: the result is on the disk, and the job names it
    assert operators.running_job().log.result.bundle == tmp_path / "neural" / "bronze.vdg"


def test_progress_is_shown_and_a_cancelled_bake_ends_its_worker(harness, tmp_path):
    host = BlenderHost()
    document = host.document(host.materials()[0])
    command = [sys.executable, str(SCRIPT), "waits", str(tmp_path / "commands.jsonl")]
    clients = []

    def make():
        clients.append(WorkerClient(command))
        return clients[0]

    job = BakeJob(document, None, Start(str(tmp_path), "copper"), make)
    assert job.text == "Starting the worker" and job.share == 0
    for _ in range(400):
        job.tick()
        if job.log.progress.step:
            break
        clients[0].wait(0.05)
    assert job.text == "Training: step 25 of 100, 5.0 s left"
    assert job.share == 0.25
    job.cancel()
    assert job.state == bake_job.CANCELLED and job.text == "Cancelled"
    assert clients[0].wait(5)


def test_a_link_outlives_its_bake_while_a_game_looks_on(harness, tmp_path, worker):
    worker("bakes")
    assert bpy.ops.verdigris.link() == {"FINISHED"}
    assert live_link.GAME.is_on and not bpy.ops.verdigris.copy_link.poll()
    assert bpy.ops.verdigris.bake() == {"FINISHED"}
    job, game = operators.running_job(), live_link.GAME
    assert game.text == "Live link: 1 client connected"
    assert bpy.ops.verdigris.copy_link() == {"FINISHED"}
    assert not job._client.wait(0.2)
    first = commands(tmp_path)["link"]
    # the next bake has a worker of its own, with the same address
    assert bpy.ops.verdigris.bake() == {"FINISHED"}
    assert job._client.wait(5)
    second = commands(tmp_path)["link"]
    assert second["token"] == first["token"] and second["at"] == "127.0.0.1:8749"
    last = operators.running_job()._client
    assert bpy.ops.verdigris.link() == {"FINISHED"}
    assert last.wait(5) and not game.address
    assert commands(tmp_path)["link"]["is_on"] is False


def test_the_panels_draw_in_every_state(harness, tmp_path, worker, monkeypatch):
    """Blender draws nothing without a window: a layout that records, of Blender's own names."""
    drawn = []
    known = set(dir(bpy.types.UILayout)) | {
        each.identifier for each in bpy.types.UILayout.bl_rna.functions
    }

    class Layout:
        def __init__(self):
            self.use_property_split = False

        def __getattr__(self, name):
            assert name in known, f"UILayout has no {name}"

            def call(*values, **options):
                drawn.append((name, values, options))
                if name == "operator":
                    module, _, operator = values[0].partition(".")
                    assert operator in dir(getattr(bpy.ops, module)), values[0]
                if name == "prop":
                    assert hasattr(*values)
                icons = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
                assert options.get("icon", "NONE") in icons
                return Layout() if name in ("box", "row", "column", "operator") else None

            return call

    class Panel(panels._Panel):
        layout = Layout()

    Panel().draw(bpy.context)
    worker("fails")
    with pytest.raises(RuntimeError):
        bpy.ops.verdigris.bake()
    Panel().draw(bpy.context)
    assert any("disk is full" in str(each) for each in drawn)
    operators._Running.job.state = bake_job.RUNNING
    Panel().draw(bpy.context)
    assert any(name == "progress" for name, *_ in drawn)
    operators._Running.job.state = bake_job.DONE
    bpy.data.materials["copper"]["verdigris_bundle"] = "/out/copper.vdg"
    Panel().draw(bpy.context)
    assert any("/out/copper.vdg" in str(each) for each in drawn)
    assert "Bake Again" not in str(drawn)
    monkeypatch.setattr(panels, "changes_of", lambda _: ("the material has changed",))
    Panel().draw(bpy.context)
    assert "Changed since the bake: the material has" in str(drawn) and "Bake Again" in str(drawn)


def test_bake_again_has_the_preset_of_the_bake_before(harness, tmp_path, worker):
    """And what was baked again is compared with the result, which here has no digests."""
    worker("bakes")
    bundle = tmp_path / "copper.vdg"
    bundle.mkdir()
    (bundle / "manifest.json").write_text(json.dumps({"source": {"preset": "final"}}))
    copper = bpy.data.materials["copper"]
    copper["verdigris_bundle"] = str(bundle)
    assert changes.baked_version(copper).preset == "final"
    bpy.context.scene.verdigris.preset = "draft"
    assert bpy.ops.verdigris.compare() == {"FINISHED"}
    assert bpy.ops.verdigris.bake(is_again=True) == {"FINISHED"}
    assert commands(tmp_path)["start"]["preset"] == "final"
    assert changes.changes_of(copper) == ()


def test_a_material_that_cannot_be_read_has_a_way_around(harness):
    tree = bpy.data.materials["copper"].node_tree
    toon = tree.nodes.new("ShaderNodeBsdfToon")
    tree.links.new(toon.outputs[0], tree.get_output_node("ALL").inputs["Surface"])
    way = (
        r"use a Principled BSDF.*\. You can also export it by hand\. "
        r"Select an object .* FILE\.usda`"
    )
    with pytest.raises(RuntimeError, match=way):
        bpy.ops.verdigris.bake()


def test_why_shows_the_entry_that_explains_the_last_error(harness):
    assert not bpy.ops.verdigris.why.poll()
    copper = bpy.data.materials["copper"]
    copper.node_tree.nodes.clear()
    copper["verdigris_bundle"] = "/out/copper.vdg"
    message = "copper has no shader at the surface of its output: connect one"
    operators._Running.failure = message
    assert bpy.ops.verdigris.why.poll() and bpy.ops.verdigris.why() == {"FINISHED"}
    # an action without an error ends it
    assert bpy.ops.verdigris.compare() == {"FINISHED"}
    assert operators.last_failure() == ""


def test_an_error_of_blenders_own_operators_is_one_line_of_the_report(harness, monkeypatch):
    def fail(*_):
        raise RuntimeError("Error: first line\nsecond line\n")

    monkeypatch.setattr(operators, "swap_look", fail)
    with pytest.raises(RuntimeError, match=r"Blender reports: Error: first line second line"):
        bpy.ops.verdigris.swap_look()


def test_painting_without_a_window_is_a_report(harness):
    with pytest.raises(RuntimeError, match="has no window for the brush"):
        bpy.ops.verdigris.paint()


def test_nothing_is_left_after_the_add_on_is_disabled(harness):
    addon.unregister()
    try:
        assert not hasattr(bpy.types.Scene, "verdigris")
        assert "bake" not in dir(bpy.ops.verdigris)
        assert not [name for name in dir(bpy.types) if name.startswith("VERDIGRIS_")]
    finally:
        addon.register()


def test_a_launcher_is_started_in_this_blender(harness, tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: started.append(command))
    assert bpy.ops.verdigris.batch() == {"FINISHED"}
    program, file, scene, *rest = started[0]
    assert program == sys.executable and Path(file).name == "batch.py" and Path(file).is_file()
    assert Path(scene) == tmp_path / "scene.blend"
    assert rest == [
        "--out",
        str(tmp_path / "neural"),
        "--summary",
        str(tmp_path / "neural" / "scene.json"),
    ]


def test_weights_are_those_of_the_arrays(harness):
    """The map that goes to the worker has the painted weight where the triangle's uvs are."""
    from verdigris.core.hosts.painted_meshes import find_painted

    harness.paint("plane", 4.0)
    host = BlenderHost()
    painted = find_painted(host, host.materials()[0], size=64)
    mesh = host.mesh("plane", host.materials()[0])
    centre = (mesh.uv[0].mean(0) * 64).astype(int)
    assert painted.weights[centre[1], centre[0]] == 4
    assert np.isclose(painted.weights, 1).any()
