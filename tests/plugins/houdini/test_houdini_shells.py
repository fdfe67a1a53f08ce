"""The tools of Houdini's shelf, and the self-test."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import fake_houdini
import pytest

from verdigris.core.base.errors import HostError

LAUNCHERS = Path(__file__).resolve().parents[3] / "plugins" / "launchers"


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


def test_opening_the_panel_on_a_saved_scene_changes_nothing(houdini, tmp_path):
    houdini.path = str(tmp_path / "shot.hip")
    before = houdini.state()
    module("actions").bake()
    assert houdini.panels == ["Verdigris", "front"]
    assert houdini.state() == before and not houdini.unsaved and not houdini.definitions
    # the LOP is built when it is wanted, or where the scene is unsaved anyway
    houdini.unsaved = True
    module("actions").bake()
    assert list(houdini.definitions) == ["verdigris_bake"]


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
    assert arguments[-1] == str(tmp_path / "neural" / "shot.json")


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


SURFACE = """#usda 1.0
def Scope "materials" {{
    def Material "{name}" {{
        token outputs:mtlx:surface.connect = </materials/{name}/surface.outputs:out>
        def Shader "surface" {{
            uniform token info:id = "{kind}"
            {inputs}
            token outputs:out
        }}
        {nodes}
    }}
}}
"""
PLAIN = """color3f inputs:base_color = (0.3, 0.2, 0.1)
            float inputs:specular_roughness = 0.37"""
FED = """color3f inputs:base_color.connect = </materials/gold/colour.outputs:out>
            float inputs:specular_roughness = 0.37
            normal3f inputs:normal.connect = </materials/gold/bump.outputs:out>"""
NODES = """def Shader "colour" {
            uniform token info:id = "ND_image_color3"
            asset inputs:file = @scratch_colour.png@
            color3f outputs:out
        }
        def Shader "bump" {
            uniform token info:id = "ND_normalmap_float"
            vector3f inputs:in.connect = </materials/gold/normal.outputs:out>
            normal3f outputs:out
        }
        def Shader "normal" {
            uniform token info:id = "ND_image_vector3"
            asset inputs:file = @scratch_normal.png@
            vector3f outputs:out
        }"""
STANDARD = "ND_standard_surface_surfaceshader"


@pytest.fixture
def scratch(houdini, tmp_path):
    """What the Material Libraries of a hython give for the scratch scene."""
    stages = {
        "/mat/gold": SURFACE.format(name="gold", kind=STANDARD, inputs=FED, nodes=NODES),
        "/mat/staged": SURFACE.format(name="staged", kind=STANDARD, inputs=PLAIN, nodes=""),
        "/mat/hair": SURFACE.format(name="hair", kind="kma_hair", inputs="", nodes=""),
        "/obj/scratch/scratch/inner": SURFACE.format(
            name="inner", kind=STANDARD, inputs=PLAIN, nodes=""
        ),
    }
    for path, text in stages.items():
        file = tmp_path / f"{path.rpartition('/')[2]}.usda"
        file.write_text(text)
        houdini.stages[path] = str(file)
    houdini.geometries["/obj/scratch/grid"] = fake_houdini.plate()
    houdini.window = False
    return houdini


def run_selftest(bake=None):
    walk = importlib.import_module("verdigris.plugins.common.selftest.walk")
    return walk.run_selftest(module("without_window").start, module("selftest").make_scene, bake)


def test_the_selftest_makes_every_call_and_only_what_must_be_refused_is(scratch):
    report = run_selftest()
    outcomes = {step.name: step.outcome for step in report.steps}
    failed = [step for step in report.steps if step.outcome == "failed"]
    assert report.passed and not failed, failed
    refused = {step.name: step.expected for step in report.steps if step.outcome == "refused"}
    assert refused == {
        "start_painting (/obj/scratch)": "an instance without a window has no brush",
        "document (hair, material network)": "a renderer's own shader has no equal in MaterialX",
    }
    assert outcomes["document has the material (gold, material network)"] == "passed"
    assert outcomes["document has the material (staged, USD stage)"] == "passed"
    # the LOP was built and has the result
    assert outcomes["the LOP is installed"] == "passed"
    assert "scratch1.vdg" in scratch.nodes["/stage/bake"]["parms"]["bundles"]
    assert report.host == "Houdini 21.0.512"


def test_a_missing_lop_and_a_lost_normal_map_fail_the_selftest(scratch, tmp_path):
    scratch.refuses = {"createDigitalAsset"}
    lost = SURFACE.format(name="gold", kind=STANDARD, inputs=PLAIN, nodes="")
    (tmp_path / "gold.usda").write_text(lost)
    report = run_selftest()
    failed = {step.name: step.detail for step in report.steps if step.outcome == "failed"}
    assert not report.passed
    assert "the node cannot be built" in failed.pop("the LOP is installed")
    ((step, detail),) = failed.items()
    assert step == "document has the material (gold, material network)"
    assert "base colour does not have the image scratch_colour.png, but 0.3 0.2 0.1" in detail
    assert "normal does not have the image scratch_normal.png, but not set" in detail


def test_the_check_in_the_window_docks_closes_paints_and_undoes(scratch, tmp_path, monkeypatch):
    scratch.window, report = True, tmp_path / "report.json"
    # the first button
    monkeypatch.setattr(scratch.hou.ui, "displayMessage", lambda text, **_: asked.append(text) or 0)
    asked = []
    module("adapter").HoudiniHost().check_window(report)
    while scratch.posted:
        scratch.posted.pop(0)()
    found = json.loads(report.read_text())
    failed = [step for step in found["steps"] if step["outcome"] == "failed"]
    assert found["passed"] and not failed, failed
    assert scratch.panels[:4] == ["Verdigris", "front", "Verdigris", "front"]
    assert scratch.tabs == ["Verdigris"]
    names = [step["name"] for step in found["steps"]]
    assert {"the panel is closed", "start the brush", "stop the brush"} <= {*names}
    assert names[-3:] == ["the result is gone", "open an empty scene", "probe"]
    assert "a scene of its own" in asked[0] and "passed" in asked[1]


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


def test_a_build_with_another_qt_says_what_works_without_the_panel(monkeypatch):
    """Houdini 20.5 has builds with Qt 5."""
    loader = importlib.import_module("verdigris.plugins.common.panel_loader")
    for name in [name for name in sys.modules if name.startswith("verdigris.ui")]:
        monkeypatch.delitem(sys.modules, name)
    # other tests may have imported its modules
    loaded = [name for name in sys.modules if name.startswith("PySide6.")]
    for name in ("PySide6", *loaded):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(HostError, match=r"needs Qt 6.* menus, nodes and batches work"):
        loader.make_panel(None)
