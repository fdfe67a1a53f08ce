"""The shelf: versions, other materials, recent documents, with a fake worker."""

from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QFileDialog

from verdigris.core.bundle.files.write import Contents, write_bundle
from verdigris.core.bundle.history import History, keeper
from verdigris.core.worker.protocol import commands
from verdigris.ui.shelf.bake_queue import BakeQueue, Item
from verdigris.ui.shelf.entries import entry_of_item
from verdigris.ui.shelf.shelf import Documents, Shelf
from verdigris.ui.shelf.shelf_list import HEIGHT, PICTURE, paint_wrapped
from verdigris.ui.shelf.shelf_page import SEARCHED_FROM, ShelfPage

from ...core.bundle.bundles import lively_parameters
from .choosing import choose


def bake(folder, name, preset, flip, document="shot.ma"):
    path = folder / "neural" / f"{name}.vdg"
    path.parent.mkdir(exist_ok=True, parents=True)
    errors = {"samples": {"log_mae": 0.001}, "sphere": {"ldr_flip": flip, "psnr": 60.0}}
    contents = Contents(name=name, source={"document": document, "preset": preset}, errors=errors)
    write_bundle(path, lively_parameters(), contents, keeper(path))
    return path


@pytest.fixture
def page(qtbot, session, tmp_path):
    """Three versions of clay, a bake of wax, and two documents that were open before."""
    session.host.scene_file = lambda: tmp_path / "shot.ma"
    for preset, flip in (("draft", 0.03), ("standard", 0.012), ("final", 0.004)):
        bake(tmp_path, "clay", preset, flip)
    bake(tmp_path, "wax", "draft", 0.015)
    old = bake(tmp_path / "old", "oak", "final", 0.009, "oak.mtlx")
    model = session.ready()
    made = ShelfPage(Shelf(model))
    qtbot.addWidget(made)
    made.resize(380, 900)
    made.show()
    made.opened, made.recent = [], [tmp_path / "old" / "oak.mtlx", tmp_path / "new.mtlx"]

    def forget(path):
        made.recent.remove(path)
        return lambda: made.recent.append(path)

    queue = BakeQueue(model, lambda path: False)
    ways = (lambda: made.recent, lambda path: not made.opened.append(path), queue.add, forget)
    find = lambda path: old if path.stem == "oak" else None  # noqa: E731
    made.shelf.use(Documents(queue, *ways, find))
    return made


def all_of(page):
    return [(each.name.partition(",")[0], each.state, each.dots, each.error)
            for each in page.list.entries.all]  # fmt: skip


def test_one_list_has_versions_materials_and_documents_with_their_dots(page):
    assert all_of(page) == [
        ("Final", "In use", 5, 0.004),
        ("Standard", "Earlier version", 3, 0.012),
        ("Draft", "Earlier version", 2, 0.03),
        ("wax", "In this scene", 3, 0.015),
        ("oak", "Opened before", 4, 0.009),
        ("new", "Opened before", 0, None),
    ]
    # one column in a narrow panel, several in a wide one, and pictures of 96 pixels
    assert page.list.columns == 1 and PICTURE == 96
    page.resize(1280, 900)
    assert page.list.columns == 4 and page.list.gridSize().height() == HEIGHT


def test_a_double_click_shows_a_version_chooses_a_material_and_opens_a_document(
    qtbot, page, session, tmp_path
):
    entries = page.list.entries
    page.list.activated.emit(entries.index(1))
    shown = session.client.sent[-1]
    version = session.model.state.history.versions[1]
    assert shown == commands.Show(str(version.folder), "")
    session.receive("shown", path=shown.path, against="")
    assert [each.is_shown for each in entries.all[:3]] == [False, True, False]
    page.list.activated.emit(entries.index(4))
    assert page.opened == [tmp_path / "old" / "oak.mtlx"]
    page.list.activated.emit(entries.index(3))
    assert session.model.state.current.name == "wax"


