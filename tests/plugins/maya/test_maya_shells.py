"""The plug-in, the shelf, the docked panel, the buttons and the self-test of Maya."""

import copy
import importlib
import json
import runpy
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import fake_maya
import pytest

ROOT = Path(__file__).resolve().parents[3]
PLUG_IN = ROOT / "plugins" / "maya" / "plug-ins" / "verdigris_maya.py"


@pytest.fixture
def maya(monkeypatch):
    scene = fake_maya.Scene()
    fake_maya.install(monkeypatch, scene)
    return scene


@pytest.fixture
def plug_in(maya):
    return runpy.run_path(str(PLUG_IN))


def module(name):
    return importlib.import_module(f"verdigris.plugins.maya.{name}")


def labels(maya):
    return [button["label"] for button in maya.layouts["Verdigris"]]


BUTTONS = ["Bake", "Paint Weights", "Stop Painting", "Baked Look", "Neural Look", "Batch", "Help"]


def test_loading_registers_the_command_and_builds_shelf_and_menu(maya, plug_in):
    plug_in["initializePlugin"](object())
    assert list(maya.commands) == ["verdigris"]
    assert labels(maya) == BUTTONS
    assert [item["label"] for item in maya.menus["verdigrisMenu"]] == BUTTONS
    weights = [item["label"] for item in maya.menus["verdigrisMenu|Brush Weight"]]
    assert weights == ["0 (does not matter)", "0.5", "1 (normal)", "2", "4", "8"]
    # the artist's shelf stays in front
    assert maya.shelf == "Polygons"


def test_a_shelf_that_maya_has_found_is_not_built_again(maya, plug_in):
    maya.layouts["Verdigris"] = [{"label": "found by Maya"}]
    plug_in["initializePlugin"](object())
    assert labels(maya) == ["found by Maya"]


def test_without_a_window_only_the_command_is_registered(maya, plug_in):
    maya.batch = True
    plug_in["initializePlugin"](object())
    assert list(maya.commands) == ["verdigris"] and "Verdigris" not in maya.layouts
    assert list(maya.menus) == ["MayaWindow"] and maya.callbacks == {} and maya.jobs == {}


def test_a_plug_in_in_the_quarantine_of_macos_tells_the_line_that_ends_it(
    maya, plug_in, monkeypatch, tmp_path
):
    library = tmp_path / "site-packages" / "numpy" / "core.so"
    library.parent.mkdir(parents=True)
    library.touch()
    environment = importlib.import_module("verdigris.core.base.process.worker_environment")
    monkeypatch.setattr(environment, "package_folder", lambda: tmp_path / "scripts" / "verdigris")
    asked = []

    def run(command, **_):
        asked.append(command)
        return subprocess.CompletedProcess(command, 0 if sys.platform == "darwin" else 1)

    monkeypatch.setattr(subprocess, "run", run)
    # what Python says of a library that the system does not load
    monkeypatch.setitem(sys.modules, "verdigris.plugins.maya.menus", None)
    with pytest.raises(RuntimeError, match="menus"):
        plug_in["initializePlugin"](object())
    assert asked == [], "other systems have no quarantine"
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(RuntimeError, match=r'xattr -dr com\.apple\.quarantine "'):
        plug_in["initializePlugin"](object())
    assert asked == [["/usr/bin/xattr", "-p", "com.apple.quarantine", str(library)]]


def test_unloading_removes_everything_and_loading_twice_builds_one_shelf(maya, plug_in):
    for _ in range(2):
        plug_in["initializePlugin"](object())
    module("docked_panel").show()
    assert len(maya.layouts["Verdigris"]) == len(maya.menus["verdigrisMenu"]) == len(BUTTONS)
    assert len(maya.node_menus) == 1
    plug_in["uninitializePlugin"](object())
    assert maya.commands == {} and maya.controls == {} and "Verdigris" not in maya.layouts
    assert list(maya.menus) == ["MayaWindow"] and maya.node_menus == []
    assert maya.callbacks == {} and maya.jobs == {} and maya.shelf == "Polygons"


