"""Meshes of the scene and their paint, in the panel."""

import threading
import time

import fake_maya
import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtWidgets import QFileDialog

from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.hosts.host import WEIGHT_SET
from verdigris.core.hosts.painted_meshes import PaintedMeshes
from verdigris.core.worker.protocol import commands
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.signals import ERROR, WARNING

from ....plugins.maya.scenes import SHAPE, open_scene
from ...fake_session import FakeClient

WAIT = 60_000
# The unit square of uv, painted from 1 on the left to 5 on the right.
SQUARE = """v 0 0 0 1 1 1
v 1 0 0 5 5 5
v 1 1 0 5 5 5
v 0 1 0 1 1 1
vt 0 0
vt 1 0
vt 1 1
vt 0 1
f 1/1 2/2 3/3 4/4
"""


@pytest.fixture
def mesh(tmp_path):
    path = tmp_path / "square.obj"
    path.write_text(SQUARE)
    return path


@pytest.fixture
def session(document, mesh):
    class Session:
        def __init__(self):
            self.clients = []
            self.model = PanelModel(FilesHost(document, mesh), self._make)

        def _make(self):
            self.clients.append(FakeClient())
            return self.clients[-1]

        def wait(self, holds):
            end = time.monotonic() + 20
            while not holds() and time.monotonic() < end:
                self.model.tick()
                time.sleep(0.005)
            assert holds()

    return Session()


def test_paint_of_the_scene_is_read_on_another_thread_as_one_undo_step(session, monkeypatch):
    threads = []
    to_map = PaintedMeshes.to_map

    def noting(self, *args):
        threads.append(threading.current_thread())
        return to_map(self, *args)

    monkeypatch.setattr(PaintedMeshes, "to_map", noting)
    model = session.model
    model.refresh_materials()
    session.wait(lambda: not model.state.weights.is_constant)
    assert threads and threading.main_thread() not in threads
    values = model.state.weights.values
    assert values[256, 128] == pytest.approx(2.0, abs=0.02)
    assert values[256, 384] == pytest.approx(4.0, abs=0.02)
    model._sync._weights_sent = 0
    model.tick()
    sent = session.clients[0].sent[-1]
    np.testing.assert_array_equal(sent.weights(), values)
    model.state.weights.undo()
    assert model.state.weights.is_constant and not model.state.weights.can_undo
    model.scene.take_paint()
    session.wait(lambda: model.state.weights.can_undo)
    np.testing.assert_array_equal(model.state.weights.values, values)


def test_a_mesh_of_the_scene_is_sent_before_its_view_and_again_to_a_new_worker(session, mesh):
    model = session.model
    model.refresh_materials()
    assert model.state.meshes.names == (str(mesh),)
    assert model.show_mesh(str(mesh))
    given, view = session.clients[0].sent[-2:]
    assert isinstance(given, commands.SetMesh) and (view.shape, view.mesh) == ("mesh", given.name)
    found = given.mesh()
    assert found.position[0].tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    assert found.uv[1].tolist() == [[0, 0], [1, 1], [0, 1]]
    assert (found.normal[..., 2] == 1).all()
    model.link.drop()
    model.documents.open()
    kinds = [type(command) for command in session.clients[1].sent]
    assert (
        kinds.index(commands.SetMesh) < kinds.index(commands.SetView) < kinds.index(commands.Open)
    )


def test_a_deleted_mesh_is_reported_and_the_view_stays(session, mesh):
    model = session.model
    model.refresh_materials()
    mesh.unlink()
    assert not model.show_mesh(str(mesh))
    assert model.state.view.shape == "sphere"
    assert (
        model.state.notices[-1].severity == WARNING and "square.obj" in model.state.notices[-1].text
    )


def test_the_panel_lists_meshes_and_hides_the_brush_of_a_host_without_one(
    qtbot, make_panel, document, mesh
):
    panel = make_panel(document, ["python", "-c", "import time; time.sleep(60)"], mesh=mesh)
    panel.model.refresh_materials()
    shape = panel.view_bar.shape
    texts = [shape.itemText(index) for index in range(shape.count())]
    shapes = ["Sphere", "Plane", "Shader ball", "Cloth", "Tile"]
    assert texts == [*shapes, "square.obj", "Mesh file…"]
    shape.activated.emit(len(shapes))
    assert panel.model.state.view.mesh == str(mesh)
    assert shape.currentText() == "square.obj"
    panel.pages.open(panel.pages.paint)
    assert panel.pages.paint.take.isVisible() and not panel.pages.paint.scene_brush.isVisible()


def test_an_unreadable_mesh_file_is_reported_with_the_shape_that_is_shown(
    qtbot, make_panel, document, mesh, monkeypatch
):
    panel = make_panel(document)
    model, shape = panel.model, panel.view_bar.shape
    empty = mesh.with_name("empty.obj")
    empty.write_text("")
    answers = [str(mesh), str(empty), str(empty)]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (answers.pop(0), ""))

    def choose_file():
        shape.activated.emit(shape.findText("Mesh file…"))

    def shown():
        return model.state.pictures.parts["reference"].view == model.state.view.number

    qtbot.waitUntil(lambda: "reference" in model.state.pictures.parts, timeout=WAIT)
    choose_file()
    qtbot.waitUntil(shown, timeout=WAIT)
    choose_file()
    qtbot.waitUntil(lambda: model.state.view.mesh == str(mesh) and shown(), timeout=WAIT)
    assert (model.state.notices[-1].severity, model.state.notices[-1].text) == (
        ERROR,
        f"{empty}: holds no triangles: export it with its faces; {mesh} is shown",
    )
    # the next view is drawn as requested
    model.set_view(turn=30.0)
    qtbot.waitUntil(shown, timeout=WAIT)
    shape.activated.emit(shape.findText("Plane"))
    qtbot.waitUntil(shown, timeout=WAIT)
    choose_file()
    qtbot.waitUntil(lambda: model.state.view.shape == "plane" and shown(), timeout=WAIT)
    assert (
        model.state.notices[-1].text
        == f"{empty}: holds no triangles: export it with its faces; the plane is shown"
    )
    assert shape.currentText() == "Plane"


def test_in_maya_the_brush_starts_on_the_mesh_in_the_view(monkeypatch):
    scene = fake_maya.Scene()
    fake_maya.install(monkeypatch, scene)
    host = open_scene(scene, "stack.ma")
    scene.members["Standard_Surface1SG"] = [SHAPE]
    model = PanelModel(host, FakeClient)
    model.refresh_materials()
    assert model.state.meshes.names == (SHAPE,)
    before = len(model.state.notices)
    assert WEIGHT_SET not in host.weight_sets(SHAPE)
    assert model.show_mesh(SHAPE)
    model.scene.start_painting()
    assert WEIGHT_SET in host.weight_sets(SHAPE)
    assert model.state.notices[before:] == []