def test_names_and_notes_stay_with_their_version_and_are_found(qtbot, page, session, tmp_path):
    details = page.details
    choose(page, 2)
    details.label.setText("first try")
    details.note.setPlainText("kept for the close-up\nof shot 10")
    # choosing another one writes what was typed
    choose(page, 1)
    kept = History(tmp_path / "neural" / "clay.vdg").versions()[2]
    assert (kept.label, kept.note) == ("first try", "kept for the close-up\nof shot 10")
    assert details.note.toPlainText() == "" and details.label.text() == ""
    tip = page.list.entries.index(2).data(Qt.ItemDataRole.ToolTipRole)
    assert "of shot 10" in tip and "FLIP 0.030" in tip
    assert page.search.isHidden() and len(page.list.entries.all) < SEARCHED_FROM
    page.search.setText("CLOSE-UP shot")
    assert [each.name for each in page.list.entries.all] == ["first try"]
    page.search.setText("nothing like it")
    assert page.nothing.text() == "Nothing has these words." and not page.list.isVisible()
    page.search.clear()
    assert len(page.list.entries.all) == 6


def test_versions_and_materials_are_published_on_one_page(page, session, tmp_path, monkeypatch):
    asked = []

    def ask(_parent, _title, proposed, _kinds):
        asked.append(Path(proposed).name)
        return str(tmp_path / "show"), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
    choose(page, 5)
    assert "publish" not in page.details.buttons
    for rows in ((3,), (0, 3)):
        choose(page, *rows)
        page.details.buttons["publish"].click()
        bundles = tuple(str(page.list.entries.all[row].bundle) for row in rows)
        sent = session.client.sent[-1]
        assert sent == commands.Publish(bundles, str(tmp_path / "show.html"))
        assert session.model.state.notices[-1].text == "Writing show.html"
    assert asked == ["wax.html", "materials.html"]
    session.receive("written", path=sent.output)
    assert session.model.state.notices[-1].reveal == tmp_path / "show.html"


def test_what_is_deleted_comes_back(qtbot, page, session):
    choose(page, 2)
    qtbot.keyClick(page.list, Qt.Key.Key_Delete)
    assert len(session.model.state.history.versions) == 2
    assert page.undo_text.text() == "The version is in the trash."
    page.undo.click()
    assert len(session.model.state.history.versions) == 3 and page.undo_row.isHidden()
    # the one that engines load cannot be deleted
    choose(page, 0)
    qtbot.keyClick(page.list, Qt.Key.Key_Delete)
    assert len(session.model.state.history.versions) == 3
    choose(page, 5)
    page.details.buttons["delete"].click()
    assert [each.name for each in page.list.entries.all[4:]] == ["oak"]
    page.undo.click()
    assert [each.name for each in page.list.entries.all[4:]] == ["oak", "new"]


def test_the_menu_has_what_the_buttons_have(page, tmp_path):
    choose(page, 4)
    texts = [each.text() for each in page.menu().actions()]
    assert texts == ["Open", "Add to queue", "Remove", "Publish…", "Show in folder"]
    assert texts == [each.text() for each in page.details.buttons.values()]
    shown = []
    page.shelf.reveal = shown.append
    page.details.buttons["reveal"].click()
    assert shown == [tmp_path / "old" / "neural" / "oak.vdg"]
    # two or more can be compared if all were baked
    choose(page, 0, 1, 4)
    compare, _publish = page.shelf.actions(page.list.chosen)
    assert (compare.text, compare.is_possible) == ("Compare 3", True)
    choose(page, 0, 5)
    assert not page.shelf.actions(page.list.chosen)[0].is_possible
    # what waits comes first, and no longer below
    choose(page, 4)
    page.details.buttons["wait"].click()
    assert all_of(page)[0] == ("oak", "Waiting", 4, 0.009) and len(all_of(page)) == 6


def test_a_reason_has_the_name_of_its_file_once_and_fits(qapp, tmp_path):
    text = f"{tmp_path}/broken.mtlx: is not valid XML (line 1, column 10): mend it"
    entry = entry_of_item(Item(tmp_path / "broken.mtlx", "", "failed", 0.0, text), None)
    assert (entry.name, entry.state) == ("broken.mtlx", "Failed")
    assert entry.detail == "Is not valid XML (line 1, column 10): mend it"
    image = QImage(200, 100, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    line = painter.fontMetrics().lineSpacing()
    for width, rows in ((400, 3), (120, 2), (120, 9)):
        area = QRect(0, 0, width, rows * line)
        lines = paint_wrapped(painter, area, entry.detail, QColor("white"))
        assert len(lines) <= rows
        assert all(painter.fontMetrics().horizontalAdvance(each) <= width for each in lines)
        is_whole = "".join(lines).replace(" ", "") == entry.detail.replace(" ", "")
        assert is_whole == (width == 400 or rows == 9)
    painter.end()