def test_a_copy_of_the_shelf_does_not_stay_in_the_preferences(maya, plug_in, tmp_path):
    maya.preferences = tmp_path.as_posix()
    copy = tmp_path / "shelves" / "shelf_Verdigris.mel"
    copy.parent.mkdir()
    copy.write_text(module("menus").SHELF_FILE.read_text())
    plug_in["initializePlugin"](object())
    # Maya reports that it quits before it writes the shelves that are open
    (quits,) = [action for event, action in maya.jobs.values() if event == "quitApplication"]
    quits()
    assert not copy.exists() and "Verdigris" not in maya.layouts
    assert module("menus").SHELF_FILE.is_file()
    copy.write_text("global proc shelf_Verdigris() {} // of the artist")
    plug_in["uninitializePlugin"](object())
    assert copy.exists()


def test_the_file_of_the_shelf_has_the_buttons_with_icons_of_the_module(maya):
    import fake_maya

    shelf = module("menus")
    maya.parent = "shelves"
    fake_maya.run_shelf(maya, shelf.SHELF_FILE.read_text())
    found = maya.layouts["shelves"]
    assert [(b["label"], b["image"], b["annotation"], b["command"]) for b in found] == [
        (b.label, b.icon, b.tip, b.command) for b in shelf.BUTTONS
    ]
    template = (ROOT / "packaging" / "templates" / "verdigris.mod").read_text()
    assert f"MAYA_SHELF_PATH +:= {shelf.SHELF_FILE.parent.name}" in template
    for button in shelf.BUTTONS:
        assert callable(getattr(module("actions"), button.function))
        compile(button.command, button.label, "exec")
        icon = xml.parse(fake_maya.find_icon(button.icon)).getroot()
        assert (icon.get("width"), icon.get("height")) == ("32", "32")


@pytest.mark.parametrize("batch", [False, True])
def test_maya_loads_the_plug_in_when_it_is_idle(maya, batch):
    maya.batch = batch
    maya.plugins["verdigris_maya"] = False
    runpy.run_path(str(ROOT / "plugins" / "maya" / "scripts" / "userSetup.py"))
    assert not maya.plugins["verdigris_maya"]
    maya.idle()
    assert maya.plugins["verdigris_maya"] is not batch


def test_a_missing_plug_in_is_a_warning_when_maya_starts(maya):
    runpy.run_path(str(ROOT / "plugins" / "maya" / "scripts" / "userSetup.py"))
    maya.idle()
    assert "was not found on MAYA_PLUG_IN_PATH" in maya.dialogs[0]


def test_the_menu_of_a_material_has_an_entry_that_bakes_it(maya, plug_in):
    plug_in["initializePlugin"](object())
    maya.add("gold", "standardSurface")
    maya.add("goldSG", "shadingEngine")
    maya.connections["goldSG.surfaceShader"] = "gold.outColor"
    maya.add("picture", "file")
    (add,) = maya.node_menus
    assert [add(object(), node) for node in ("gold", "goldSG", "picture")] == [True, True, False]
    commands = [item["command"] for item in maya.menus[""]]
    exec(commands[0], {})
    assert "verdigrisPanel" in maya.controls and maya.dialogs == []
    assert module("docked_panel")._open["material"].name == "gold"


def test_a_maya_without_menus_of_nodes_has_the_others(maya, plug_in, monkeypatch):
    monkeypatch.setitem(sys.modules, "maya.app.general", None)
    plug_in["initializePlugin"](object())
    assert "verdigrisMenu" in maya.menus and maya.node_menus == []
    plug_in["uninitializePlugin"](object())


def test_a_node_that_is_no_material_is_refused_with_the_remedy(maya):
    module("actions").bake_node("picture")
    assert maya.dialogs == [
        "picture is not a material that can be baked: see the list in the panel"
    ]


