"""The panel opens in each host's fake, with its materials and its help."""

import importlib
import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6", reason="the panel needs PySide6: pip install 'verdigris[panel]'")

import fake_maya

from .houdini.test_houdini_host import host as in_houdini
from .houdini.test_houdini_host import houdini
from .maya.test_maya_host import open_scene

# imported fixtures, used by name
__all__ = ["houdini", "in_houdini"]


@pytest.fixture
def maya(monkeypatch):
    scene = fake_maya.Scene()
    fake_maya.install(monkeypatch, scene)
    return scene


def test_the_panel_opens_in_maya_and_lists_its_materials(maya, qtbot):
    from verdigris.plugins.common.panel_loader import make_panel

    panel = make_panel(open_scene(maya, "stack.ma"))
    qtbot.addWidget(panel)
    panel.show()
    panel.model.refresh_materials()
    assert [each.name for each in panel.model.materials][:2] == ["Standard_Surface1", "Plate"]
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
    assert [each.name for each in model.materials] == ["gold", "nested", "cascade", "tiles"]
    qtbot.waitUntil(lambda: model.report is not None and not model.is_busy, timeout=60_000)
    assert model.report["name"] == "gold" and not model.report.get("problem")
    assert "gold" in panel.picker.combo.currentText()
    assert "can be baked" in panel.report.report.toPlainText().lower()
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
    ((program, dash, name, file),) = started
    assert (program, dash, name) == ("/maya/bin/mayapy", "-m", "verdigris.plugins.maya.selftest")
    assert file == f"{report}.json"
    assert panel.model.notices[-1].text.endswith(f"its report to {file}.")
    panel.shutdown()


def test_the_help_menu_reports_a_missing_interpreter(maya, qtbot):
    from verdigris.plugins.common.panel_loader import make_panel

    panel = make_panel(open_scene(maya, "stack.ma"))
    qtbot.addWidget(panel)
    panel.model.start_selftest("report.json")
    assert "does not exist: run mayapy by hand" in panel.model.notices[-1].text
    panel.shutdown()


def test_without_the_packages_of_the_panel_the_remedy_is_shown(monkeypatch):
    from verdigris.core.base.errors import HostError
    from verdigris.plugins.common.panel_loader import make_panel

    monkeypatch.setitem(sys.modules, "verdigris.ui.panel", None)
    with pytest.raises(HostError, match=r"stage the plug-in again with packaging/stage\.py"):
        make_panel(None)
