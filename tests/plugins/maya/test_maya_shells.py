"""The plug-in, the shelf, the docked panel, the buttons and the self-test of Maya."""

import importlib
import json
import runpy
import subprocess
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


def test_loading_registers_the_command_and_builds_the_shelf(maya, plug_in):
    plug_in["initializePlugin"](object())
    assert list(maya.commands) == ["verdigris"]
    labels = [button["label"] for button in maya.layouts["Verdigris"]]
    assert labels == ["Bake", "Paint Weights", "Batch", "Help"]


def test_without_a_window_only_the_command_is_registered(maya, plug_in):
    maya.batch = True
    plug_in["initializePlugin"](object())
    assert list(maya.commands) == ["verdigris"] and "Verdigris" not in maya.layouts


def test_unloading_removes_everything_and_loading_twice_builds_one_shelf(maya, plug_in):
    for _ in range(2):
        plug_in["initializePlugin"](object())
    maya.controls["verdigrisPanel"] = {}
    assert len(maya.layouts["Verdigris"]) == 4
    plug_in["uninitializePlugin"](object())
    assert maya.commands == {} and maya.controls == {} and "Verdigris" not in maya.layouts


def test_every_button_has_an_icon_and_runs_an_action_that_exists(maya):
    for button in module("shelf").BUTTONS:
        assert callable(getattr(module("actions"), button.function))
        compile(button.command, button.label, "exec")
        icon = xml.parse(module("shelf").ICONS / button.icon).getroot()
        assert (icon.get("width"), icon.get("height")) == ("32", "32")


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
    assert arguments[-1] == str(tmp_path / "verdigris" / "shot.json")


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


def test_the_selftest_makes_every_call_and_writes_a_report(maya, tmp_path, capsys):
    selftest = module("selftest")
    common = importlib.import_module("verdigris.plugins.common.host_test")
    maya.project = str(tmp_path)
    report = common.run_selftest(module("without_window").start, selftest.make_scene)
    file = tmp_path / "report.json"
    code = common.finish(report, file)
    found = json.loads(file.read_text())
    outcomes = {step["name"].partition(" (")[0]: step["outcome"] for step in found["steps"]}
    # in batch mode there is no brush, and the fake exports no USD: both steps are refused
    refused = {name for name, outcome in outcomes.items() if outcome == "refused"}
    assert refused == {"document", "start_painting"}
    assert {"materials", "meshes", "mesh", "attach", "attached"} <= set(outcomes)
    assert (code, found["passed"], found["host"]) == (0, True, "Maya 2026")
    assert str(file) in capsys.readouterr().out


def test_a_failed_step_is_reported_and_does_not_end_the_test(maya, tmp_path):
    common = importlib.import_module("verdigris.plugins.common.host_test")
    maya.refuses = {"connectAttr"}
    report = common.run_selftest(module("without_window").start, module("selftest").make_scene)
    assert common.finish(report, tmp_path / "report.json") == 1
    broken = [step for step in report.steps if step.outcome == "failed"]
    assert broken[0].name == "make the scratch scene"
    assert "connectAttr failed" in broken[0].detail
