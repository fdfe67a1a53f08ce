"""The welcome page and the queue of the window, with a fake worker."""

import re
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QModelIndex, QSettings, Qt

from verdigris.core.bundle.files.write import Contents, write_bundle
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import Message
from verdigris.ui.cards import welcome
from verdigris.ui.memory import Memory
from verdigris.ui.shelf.bake_queue import BakeQueue
from verdigris.ui.window import Window

from ...core.bundle.bundles import lively_parameters
from ..conftest import CLAY
from ..fake_session import FakeClient
from .choosing import choose

ERRORS = {
    "samples": {"log_mae": 0.001, "smape": 0.02, "relative_l1": 0.02, "bias": 0.0},
    "sphere": {"psnr": 44.0, "ldr_flip": 0.009},
}


@pytest.fixture
def make_window(qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "settings"))
    made = []

    def make():
        settings = QSettings(str(tmp_path / "memory.ini"), QSettings.Format.IniFormat)
        window = Window(FilesHost(), Memory(settings))
        window.client = FakeClient()
        window.panel.model.link._make_client = lambda: window.client
        qtbot.addWidget(window)
        window.show()
        made.append(window)
        return window

    yield make
    for window in made:
        window.panel.shutdown()


def documents(folder, *names):
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{name}.mtlx" for name in names]
    for path in paths:
        path.write_text(CLAY.replace('"clay"', f'"{path.stem}"'))
    return paths


def tell(window, event, **fields):
    window.panel.model._events.handle(Message({"event": event, **fields}))


def opened(window, **changes):
    """The worker has opened the chosen material."""
    name = window.panel.model.state.current.name
    report = {"name": name, "verdict": "can be baked", "parts": [], **changes}
    chosen = "" if changes.get("problem") else name
    tell(window, "opened", chosen=chosen, materials=[report], trainer="numpy", device="cpu")
    tell(window, "state", state="idle")


def baked(window):
    """The worker has baked it."""
    model = window.panel.model
    start = window.client.sent[-1]
    assert isinstance(start, commands.Start) and start.name == model.state.current.name
    tell(window, "state", state="training")
    tell(window, "started", step=0, steps=100, resolution=16)
    tell(window, "phase", name="training")
    tell(window, "step", step=50, steps=100, loss=0.1, seconds=1.0)
    # what is chosen stays while a bake goes on
    page = window.panel.pages.shelf
    choose(page, 0)
    buttons = page.details.buttons
    tell(window, "step", step=60, steps=100, loss=0.1, seconds=1.0)
    assert window.queue.current.share == 0.6
    assert page.list.chosen == page.list.entries.all[:1] and page.details.buttons is buttons
    Path(start.folder).mkdir(exist_ok=True)
    bundle = Path(start.folder) / f"{start.name}.vdg"
    write_bundle(bundle, lively_parameters(), Contents(name=start.name, errors=ERRORS))
    tell(window, "state", state="finishing")
    tell(window, "finished", results=[str(bundle)], step=100, stopped_by="steps")
    tell(window, "state", state="done")


def names(page):
    return [each.name for each in page.list.entries.all]


def drag(page, row, to):
    """Drags an entry to another place. Returns the names then."""
    entries = page.list.entries
    data = entries.mimeData([entries.index(row)])
    move = Qt.DropAction.MoveAction
    assert not entries.dropMimeData(data, move, to, 0, QModelIndex())
    return names(page)[:3]


def test_the_welcome_page_has_recent_files_and_bakes_an_example_with_one_click(
    qtbot, make_window, tmp_path, monkeypatch
):
    window = make_window()
    assert window.welcome.isVisible() and not window.welcome.shelf_title.isVisible()
    shown = window.welcome.demonstrations | window.welcome.examples
    assert {*shown} == {*welcome.EXAMPLES, "street_stone", "rusting_paint"}
    copper = shown["copper_tray"]
    # each example has a picture of its own, and a name that is read out
    pictures = [each.icon().pixmap(96, 96).toImage() for each in window.welcome.examples.values()]
    assert all(not each.isNull() for each in pictures) and pictures[0] != pictures[1]
    large = [
        each.icon().pixmap(96, 96).toImage() for each in window.welcome.demonstrations.values()
    ]
    assert len(large) == 3 and all(not each.isNull() for each in large) and large[0] != large[1]
    assert "into a small neural material" in window.welcome.sentence.text()
    assert copper.accessibleName() == "Bake the example copper tray"
    (path,) = documents(tmp_path / "ex", "copper_tray")
    monkeypatch.setattr(welcome, "example", lambda _name: path)
    copper.setFocus()
    qtbot.keyClick(copper, Qt.Key.Key_Space)
    assert window.panel.isVisible() and not window.welcome.isVisible()
    opened(window)
    assert isinstance(window.client.sent[-1], commands.Start)
    # the next window knows the file
    again = make_window()
    page = again.welcome.shelf
    (recent,) = page.list.entries.all
    assert (recent.name, recent.state) == ("copper_tray", "Opened before")
    page.list.activated.emit(page.list.entries.index(0))
    assert again.windowTitle() == "copper_tray.mtlx - Verdigris"
    assert not [each for each in again.client.sent if isinstance(each, commands.Start)]


