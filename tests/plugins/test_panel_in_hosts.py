"""The panel opens in each host's fake, with its materials and its help."""

import importlib
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6", reason="the panel needs PySide6: pip install 'verdigris[panel]'")

from verdigris.core.baking.state.checkpoint import VERSION
from verdigris.plugins.common import panel_loader

from ..core.worker.set_up_trees import make_tree
from ..ui.fake_session import FakeClient
from .maya.scenes import SHAPE, open_scene, paint_colours


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path):
    """Settings of a machine of their own: a panel writes into them."""
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "config"))


def test_the_panel_opens_in_maya_and_lists_its_materials(maya, qtbot):
    from verdigris.plugins.common.panel_loader import make_panel

    panel = make_panel(open_scene(maya, "stack.ma"))
    qtbot.addWidget(panel)
    panel.show()
    panel.model.refresh_materials()
    assert [each.name for each in panel.model.state.materials][:2] == ["Standard_Surface1", "Plate"]
    panel.shutdown()


def test_the_panel_starts_and_ends_the_brush_of_maya_and_reads_the_weights(maya, qtbot):
    from verdigris.plugins.common.panel_loader import make_panel

    host = open_scene(maya, "stack.ma")
    maya.members["Standard_Surface1SG"] = [SHAPE]
    panel = make_panel(host)
    qtbot.addWidget(panel)
    panel.show()
    panel.model.refresh_materials()
    panel.pages.open(panel.pages.paint)
    assert (
        panel.pages.paint.stop_brush.isVisible()
        and panel.pages.paint.stop_brush.text() == "Stop in Maya"
    )
    panel.pages.paint.scene_brush.click()
    assert maya.members["Standard_Surface1SG"] == []
    paint_colours(maya, SHAPE, range(4), 8.0)
    panel.pages.paint.stop_brush.click()
    assert maya.members["Standard_Surface1SG"] == [SHAPE] and maya.tool == "selectSuperContext"
    qtbot.waitUntil(lambda: panel.model.state.weights.values.max() == 8, timeout=10_000)
    panel.shutdown()


def test_a_host_without_an_end_of_painting_has_no_button_for_it(in_houdini, qtbot):
    from verdigris.plugins.common.panel_loader import make_panel

    panel = make_panel(in_houdini)
    qtbot.addWidget(panel)
    panel.show()
    panel.pages.open(panel.pages.paint)
    has_end = hasattr(in_houdini, "stop_painting")
    assert panel.pages.paint.stop_brush.isVisibleTo(panel.pages.paint) == has_end
    panel.shutdown()


def test_the_panel_opens_in_houdini_with_a_material_that_can_be_baked(request, monkeypatch, qtbot):
    host = request.getfixturevalue("in_houdini")
    from verdigris.plugins.common.panel_loader import make_panel

    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    panel = make_panel(host)
    qtbot.addWidget(panel)
    panel.show()
    model = panel.model
    model.set_view(size=16)
    model.refresh_materials()
    assert [each.name for each in model.state.materials] == ["gold", "nested", "cascade", "tiles"]
    qtbot.waitUntil(
        lambda: model.state.report is not None and not model.link.is_busy, timeout=60_000
    )
    assert model.state.report["name"] == "gold" and not model.state.report.get("problem")
    assert "gold" in panel.picker.combo.currentText()
    assert "can be baked" in panel.pages.material.report.toPlainText().lower()
    panel.shutdown()


def test_the_help_menu_starts_a_selftest_and_names_its_report(maya, monkeypatch, qtbot, tmp_path):
    from PySide6.QtWidgets import QFileDialog

    from verdigris.plugins.common.panel_loader import make_panel

    host = open_scene(maya, "stack.ma")
    started = []
    programs = importlib.import_module("verdigris.plugins.common.programs")
    monkeypatch.setattr(programs.subprocess, "Popen", lambda command, **_: started.append(command))
    adapter = importlib.import_module("verdigris.plugins.maya.adapter")
    monkeypatch.setattr(adapter, "mayapy", lambda: Path("/maya/bin/mayapy"))
    panel = make_panel(host)
    qtbot.addWidget(panel)
    report = tmp_path / "report"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(report), ""))
    panel.help.selftest.trigger()
    ((program, launcher, file),) = started
    assert (program, Path(launcher).name) == ("/maya/bin/mayapy", "selftest.py")
    assert file == f"{report}.json"
    assert panel.model.state.notices[-1].text.endswith(f"its report to {file}.")
    panel.shutdown()


