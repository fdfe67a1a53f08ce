"""A panel's session outlives its widgets: closed tabs, other workspaces and desktops, other scenes,
until the application ends. The widgets are real, the worker is not."""

import gc
import importlib
import os
import sys

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6", reason="the panel needs PySide6: pip install 'verdigris[panel]'")

import shiboken6

from verdigris.plugins.common import panel_loader
from verdigris.ui.signals import Signal

from ..ui.fake_session import FakeClient
from .maya.scenes import open_scene
from .test_panel_in_hosts import bake, finish

CONTROL = "verdigrisPanel"


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path):
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "config"))


def module(name):
    return importlib.import_module(f"verdigris.plugins.{name}")


def cmds():
    return sys.modules["maya.cmds"]


@pytest.fixture
def clients(monkeypatch):
    """The workers that sessions start."""
    made = []

    def start():
        made.append(FakeClient())
        return made[-1]

    link = importlib.import_module("verdigris.ui.model.worker_link")
    monkeypatch.setattr(link.WorkerLink, "start", _starting(start))
    return made


def _starting(start):
    def begin(self):
        if self._client is None:
            self._client = start()

    return begin


@pytest.fixture
def docked(maya, qapp, clients):
    """The panel in Maya's workspace control, with a bake at 40%."""
    open_scene(maya, "stack.ma")
    maya.panels.are_real = True
    panel = module("maya.docked_panel")
    panel.show()
    model = panel_loader.find_session().model
    model.refresh_materials()
    maya.bake = lambda folder: bake(panel._open["panel"], clients[-1], folder)
    return panel


def listeners(model):
    """How many functions the signals of a model call."""
    owners = (model.state, model.link, model.ladder, model.set_up, model.state.bake)
    parts = [*owners, *vars(model.state).values()]
    found = [each for part in parts for each in getattr(part, "__dict__", {}).values()]
    return sum(len(each._listeners) for each in found if isinstance(each, Signal))


def test_a_closed_control_ends_no_bake_and_the_next_one_shows_it(
    maya, docked, clients, qtbot, tmp_path
):
    maya.bake(tmp_path)
    first, session = docked._open["panel"], panel_loader.find_session()
    told = len(maya.dialogs)
    cmds().workspaceControl(CONTROL, edit=True, close=True)
    assert not shiboken6.isValid(first) and CONTROL not in maya.controls
    assert maya.dialogs[told:] == [
        "Verdigris goes on baking Standard_Surface1. Open the panel again."
    ]
    (client,) = clients
    assert client.ended == ""
    # the session ticks without a view
    client.emit("phase", name="training")
    for step in (60, 80):
        client.emit("step", step=step, steps=100, loss=1.0 / step, seconds_left=5.0)
    qtbot.waitUntil(lambda: session.model.state.bake.progress.step == 80, timeout=5_000)
    docked.show()
    second = docked._open["panel"]
    assert second is not first and panel_loader.find_session() is session
    assert second.model.link.state == "training" and "80%" in second.status.progress.now.text()
    assert len(second.pages.bake.plot.smooth.getData()[0]) >= 2
    finish(second, client, tmp_path / "plate.vdg")
    assert maya.nodes and session.model.host.attached(session.model.state.current) is not None
    assert len(clients) == 1


def test_workspaces_come_and_go_and_leave_no_listener_behind(maya, docked, clients, qtbot):
    model = panel_loader.find_session().model
    qtbot.wait(20)
    before = listeners(model)
    for _ in range(3):
        maya.panels.change_workspace(CONTROL)
        # a view that is gone before it has begun
        maya.panels.change_workspace(CONTROL)
        qtbot.wait(20)
    gc.collect()
    assert listeners(model) == before
    # what is shown is what was there: nothing was read again
    assert model.state.current is not None and len(clients) == 1
    assert docked._open["panel"].picker.combo.currentText().startswith("Standard_Surface1")


def test_choices_and_open_sections_come_back_with_the_control(maya, docked, qtbot):
    first = docked._open["panel"]
    first.model.set_choices(preset="final")
    first.pages.open(first.pages.paint)
    cmds().workspaceControl(CONTROL, edit=True, close=True)
    docked.show()
    second = docked._open["panel"]
    assert second.model.state.choices.preset == "final"
    assert second.pages.open_names == first_names(second)


def first_names(panel):
    return panel._memory.text("pages", "").split(",")


