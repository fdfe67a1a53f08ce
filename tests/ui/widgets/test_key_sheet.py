"""The sheet of keys."""

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QLabel

from verdigris.ui.status.status_strip import _MAIN
from verdigris.ui.widgets.key_sheet import GROUPS


def test_the_sheet_comes_and_goes_with_a_question_mark_and_gives_the_focus_back(qtbot, fake_panel):
    _, panel = fake_panel
    panel.viewport.setFocus()
    qtbot.keyClick(panel.viewport, "?", Qt.KeyboardModifier.ShiftModifier)
    sheet = panel.key_sheet
    assert sheet.isVisible() and sheet.size() == panel.size()
    panel.resize(700, 800)
    assert sheet.size() == panel.size()
    for closes in (Qt.Key.Key_Escape, Qt.Key.Key_Question):
        qtbot.keyClick(sheet, closes)
        assert not sheet.isVisible()
        sheet.toggle()
    qtbot.keyClick(sheet, Qt.Key.Key_Escape)
    panel.help.keys.trigger()
    assert sheet.isVisible()
    panel.help.keys.trigger()
    assert not sheet.isVisible()
    # where text is typed, it is a character
    panel.pages.show_only(["Shelf"])
    panel.pages.shelf.search.show()
    qtbot.keyClick(panel.pages.shelf.search, "?")
    assert panel.pages.shelf.search.text() == "?" and not sheet.isVisible()


def test_the_sheet_names_every_key_of_the_viewport_and_of_the_bake(fake_panel):
    _, panel = fake_panel
    named = " ".join(keys for _, rows in GROUPS for keys, _ in rows)
    words = {*named.replace("Shift + ", "").split()}
    same = {Qt.Key.Key_Equal}
    for key in panel.viewport._keys:
        assert key in same or QKeySequence(key).toString() in words, key
    for _, _, keys, _ in _MAIN.values():
        assert keys in words
    shown = [label.text() for label in panel.key_sheet.findChildren(QLabel)]
    assert "Turn the light" in shown and len(shown) > 40