def test_the_help_menu_asks_before_it_checks_the_window_and_lists_what_is_off(maya, qtbot):
    from verdigris.plugins.common.panel_loader import make_panel

    panel = make_panel(open_scene(maya, "stack.ma"))
    qtbot.addWidget(panel)
    # the last button cancels
    panel.help.check.trigger()
    assert "opens a scene of its own" in maya.dialogs[-1] and maya.path.endswith("stack.ma")
    panel.help.list_features()
    off = [each.text() for each in panel.help.features.actions() if not each.isEnabled()]
    assert "Materials of Arnold: the plug-in mtoa is not loaded" in off[-1].partition(":  ")[0]
    panel.shutdown()


def test_the_help_menu_reports_a_missing_interpreter(maya, qtbot):
    from verdigris.plugins.common.panel_loader import make_panel

    panel = make_panel(open_scene(maya, "stack.ma"))
    qtbot.addWidget(panel)
    panel.model.selftest.start("report.json")
    assert "does not exist: run mayapy by hand" in panel.model.state.notices[-1].text
    panel.shutdown()


def test_without_the_packages_of_the_panel_the_remedy_is_shown(monkeypatch):
    from verdigris.core.base.errors import HostError
    from verdigris.plugins.common.panel_loader import make_panel

    monkeypatch.setitem(sys.modules, "verdigris.ui.panel", None)
    with pytest.raises(HostError, match=r"stage the plug-in again with packaging/stage\.py"):
        make_panel(None)


# bad input: each case has a message, and nothing is lost


@pytest.fixture
def open_panel(request, monkeypatch, qtbot):
    """The panel of an application with a worker that sends what the test wants."""
    panels = []

    def make(host):
        from verdigris.plugins.common.panel_loader import make_panel

        panel = make_panel(host)
        qtbot.addWidget(panel)
        panels.append(panel)
        client = FakeClient()
        panel.model.link._make_client = lambda: client
        panel.show()
        panel.model.refresh_materials()
        return panel, client

    yield make
    for panel in panels:
        panel.shutdown()


def bake(panel, client, folder):
    """A bake of the chosen material up to its first step."""
    model = panel.model
    model.set_choices(folder=str(folder) if folder else "")
    name = model.state.current.name
    client.emit("opened", chosen=name, materials=[{"name": name, "parts": []}], trainer="numpy")
    model.tick()
    model.start()
    for state in ("preparing", "training"):
        client.emit("state", state=state)
    client.emit("step", step=40, steps=100)
    model.tick()
    assert model.link.state == "training"


def finish(panel, client, bundle):
    client.emit("state", state="finishing")
    client.emit("finished", results=[str(bundle)], step=100)
    client.emit("state", state="done")
    panel.model.tick()
    assert panel.model.link.state == "done"


def shown(panel):
    return panel.cards.banner.text.toPlainText()


def told(panel):
    """The same with whole paths, where the pointer rests."""
    return panel.cards.banner.text.toolTip()


def test_without_a_worker_maya_offers_to_set_it_up(maya, monkeypatch, qtbot, tmp_path):
    from verdigris.core.base.process import worker_environment
    from verdigris.plugins.common.panel_loader import make_panel

    monkeypatch.delenv("VERDIGRIS_PYTHON", raising=False)
    package = make_tree(tmp_path)
    monkeypatch.setattr(worker_environment, "package_folder", lambda: package)
    monkeypatch.setattr(worker_environment, "NEEDED", ("no_such_module",))
    panel = make_panel(open_scene(maya, "stack.ma"))
    qtbot.addWidget(panel)
    panel.show()
    panel.model.refresh_materials()
    assert panel.cards.set_up.isVisible() and not panel.model.can("start")
    assert "make_worker.py" in panel.pages.material.report.toPlainText()
    panel.shutdown()