def test_a_weight_of_the_menu_starts_the_brush_and_stop_ends_it(maya, plug_in):
    plug_in["initializePlugin"](object())
    maya.add("|plate", "transform")
    maya.selection = [maya.add("|plate|plateShape", "mesh", mesh=fake_maya.plate())]
    commands = {i["label"]: i["command"] for i in maya.menus["verdigrisMenu|Brush Weight"]}
    exec(commands["8"], {})
    assert maya.brush["color"] == (1, 1, 1)
    exec(commands["0.5"], {})
    assert maya.brush["color"] == (0.0625, 0.0625, 0.0625)
    module("actions").stop_painting()
    assert maya.tool == "selectSuperContext"


def test_the_panel_is_docked_once_and_comes_back_with_the_workspace(maya):
    panel = module("docked_panel")
    panel.show()
    control = maya.controls["verdigrisPanel"]
    assert control["dock"] == ("right", True)
    assert callable(panel.fill) and control["script"].endswith("panel.fill()")
    compile(control["script"], "uiScript", "exec")
    panel.show()
    assert len(maya.controls) == 1 and control["restored"]
    panel.close()
    assert maya.controls == {}


def test_painting_without_a_selected_mesh_is_an_error(maya):
    module("actions").paint()
    assert maya.dialogs == ["no mesh is selected: select a mesh to paint on"]


def test_the_batch_button_needs_a_saved_scene(maya):
    module("actions").batch()
    assert "save it first" in maya.dialogs[0]


def test_the_batch_button_starts_a_mayapy(maya, monkeypatch, tmp_path):
    actions = module("actions")
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: started.append(command))
    monkeypatch.setattr(actions, "mayapy", lambda: Path("/maya/bin/mayapy"))
    maya.path = str(tmp_path / "shot.ma")
    actions.batch()
    ((program, launcher, *arguments),) = started
    assert program == "/maya/bin/mayapy"
    assert Path(launcher) == ROOT / "plugins" / "launchers" / "batch.py"
    assert arguments[0] == maya.path
    assert arguments[-1] == str(tmp_path / "neural" / "shot.json")


def test_the_help_button_names_the_manual_and_starts_a_selftest(maya, monkeypatch):
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: started.append(command))
    monkeypatch.setattr(module("adapter"), "mayapy", lambda: Path("/maya/bin/mayapy"))
    module("actions").help_window()
    assert str(ROOT / "docs" / "MAYA.md") in maya.dialogs[0] and started == []
    maya.answer = "Self-test"
    module("actions").help_window()
    ((program, launcher, report),) = started
    assert program == "/maya/bin/mayapy"
    assert Path(launcher) == ROOT / "plugins" / "launchers" / "selftest.py"
    assert maya.dialogs[-1].endswith(report)


def run_deferred(maya):
    """What Maya does when it is idle, until nothing waits."""
    while maya.deferred:
        maya.deferred.pop(0)()


@pytest.mark.parametrize("answer", ["Save and Check", "Check without Saving", "Cancel"])
def test_the_check_in_the_window_asks_and_opens_the_scene_again(
    maya, tmp_path, monkeypatch, answer
):
    report, saves = tmp_path / "report.json", []
    monkeypatch.setattr(module("adapter").MayaHost, "save_scene", lambda _: saves.append(1))
    maya.path, maya.is_modified, maya.answer = str(tmp_path / "shot.ma"), True, answer
    maya.add("mine", "lambert")
    Path(maya.path).write_text("")
    maya.files[maya.path] = copy.deepcopy((*maya.state(), maya.uuids))
    module("adapter").MayaHost().check_window(report)
    assert "changes that are not saved" in maya.dialogs[0]
    run_deferred(maya)
    assert report.exists() == (answer != "Cancel")
    assert bool(saves) == (answer == "Save and Check")
    assert maya.path == str(tmp_path / "shot.ma") and "mine" in maya.nodes
    if answer == "Cancel":
        return
    found = json.loads(report.read_text())
    failed = [step for step in found["steps"] if step["outcome"] == "failed"]
    assert found["passed"] and not failed, failed
    names = [step["name"] for step in found["steps"]]
    assert names.index("the panel is closed") < names.index("the brush has ended")
    assert names[-3:] == ["the result is gone", "open the scene again", "probe"]
    assert str(report) in maya.dialogs[-1] and "passed" in maya.dialogs[-1]