def test_a_worker_without_work_and_view_rests_and_wakes(maya, docked, clients, qtbot, monkeypatch):
    from verdigris.core.worker.protocol import commands

    monkeypatch.setattr(importlib.import_module("verdigris.ui.session"), "REST_SECONDS", -1.0)
    cmds().workspaceControl(CONTROL, edit=True, close=True)
    qtbot.waitUntil(lambda: clients[0].ended == "closed", timeout=5_000)
    docked.show()
    qtbot.waitUntil(lambda: len(clients) == 2, timeout=5_000)
    opened = [each for each in clients[1].sent if isinstance(each, commands.Open)]
    assert [each.material for each in opened] == ["Standard_Surface1"]


def test_a_bake_is_not_rested(maya, docked, clients, qtbot, monkeypatch, tmp_path):
    maya.bake(tmp_path)
    monkeypatch.setattr(importlib.import_module("verdigris.ui.session"), "REST_SECONDS", -1.0)
    cmds().workspaceControl(CONTROL, edit=True, close=True)
    qtbot.wait(150)
    assert clients[0].ended == ""


def test_another_scene_is_opened_in_a_bake_only_if_the_artist_agrees(
    maya, docked, clients, tmp_path
):
    events = module("maya.session_events")
    session, path = panel_loader.find_session(), maya.path
    cmds().file(newFile=True, force=True)
    # nobody asks without a bake
    assert maya.path == "" and not [each for each in maya.dialogs if "bake" in each]
    open_scene(maya, "stack.ma")
    session.model.refresh_materials()
    maya.bake(tmp_path)
    nodes = {**maya.nodes}
    maya.answer = events.STAY
    cmds().file(newFile=True, force=True)
    assert maya.path != "" and maya.nodes == nodes
    assert "The bake of Standard_Surface1 is at 40%." in maya.dialogs[-1]
    assert str(tmp_path) in maya.dialogs[-1]
    maya.answer = events.LEAVE
    cmds().file(newFile=True, force=True)
    maya.idle()
    assert maya.path == "" and clients[-1].ended == "" and path
    # a scene with a material of the same name, which is another one
    open_scene(maya, "stack.ma")
    maya.uuids.update({node: f"other {node}" for node in maya.uuids})
    maya.idle()
    before = maya.state()
    finish(docked._open["panel"], clients[-1], tmp_path / "plate.vdg")
    assert maya.state() == before
    text = session.model.state.notices[-1].text
    assert "not noted in the scene: the material of this bake is not in the open scene" in text


def test_another_scene_is_listed_and_not_read(maya, docked, clients):
    session = panel_loader.find_session()
    count = len(clients[-1].sent)
    open_scene(maya, "stack.ma")
    maya.idle()
    model = session.model
    assert model.state.current is None and model.state.materials
    assert len(clients[-1].sent) == count
    assert docked._open["panel"].picker.combo.currentIndex() == -1


def test_the_end_of_maya_ends_the_worker_which_keeps_a_checkpoint(maya, docked, clients, tmp_path):
    maya.bake(tmp_path)
    maya.report("kMayaExiting")
    assert clients[0].ended == "closed" and panel_loader.find_session() is None


def test_a_python_panel_of_houdini_is_a_view_of_the_session(
    houdini, in_houdini, qapp, clients, qtbot, tmp_path
):
    python_panel = module("houdini.python_panel")
    first = python_panel.create_interface()
    first.show()
    model = first.model
    qtbot.waitUntil(lambda: model.state.current is not None, timeout=5_000)
    bake(first, clients[-1], tmp_path)
    python_panel.destroy_interface()
    shiboken6.delete(first)
    assert "goes on baking gold" in houdini.dialogs[-1] and clients[-1].ended == ""
    clients[-1].emit("step", step=80, steps=100)
    qtbot.waitUntil(lambda: model.state.bake.progress.step == 80, timeout=5_000)
    second = python_panel.create_interface()
    second.show()
    assert second.model is model and "80%" in second.status.progress.now.text()
    # two panels show the same bake
    third = python_panel.create_interface()
    finish(third, clients[-1], tmp_path / "gold.vdg")
    assert second.model.link.state == third.model.link.state == "done"
    assert len(houdini.file_callbacks) == 1
    python_panel.destroy_interface()
    for each in (second, third):
        shiboken6.delete(each)
    sys.modules["hou"].hipFile.clear(suppress_save_prompt=True)
    assert model.state.current is None
