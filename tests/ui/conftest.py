"""Panels without a screen."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# Little to compile.
CLAY = """<materialx version="1.39"><oren_nayar_diffuse_bsdf name="d" type="BSDF">
<input name="color" type="color3" value="0.7, 0.3, 0.1"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>
<surfacematerial name="clay" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""
LONG = {"network": "2x16", "resolution": 16, "batch": 256, "iterations": 1_000_000}


@pytest.fixture(autouse=True)
def own_settings(tmp_path, monkeypatch):
    """Nothing that one test keeps, such as painted weights, comes back in another."""
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "settings"))


@pytest.fixture
def session():
    """A model with a fake host and a fake worker."""
    from .fake_session import Session

    return Session()


@pytest.fixture(scope="module")
def fake_panel(qapp, tmp_path_factory):
    """A session with a fake worker, and one panel of it for all tests of a module."""
    from PySide6.QtCore import QSettings

    from verdigris.ui.memory import Memory
    from verdigris.ui.panel import Panel

    from .fake_session import Session

    folder, patch = tmp_path_factory.mktemp("panel"), pytest.MonkeyPatch()
    patch.setenv("VERDIGRIS_CONFIG_DIR", str(folder))
    session = Session()
    session.host.manual = folder
    session.host.scene_file = lambda: folder / "shot.ma"
    memory = Memory(QSettings(str(folder / "memory.ini"), QSettings.Format.IniFormat))
    panel = Panel(session.model, None, memory)
    panel.resize(900, 900)
    panel.show()
    yield session, panel
    panel.shutdown()
    panel.close()
    patch.undo()


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "clay.mtlx"
    path.write_text(CLAY)
    return path


@pytest.fixture
def make_panel(qtbot, tmp_path, monkeypatch):
    """Panels with real workers, which end with the test. `command` replaces the worker."""
    from PySide6.QtCore import QSettings

    from verdigris.core.hosts.file_host import FilesHost
    from verdigris.core.worker.client.client import WorkerClient
    from verdigris.ui.memory import Memory
    from verdigris.ui.model.panel_model import PanelModel
    from verdigris.ui.panel import Panel

    from ..core.worker.running_worker import BRISK_WORKER

    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    clients, panels = [], []

    def make(document: Path, command=None, size=(900, 600), mesh=None):
        def start():
            clients.append(WorkerClient(command or BRISK_WORKER))
            return clients[-1]

        settings = QSettings(str(tmp_path / "memory.ini"), QSettings.Format.IniFormat)
        panel = Panel(PanelModel(FilesHost(document, mesh), start), None, Memory(settings))
        panel.clients = clients
        qtbot.addWidget(panel)
        panels.append(panel)
        panel.resize(*size)
        panel.show()
        panel.model.set_choices(**LONG)
        panel.model.set_view(size=48)
        return panel

    yield make
    for panel in panels:
        panel.shutdown()
    for client in clients:
        client.kill()
