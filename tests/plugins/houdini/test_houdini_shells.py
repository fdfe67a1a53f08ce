"""The tools of Houdini's shelf, and the self-test."""

import importlib
import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

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
def houdini(monkeypatch, tmp_path):
    scene = fake_houdini.Scene()
    scene.hou = fake_houdini.install(monkeypatch, scene)
    scene.home = str(tmp_path / "preferences")
    monkeypatch.delenv("VERDIGRIS_TREE", raising=False)
    return scene


def module(name):
    return importlib.import_module(f"verdigris.plugins.houdini.{name}")


def test_the_bake_tool_shows_the_panel_or_an_error(houdini):
    module("actions").bake()
    assert houdini.panels == ["Verdigris", "front"]
    # the first use adds the LOP to the menu of nodes
    assert list(houdini.definitions) == ["verdigris_bake"] and houdini.dialogs == []
    houdini.interfaces.clear()
    module("actions").bake()
    assert "has not loaded the panel" in houdini.dialogs[0]


def test_the_panel_opens_where_the_lop_cannot_be_built(houdini):
    houdini.refuses = {"createDigitalAsset"}
    module("actions").bake()
    assert houdini.panels == ["Verdigris", "front"]
    assert "the node cannot be built: the disk is full" in houdini.dialogs[0]


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
    inner = tmp_path / "inner.usda"
    inner.write_text(GOLD.replace("scratch", "inner"))
    houdini.stages["/mat/scratch"] = str(gold)
    houdini.stages["/obj/scratch/scratch/inner"] = str(inner)
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
    # the LOP was built and has the result
    assert "scratch.vdg" in houdini.nodes["/stage/bake"]["parms"]["bundles"]
    assert (code, found["passed"], found["host"]) == (0, True, "Houdini 21.0.512")


TEMPLATES = Path(__file__).parents[3] / "packaging" / "templates"


def menu(name):
    (file,) = TEMPLATES.rglob(name)
    return ElementTree.parse(file).getroot()


def test_every_entry_of_the_menus_and_the_shelf_calls_an_action(houdini):
    scripts = [
        each.text
        for name in ("MainMenuCommon.xml", "OPmenu.xml", "verdigris.shelf")
        for tag in ("scriptCode", "script")
        for each in menu(name).iter(tag)
    ]
    assert len(scripts) >= 15
    called = {re.search(r"actions\.(\w+)\(", text)[1] for text in scripts}
    for text in scripts:
        compile(text, "menu", "exec")
    known = {name for name, each in vars(module("actions")).items() if callable(each)}
    assert called <= known
    # what an artist can do is in the menu of the window
    in_menu = "".join(each.text for each in menu("MainMenuCommon.xml").iter("scriptCode"))
    assert all(f"actions.{name}()" in in_menu for name in called - {"bake_clicked"})


def test_the_entry_for_materials_is_shown_on_materials_only_and_never_fails(houdini):
    (expression,) = menu("OPmenu.xml").iter("expression")
    # Houdini runs it as the body of a function
    body = "".join(f"    {line}\n" for line in expression.text.strip().splitlines())
    names = {}
    exec(f"def is_shown(kwargs):\n{body}", names)
    houdini.add("/mat/gold", "mtlxstandard_surface", material=True)
    houdini.add("/mat/colour", "mtlximage")
    houdini.add("/obj/plate", "geo")

    def is_shown(path):
        return names["is_shown"]({"node": houdini.hou.node(path)})

    assert is_shown("/mat/gold")
    assert not is_shown("/mat/colour") and not is_shown("/obj/plate")
    # networks without a node, and nodes without the flag
    assert names["is_shown"]({"node": None}) is False
    assert names["is_shown"]({}) is False