def test_a_demonstration_is_baked_with_its_live_input_unless_the_artist_has_chosen_others(
    make_window, tmp_path, monkeypatch
):
    window = make_window()
    (path,) = documents(tmp_path / "ex", "street_stone")
    monkeypatch.setattr(welcome, "example", lambda _name: path)
    stone = window.welcome.demonstrations["street_stone"]
    stone.click()
    (sent,) = (each for each in window.client.sent if isinstance(each, commands.Open))
    assert sent.live == ("wetness=0..1",) == window.panel.model.state.choices.live
    opened(window)
    assert isinstance(window.client.sent[-1], commands.Start)
    window.panel.model.link.set_state("idle")
    window.panel.model.set_choices(live=("wetness=0.2..0.8",))
    window._bake_at_once(path, ("wetness=0..1",))
    sent = [each for each in window.client.sent if isinstance(each, commands.Open)][-1]
    assert sent.live == ("wetness=0.2..0.8",)


def test_a_folder_is_baked_in_the_order_of_the_queue_with_a_report_at_the_end(
    make_window, tmp_path
):
    window = make_window()
    folder = tmp_path / "set"
    documents(folder, "ash", "brick", "clay")
    documents(folder / "old.versions", "not_this")
    window.add_to_queue([folder])
    queue, page = window.queue, window.welcome.shelf
    assert page.list.isVisible() and names(page) == ["ash", "brick", "clay"]
    choose(page, 2)
    page.details.buttons["up"].click()
    assert names(page) == ["ash", "clay", "brick"] and page.list.chosen[0].name == "clay"
    # dragged in front of the first, and to the end
    assert drag(page, 1, 0) == ["clay", "ash", "brick"]
    assert drag(page, 0, 3) == ["ash", "brick", "clay"]
    assert drag(page, 2, 1) == ["ash", "clay", "brick"]
    assert not page.report.isVisible()
    page.run.click()
    page = window.panel.pages.shelf
    assert window.panel.isVisible() and page.list.isVisible()
    # the first cannot be baked, which does not stop the others
    opened(window, problem="it has no surface")
    assert (queue.items[0].state, queue.items[0].text) == ("failed", "it has no surface")
    opened(window)
    baked(window)
    # what is in the panel stays
    choose(page, 2)
    assert not page.details.buttons["delete"].isEnabled()
    assert drag(page, 2, 0) == ["ash", "clay", "brick"]
    opened(window)
    baked(window)
    assert [each.state for each in queue.items] == ["failed", "baked", "baked"]
    assert not queue.is_running and page.report.isVisible()
    report = queue.report.read_text()
    assert queue.report == folder / "neural" / "queue_report.html"
    assert [name for name in ("ash", "clay", "brick") if f">{name}<" in report] == [
        "ash",
        "clay",
        "brick",
    ]
    assert "it has no surface" in report and re.search(r"2 baked", report)


def test_a_cancelled_bake_stops_the_queue_and_what_waits_stays(make_window, tmp_path):
    window = make_window()
    window.add_to_queue(documents(tmp_path / "set", "ash", "brick"))
    queue, page = window.queue, window.panel.pages.shelf
    queue.start()
    opened(window)
    window.panel.model.cancel()
    tell(window, "state", state="idle")
    assert [each.state for each in queue.items] == ["stopped", "waiting"]
    assert not queue.is_running and page.run.isVisible()
    choose(page, 1)
    page.details.buttons["delete"].click()
    assert names(page)[:1] == ["ash"] and not page.run.isVisible()
    assert page.undo_text.text() == "brick was removed from the list."
    page.undo.click()
    assert names(page)[:2] == ["ash", "brick"] and page.run.isVisible()
    assert not page.undo_row.isVisible()
    # what was stopped waits again, at the end
    choose(page, 0)
    page.details.buttons["again"].click()
    assert [each.state for each in queue.items] == ["waiting", "waiting"]
    assert names(page)[:2] == ["brick", "ash"]


def test_closing_with_what_there_is_starts_no_other_bake(make_window, tmp_path):
    window = make_window()
    window.add_to_queue(documents(tmp_path / "set", "ash", "brick"))
    window.queue.start()
    opened(window)
    tell(window, "state", state="training")
    tell(window, "step", step=50, steps=100, loss=0.1, seconds=1.0)
    window.close()
    window.panel.closing.keep.click()
    assert window.isVisible()
    tell(window, "state", state="finishing")
    tell(window, "state", state="done")
    assert not window.isVisible() and window.client.ended == "closed"
    assert [each.state for each in window.queue.items] == ["baked", "waiting"]


def test_each_material_of_a_document_is_an_item(session):
    queue = BakeQueue(session.model, lambda _: session.model.refresh_materials() is None)
    queue.add([Path("scene.mtlx"), Path("notes.txt")])
    queue.start()
    assert [(each.name, each.state) for each in queue.items] == [
        ("clay", "opening"),
        ("wax", "waiting"),
    ]
