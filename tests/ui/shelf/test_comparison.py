"""Two to four entries of the shelf side by side, with a fake worker; the real one is tested in
tests/core/worker/test_compared.py."""

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QFileDialog

from verdigris.core.worker.client.client import GONE, Health
from verdigris.core.worker.protocol import commands
from verdigris.ui.shelf.compare_window import CompareWindow
from verdigris.ui.shelf.entries import Entry

from .. import pointer

RED, BLUE = (200, 30, 20), (10, 40, 220)


@pytest.fixture
def window(qtbot, session, tmp_path):
    model = session.ready()
    entries = [
        Entry("a", "Final", bundle=tmp_path / "a.vdg", dots=5, error=0.004),
        Entry("b", "Draft", bundle=tmp_path / "b.vdg", dots=2, error=0.031),
        Entry("c", "Other", bundle=tmp_path / "c.vdg"),
    ]
    made = CompareWindow(model, entries, None)
    made.session = session
    qtbot.addWidget(made)
    made.resize(900, 420)
    made.show()
    return made


def sent(window, kind):
    return [each for each in window.session.client.sent if isinstance(each, kind)]


def draw(window, number, colour, **facts):
    pixels = np.tile(np.array(colour, np.uint8), (40, 60, 1))
    facts = {"view": 1, "sharp": 1.0, "refined": 1.0, **facts}
    window.session.client.emit(
        "picture", pixels.tobytes(), part=f"compared {number}", shape=[40, 60, 3], type="|u1",
        **facts,
    )  # fmt: skip
    window.comparison.poll()


def test_all_are_drawn_by_a_worker_of_their_own_in_the_view_of_the_panel(window, tmp_path):
    session = window.session
    assert len(session.clients) == 2 and not [
        each for each in session.clients[0].sent if isinstance(each, commands.Compare)
    ]
    (compare,) = sent(window, commands.Compare)
    assert compare.paths == tuple(str(tmp_path / f"{name}.vdg") for name in "abc")
    session.model.set_view(turn=30.0, exposure=1.0, tone="clip", lit_by="sky")
    view = sent(window, commands.SetView)[-1]
    assert (view.turn, view.exposure, view.tone, view.lit_by) == (30.0, 1.0, "clip", "sky")
    # as large as the places in the window
    cell = window.grid.cells()[0]
    assert (view.size, view.aspect) == (
        round(min(cell.width(), cell.height())),
        round(cell.width() / cell.height(), 4),
    )


def test_pictures_are_shown_in_their_places_and_can_be_saved(window, tmp_path, monkeypatch):
    assert window.line.text() == "Opening the materials" and not window.save.isEnabled()
    for number, colour in enumerate((RED, BLUE, RED)):
        draw(window, number, colour, refined=0.5)
    assert window.line.text() == "Drawing, 60%" and window.save.isEnabled()
    target = tmp_path / "sheet.png"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    window.save.click()
    image = window.grid.grab().toImage()
    for cell, colour in zip(window.grid.cells(), (RED, BLUE, RED), strict=True):
        seen = image.pixelColor(cell.center().toPoint())
        assert (seen.red(), seen.green(), seen.blue()) == colour
    assert target.stat().st_size > 500
    assert window.session.model.state.notices[-1].text == f"Written: {target}"
    for number in range(3):
        draw(window, number, RED)
    assert window.line.text().startswith("One camera, one light")


def test_the_source_is_shown_before_the_bundles_on_request(window):
    draw(window, 0, RED)
    assert window.source.isVisible()
    window.source.click()
    *_, opened, compare = window.session.client.sent[:-1]
    assert isinstance(opened, commands.Open) and opened.material == "clay"
    assert compare.with_source and len(compare.paths) == 3
    found = window.comparison
    assert [each.name for each in found.entries] == ["clay", "Final", "Draft", "Other"]
    # a late picture is still one of a bundle
    draw(window, 0, RED)
    assert found.pictures == {}
    draw(window, 0, BLUE, view=sent(window, commands.SetView)[-1].number)
    image = window.grid.grab().toImage().pixelColor(window.grid.cells()[0].center().toPoint())
    assert len(window.grid.cells()) == 4 and image.blue() == BLUE[2]
    window.source.click()
    assert len(found.entries) == 3 and not sent(window, commands.Compare)[-1].with_source


def test_the_mouse_turns_the_camera_of_all_and_of_the_panel(window):
    pointer.drag(window.grid, QPoint(100, 100), QPoint(140, 110))
    view = window.session.model.state.view
    assert (view.turn, view.pitch) == (20.0, 5.0)
    assert sent(window, commands.SetView)[-1].turn == 20.0


def test_two_to_four_share_the_window_and_the_worker_ends_with_it(qtbot, window):
    assert len({cell.top() for cell in window.grid.cells()}) == 1
    window.resize(420, 900)
    assert len({cell.left() for cell in window.grid.cells()}) < 3
    client = window.session.client
    client.now = Health(GONE, "the worker has ended")
    window.comparison.poll()
    assert window.line.text() == "the worker has ended"
    window.comparison.close()
    before = len(client.sent)
    window.session.model.set_view(turn=99.0)
    assert len(client.sent) == before