def test_the_first_panel_in_maya_offers_the_selftest_and_the_second_does_not(maya, open_panel):
    host = open_scene(maya, "stack.ma")
    first, _ = open_panel(host)
    assert first.cards.selftest.isVisible() and "Maya 2026" in first.cards.selftest.text.text()
    # it waits for nobody
    assert [each.name for each in first.model.state.materials][:1] == ["Standard_Surface1"]
    second, _ = open_panel(host)
    assert not second.cards.selftest.isVisible()


def test_a_scene_that_was_never_saved_is_baked_into_a_folder_that_is_named(
    maya, open_panel, monkeypatch, tmp_path
):
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    host = open_scene(maya, "stack.ma")
    maya.path = ""
    panel, client = open_panel(host)
    bake(panel, client, None)
    folder = tmp_path / "neural"
    assert f"The scene was never saved, so the result goes to {folder}." in shown(panel)
    assert client.sent[-1].folder == str(folder)


def test_a_material_of_maya_that_is_deleted_during_its_bake_keeps_its_result(
    maya, open_panel, tmp_path
):
    host = open_scene(maya, "stack.ma")
    panel, client = open_panel(host)
    bake(panel, client, tmp_path)
    sys.modules["maya.cmds"].delete("Standard_Surface1")
    before = maya.state()
    finish(panel, client, tmp_path / "plate.vdg")
    assert shown(panel).startswith("Written: plate.vdg\nThe result is written, but ")
    assert f"Written: {tmp_path / 'plate.vdg'}\n" in told(panel)
    assert "it is not noted in the scene: " in shown(panel)
    assert maya.state() == before


def test_a_material_of_houdini_that_is_deleted_during_its_bake_keeps_its_result(
    request, open_panel, tmp_path
):
    host, scene = (request.getfixturevalue(name) for name in ("in_houdini", "houdini"))
    panel, client = open_panel(host)
    assert panel.model.state.current.name == "gold"
    bake(panel, client, tmp_path)
    scene.hou.node("/mat/gold").destroy()
    finish(panel, client, tmp_path / "gold.vdg")
    assert shown(panel).startswith("Written: gold.vdg\nThe result is written, but ")
    assert f"Written: {tmp_path / 'gold.vdg'}\n" in told(panel)
    assert "it is not noted in the scene: " in shown(panel)


def test_a_folder_that_cannot_be_written_is_named_and_another_one_is_taken(
    maya, open_panel, tmp_path
):
    panel, client = open_panel(open_scene(maya, "stack.ma"))
    bake(panel, client, tmp_path)
    why = f"{tmp_path}: cannot be written (Permission denied): choose another folder"
    client.emit("error", command="start", text=why, kind="SettingsError")
    client.emit("state", state="failed")
    panel.model.tick()
    assert shown(panel) == why.replace(f"{tmp_path}:", f"{tmp_path.name}:")
    assert why in told(panel)
    assert panel.model.can("start")


def test_an_application_that_was_closed_during_a_bake_finds_the_checkpoint(
    maya, open_panel, tmp_path
):
    host = open_scene(maya, "stack.ma")
    panel, client = open_panel(host)
    bake(panel, client, tmp_path)
    panel.close()
    assert client.ended == ""
    panel_loader.end_session()
    assert client.ended == "closed"
    # as the worker leaves it, in the folder that the artist chose
    name = panel.model.scene.result_name
    facts = {"version": VERSION, "step": 40, "settings": {"iterations": 100}}
    data = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    np.savez(tmp_path / f"{name}.bake.npz", facts=data)
    maya.path = str(tmp_path / "shot.ma")
    again, client = open_panel(host)
    assert again.cards.boxes[0].text.text() == "Interrupted at 40%. Resume?"
    again.pages.settings.resume.click()
    bake(again, client, tmp_path)
    assert client.sent[-1].request.resume
