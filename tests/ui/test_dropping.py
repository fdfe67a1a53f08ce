"""What dropped files do, anywhere on the window, and what is shown while they hover."""

import json

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QMimeData, QPoint, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.worker.protocol import commands
from verdigris.ui.memory import Memory
from verdigris.ui.window import Window

from .conftest import CLAY
from .fake_session import FakeClient

WAY = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture
def window(qtbot, tmp_path):
    """A window with a fake worker."""
    made = Window(
        FilesHost(), Memory(QSettings(str(tmp_path / "m.ini"), QSettings.Format.IniFormat))
    )
    made.clients = []
    made.panel.model.link._make_client = lambda: (
        made.clients.append(FakeClient()) or made.clients[-1]
    )
    qtbot.addWidget(made)
    made.show()
    yield made
    made.panel.shutdown()


@pytest.fixture
def files(tmp_path):
    """One of each kind."""
    for name in ("copper.mtlx", "set/oak.mtlx", "set/ash.mtlx", "set/old.vdg/no.mtlx"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(CLAY)
    for name in ("a.vdg", "b.vdg"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(json.dumps({"source": {}}))
    (tmp_path / "damaged.vdg").mkdir()
    (tmp_path / "empty").mkdir()
    for name in ("sky.hdr", "Noon.EXR", "pawn.obj", "hero.usdc", "wood.png", "notes.txt"):
        (tmp_path / name).write_text("")
    return tmp_path


def data(*paths):
    found = QMimeData()
    found.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return found


def hover(widget, *paths):
    """What is shown while files hover."""
    held = data(*paths)
    widget.dragEnterEvent(QDragEnterEvent(QPoint(5, 5), WAY[0], held, *WAY[1:]))
    sign = widget.drops.sign
    return sign.text().splitlines() if sign.isVisibleTo(widget) else []


def drop(widget, *paths):
    held = data(*paths)
    widget.dropEvent(QDropEvent(QPointF(5, 5), WAY[0], held, *WAY[1:]))


def test_each_kind_says_what_it_does(window, files):
    says = {
        "copper.mtlx": "Open copper.mtlx",
        "set": "Add the 2 materials in set to what waits",
        "a.vdg": "Show a.vdg",
        "sky.hdr": "Light with sky.hdr",
        "Noon.EXR": "Light with Noon.EXR",
        "pawn.obj": "Show on pawn.obj",
        "hero.usdc": "Show on hero.usdc",
        "empty": "empty: contains no materials (.mtlx)",
        "damaged.vdg": "damaged.vdg: is not a whole result: drop the folder that a bake wrote",
        "wood.png": "wood.png: an image alone is no material: drop the .mtlx that reads it",
    }
    for name, text in says.items():
        assert hover(window, files / name) == [text]
    assert "notes.txt: is of an unknown kind: drop a .mtlx" in hover(window, files / "notes.txt")[0]
    window.dragLeaveEvent(None)
    assert not window.drops.sign.isVisible()
    # text from a browser is for nobody
    held = QMimeData()
    held.setText("copper.mtlx")
    event = QDragEnterEvent(QPoint(5, 5), WAY[0], held, *WAY[1:])
    event.accept()
    window.dragEnterEvent(event)
    assert not event.isAccepted()


def test_several_files_are_dropped_at_once(window, files):
    names = ("copper.mtlx", "sky.hdr", "pawn.obj", "notes.txt", "hero.usdc")
    lines = hover(window, *(files / name for name in names))
    assert lines[:3] == ["Open copper.mtlx", "Light with sky.hdr", "Show on pawn.obj"]
    assert lines[3].startswith("notes.txt: ") and lines[4] == "hero.usdc: one mesh at a time"
    drop(window, *(files / name for name in names))
    view = window.panel.model.state.view
    assert window.windowTitle() == "copper.mtlx - Verdigris" and window.panel.isVisible()
    assert (view.lit_by, view.shape, view.mesh) == (
        str(files / "sky.hdr"), "mesh", str(files / "pawn.obj"),
    )  # fmt: skip
    # the choice of shapes has it
    assert window.panel.view_bar.shape.currentText() == "pawn.obj"
    # what was refused stays for a moment
    assert window.drops.sign.isVisible() and "notes.txt" in window.drops.sign.text()
    assert "sky.hdr" not in window.drops.sign.text()


def test_documents_wait_beside_others_and_results_are_compared(window, files):
    drop(window, files / "set", files / "copper.mtlx")
    assert [each.path.stem for each in window.queue.items] == ["ash", "oak", "copper"]
    window.queue.items.clear()
    drop(window, files / "copper.mtlx")
    window.panel.model.link.set_state("training")
    assert hover(window, files / "set" / "oak.mtlx") == ["Add oak.mtlx to what waits"]
    drop(window, files / "set" / "oak.mtlx")
    assert [each.path.stem for each in window.queue.items] == ["oak"]
    assert hover(window, files / "a.vdg", files / "b.vdg") == ["Compare 2 results"]
    drop(window, files / "a.vdg", files / "b.vdg")
    (compare,) = [each for each in window.clients[-1].sent if isinstance(each, commands.Compare)]
    assert compare.paths == (str(files / "a.vdg"), str(files / "b.vdg"))


def test_a_drop_on_any_part_reaches_the_window(window, files):
    drop(window, files / "copper.mtlx")
    parts = [window.panel.viewport, window.panel.pages.shelf.list.viewport(), window.welcome.choose]
    for part in parts:
        event = QDragEnterEvent(QPoint(2, 2), WAY[0], data(files / "sky.hdr"), *WAY[1:])
        event.ignore()
        target: QWidget = part
        while target is not window and not (target.acceptDrops() and handles(target, event)):
            target = target.parentWidget()
        assert target is window


def handles(target, event):
    target.dragEnterEvent(event) if hasattr(target, "dragEnterEvent") else None
    return event.isAccepted()


def test_a_panel_inside_an_application_takes_lights_meshes_and_a_file(fake_panel, files):
    session, panel = fake_panel
    session.ready()
    assert hover(panel, files / "copper.mtlx") == ["Read copper.mtlx in place of the scene"]
    drop(panel, files / "Noon.EXR")
    assert session.model.state.view.lit_by == str(files / "Noon.EXR")
    session.model.set_view(lit_by="studio")