def test_the_check_in_the_window_finds_a_brush_and_an_undo_that_do_nothing(maya, monkeypatch):
    maya.refuses, maya.answer = {"brush"}, "Check"
    monkeypatch.setattr(maya, "undo", lambda: None)
    check = module("window_check").check_window(Path("/nowhere/report.json"))
    run_deferred(maya)
    failed = [step.name for step in check.report.steps if step.outcome == "failed"]
    assert failed == ["start the brush", "the brush is in use", "the result is gone"]
    assert "cannot be written" in maya.dialogs[-1]


def test_the_check_in_the_window_opens_the_scene_again_after_any_failure(maya, monkeypatch):
    def fail(*_):
        raise RuntimeError("the application has lost it")

    maya.answer = "Check"
    monkeypatch.setattr(module("adapter").MayaHost, "meshes", fail)
    check = module("window_check").check_window(Path("/nowhere/report.json"))
    run_deferred(maya)
    failed = {step.name: step.detail for step in check.report.steps if step.outcome == "failed"}
    assert "the application has lost it" in failed["read the scene"]
    assert [step.name for step in check.report.steps][-2:] == ["open an empty scene", "probe"]


def run_selftest():
    walk = importlib.import_module("verdigris.plugins.common.selftest.walk")
    return walk.run_selftest(module("without_window").start, module("selftest").make_scene, None)


def test_the_selftest_makes_every_call_in_a_scene_of_its_own(maya, tmp_path):
    maya.project = str(tmp_path)
    report = run_selftest()
    failed = [step for step in report.steps if step.outcome == "failed"]
    assert report.passed and not failed, failed
    outcomes = {step.name: step.outcome for step in report.steps}
    for name in ("gold", "standardSurface5", "patterned", "open", "arnold", "ref:cloth"):
        assert outcomes[f"document has the material ({name}, Maya shader)"] == "passed"
    assert outcomes["document has the material (staged, USD stage)"] == "passed"
    refused = {step.expected for step in report.steps if step.outcome == "refused"}
    assert refused == {"an instance without a window has no brush"}
    off = report.probe.off
    assert set(off) == {"Materials of LookdevX", "Materials of Arnold", "Maya's brush"}
    assert "LookdevXMaya is not loaded: load it in Windows >" in off["Materials of LookdevX"]


def test_what_the_export_of_maya_usd_loses_fails_the_selftest(maya, tmp_path, monkeypatch):
    monkeypatch.setattr(module("scene.materials"), "shader_to_read", lambda *_: "")
    failed = {step.name: step.detail for step in run_selftest().steps if step.outcome == "failed"}
    # neither has a writer for bump2d
    for name in ("gold", "standardSurface5"):
        why = failed[f"document has the material ({name}, Maya shader)"]
        assert "normal does not have the image scratch_normal.png" in why


def test_a_failed_step_is_reported_and_does_not_end_the_test(maya, tmp_path):
    maya.refuses = {"open"}
    report = run_selftest()
    assert not report.passed
    broken = [step for step in report.steps if step.outcome == "failed"]
    assert broken[0].name == "make the scratch scene"
    assert "Cannot read the file" in broken[0].detail


@pytest.mark.skipif(sys.platform == "win32", reason="Windows allows no such names")
@pytest.mark.parametrize("name", ['a "quoted" $name', "back\\slash", "`ls`; it's"])
def test_the_shelf_is_found_in_a_folder_with_any_name(maya, plug_in, tmp_path, monkeypatch, name):
    shelf = module("menus")
    (tmp_path / name).mkdir()
    moved = tmp_path / name / shelf.SHELF_FILE.name
    moved.write_text(shelf.SHELF_FILE.read_text())
    monkeypatch.setattr(shelf, "SHELF_FILE", moved)
    plug_in["initializePlugin"](object())
    assert len(maya.layouts["Verdigris"]) == len(BUTTONS)
