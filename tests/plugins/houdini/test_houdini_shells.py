"""The tools of Houdini's shelf, and the self-test."""

import importlib
import json
import subprocess
from pathlib import Path

import fake_houdini
import pytest

from verdigris.core.base.errors import HostError

LAUNCHERS = Path(__file__).resolve().parents[3] / "plugins" / "launchers"

GOLD = """#usda 1.0
def Scope "materials" {
    def Material "scratch" {
        token outputs:mtlx:surface.connect = </materials/scratch/surface.outputs:out>
        def Shader "surface" {
            uniform token info:id = "ND_standard_surface_surfaceshader"
            token outputs:out
        }
    }
}
"""


@pytest.fixture
def houdini(monkeypatch):
    scene = fake_houdini.Scene()
    scene.hou = fake_houdini.install(monkeypatch, scene)
    return scene


def module(name):
    return importlib.import_module(f"verdigris.plugins.houdini.{name}")


def test_the_bake_tool_shows_the_panel_or_an_error(houdini):
    module("actions").bake()
    assert houdini.panels == ["Verdigris", "front"]
    houdini.interfaces.clear()
    module("actions").bake()
    assert "has not loaded the panel" in houdini.dialogs[0]


def test_painting_without_a_selected_object_is_an_error(houdini):
    module("actions").paint()
    assert houdini.dialogs == ["no object is selected: select an object to paint on"]


def test_the_batch_tool_starts_a_hython(houdini, monkeypatch, tmp_path):
    actions = module("actions")
    actions.batch()
    assert "save it first" in houdini.dialogs[0]
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: started.append(command))
    hython = tmp_path / "bin" / actions.hython.__name__
    monkeypatch.setattr(actions, "hython", lambda: hython)
    houdini.path = str(tmp_path / "shot.hip")
    actions.batch()
    ((program, launcher, *arguments),) = started
    assert (program, Path(launcher)) == (str(hython), LAUNCHERS / "batch.py")
    assert arguments[-1] == str(tmp_path / "verdigris" / "shot.json")


def test_the_help_tool_names_the_manual_and_starts_a_selftest(houdini, monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: started.append(command))
    monkeypatch.setattr(module("adapter"), "hython", lambda: tmp_path / "hython")
    module("actions").help_window()
    assert "HOUDINI.md" in houdini.dialogs[0] and started == []
    monkeypatch.setattr(houdini.hou.ui, "displayMessage", lambda *_, **__: 0, raising=False)
    module("actions").help_window()
    ((program, launcher, report),) = started
    assert (program, Path(launcher)) == (str(tmp_path / "hython"), LAUNCHERS / "selftest.py")
    assert houdini.dialogs[-1].endswith(report)


def test_hython_belongs_to_the_running_houdini(houdini, monkeypatch, tmp_path):
    interpreter = module("interpreter")
    monkeypatch.setattr(interpreter.sys, "platform", "linux")
    monkeypatch.setenv("HFS", str(tmp_path))
    with pytest.raises(HostError, match="does not exist: run hython by hand"):
        interpreter.hython()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "hython").write_text("")
    assert interpreter.hython() == tmp_path / "bin" / "hython"


def test_the_selftest_makes_every_call_and_writes_a_report(houdini, tmp_path):
    common = importlib.import_module("verdigris.plugins.common.host_test")
    selftest, gold = module("selftest"), tmp_path / "gold.usda"
    gold.write_text(GOLD)
    houdini.stages["/mat/scratch"] = str(gold)
    houdini.geometries["/obj/scratch/grid"] = fake_houdini.plate()
    houdini.window = False
    report = common.run_selftest(module("without_window").start, selftest.make_scene)
    code = common.finish(report, tmp_path / "report.json")
    found = json.loads((tmp_path / "report.json").read_text())
    outcomes = {step["name"].partition(" (")[0]: step["outcome"] for step in found["steps"]}
    assert {name for name, outcome in outcomes.items() if outcome == "refused"} == {
        "start_painting"
    }
    assert {"document", "mesh", "attach", "attached"} <= set(outcomes)
    assert (code, found["passed"], found["host"]) == (0, True, "Houdini 21.0.512")
