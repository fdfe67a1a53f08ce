"""The window of `verdigris panel`."""

import ctypes
import sys
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QLocale, QSettings, Qt
from PySide6.QtGui import QAccessible, QKeySequence, QTextLayout, QTextOption
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QFileDialog,
    QLabel,
    QLineEdit,
)

from verdigris.core.base.errors import HostError, VerdigrisError
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.hosts.host import HostMaterial
from verdigris.core.worker.client.client import GONE, Health
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import Message
from verdigris.ui.memory import Memory
from verdigris.ui.signals import INFO, WARNING
from verdigris.ui.window import Window, run

from .conftest import CLAY
from .fake_session import FakeClient

INI = QSettings.Format.IniFormat


@pytest.fixture
def window(qtbot, tmp_path):
    """A window with a fake worker."""
    settings = QSettings(str(tmp_path / "memory.ini"), INI)
    made = Window(FilesHost(), Memory(settings))
    made.client = FakeClient()
    made.panel.model.link._make_client = lambda: made.client
    qtbot.addWidget(made)
    made.show()
    yield made
    made.panel.shutdown()


@pytest.fixture
def documents(tmp_path):
    """Two documents with materials of the same name."""
    paths = [tmp_path / "first.mtlx", tmp_path / "second.mtlx"]
    for path, colour in zip(paths, ("0.7, 0.3, 0.1", "0.1, 0.3, 0.7"), strict=True):
        path.write_text(CLAY.replace("0.7, 0.3, 0.1", colour))
    return paths


def shown(window):
    return window.panel.cards.banner.text.toPlainText()


def test_another_document_with_a_material_of_the_same_name_is_read(window, documents):
    for path in documents:
        window.open(path)
    opened = [each for each in window.client.sent if isinstance(each, commands.Open)]
    assert [each.payload.decode() for each in opened] == [path.read_text() for path in documents]
    assert window.windowTitle() == "second.mtlx - Verdigris"


@pytest.mark.parametrize("typed", ["0.04", "0,04"])
@pytest.mark.parametrize("language", [QLocale.Language.German, QLocale.Language.English])
def test_numbers_accept_a_point_or_a_comma(qtbot, tmp_path, typed, language):
    former = QLocale()
    QLocale.setDefault(QLocale(language))
    try:
        made = Window(FilesHost(), Memory(QSettings(str(tmp_path / "a.ini"), INI)))
        qtbot.addWidget(made)
        box = made.panel.pages.settings._reals["target_error"]
        box.selectAll()
        QTest.keyClicks(box, typed)
        QTest.keyClick(box, Qt.Key.Key_Return)
        assert made.panel.model.state.choices.target_error == pytest.approx(0.04)
        assert box.text() == "0.0400"
        made.panel.shutdown()
    finally:
        QLocale.setDefault(former)


@pytest.mark.parametrize("name", ["de_DE", "ar_EG", "hi_IN"])
def test_numbers_look_the_same_in_every_language(qtbot, tmp_path, name):
    former = QLocale()
    QLocale.setDefault(QLocale(name))
    try:
        made = Window(FilesHost(), Memory(QSettings(str(tmp_path / "a.ini"), INI)))
        qtbot.addWidget(made)
        panel = made.panel
        panel.model.set_choices(iterations=123_456, time_limit=90.0)
        panel.model.set_view(exposure=-1.5, level=3)
        steps, bar = panel.pages.settings._spins["iterations"], panel.view_bar
        written = [each.text() for each in (steps, bar.exposure, bar.level)]
        assert written == ["123,456", "Exp -1.5", "Mip 3"]
        steps.selectAll()
        QTest.keyClicks(steps, "2,500")
        QTest.keyClick(steps, Qt.Key.Key_Return)
        assert panel.model.state.choices.iterations == 2500
        made.panel.shutdown()
    finally:
        QLocale.setDefault(former)


def test_a_document_is_read_once_and_a_missing_one_is_named(qtbot, window, documents, tmp_path):
    # before the event loop starts, as the command line does
    window.open(tmp_path / "lost.mtlx")
    qtbot.wait(50)
    assert "lost.mtlx: there is no such file" in shown(window)
    again = Window(FilesHost(), window.panel._memory)
    qtbot.addWidget(again)
    again.panel.model.link._make_client = FakeClient
    again.open(documents[0])
    qtbot.wait(50)
    sent = again.panel.model.link._client.sent
    assert [type(each) for each in sent].count(commands.Open) == 1
    again.panel.shutdown()


def test_an_error_is_cleared_by_the_next_document(window, documents, tmp_path):
    window.open(tmp_path / "lost.mtlx")
    assert "lost.mtlx: there is no such file" in shown(window)
    window.open(documents[0])
    assert not window.panel.cards.banner.isVisible() and not window.panel.model.state.notices


def test_a_document_without_materials_clears_the_panel(window, documents, tmp_path):
    window.open(documents[0])
    model, client = window.panel.model, window.client
    client.emit("opened", chosen="clay", materials=[{"name": "clay", "parts": []}])
    pixels = bytes(48)
    client.emit("picture", pixels, part="reference", shape=[4, 4, 3], type="|u1", view=1)
    model.tick()
    assert model.can("start") and model.state.pictures.parts
    empty = tmp_path / "empty.mtlx"
    empty.write_text('<materialx version="1.39"></materialx>')
    window.open(empty)
    assert "empty.mtlx: has no material with a surface" in shown(window)
    assert not model.can("start") and not model.state.pictures.parts
    assert "no material yet" in window.panel.pages.material.report.toPlainText()


def test_a_document_that_was_damaged_meanwhile_cannot_be_started(window, documents):
    window.open(documents[0])
    model, client = window.panel.model, window.client
    client.emit("opened", chosen="clay", materials=[{"name": "clay", "parts": []}])
    model.tick()
    whole = documents[0].read_text()
    documents[0].write_text("<materialx")
    model.refresh_materials()
    assert not model.can("start")
    assert "not valid XML" in window.panel.pages.material.report.toPlainText()
    (card,) = window.panel.cards.boxes
    assert "not valid XML" in card.detail.text() and not window.panel.cards.banner.isVisible()
    documents[0].write_text(whole)
    model.refresh_materials()
    assert not model.state.notices
    assert model.state.current.name == "clay" and model.state.report is None


def test_a_cancelled_bake_is_shown_as_cancelled(window, documents):
    window.open(documents[0])
    model, now = window.panel.model, window.panel.status.progress.now
    assert now.text() == "Reading the material"
    window.client.emit("opened", chosen="clay", materials=[{"name": "clay", "parts": []}])
    model.tick()
    assert now.text() == "Ready"
    for state, step in (("preparing", None), ("training", 315), ("idle", None)):
        window.client.emit("state", state=state)
        if step:
            window.client.emit("started", step=0, steps=400)
            window.client.emit("step", step=step, steps=400)
        model.tick()
    assert now.text() == "Cancelled at 78%"


def test_a_bake_cancelled_before_its_first_step_is_shown_as_cancelled(window, documents):
    window.open(documents[0])
    model, now = window.panel.model, window.panel.status.progress.now
    for state in ("preparing", "training", "idle"):
        window.client.emit("state", state=state)
        window.client.emit("started", step=0, steps=400)
    model.tick()
    assert now.text() == "Cancelled at 0%"


def test_a_material_without_a_worker_is_not_shown_as_ready(window, documents):
    window.open(documents[0])
    window.panel.model.link.set_health(Health(GONE, "The worker is gone (exit code 1)."))
    assert window.panel.status.progress.now.text() == "The worker has stopped"
    assert window.panel.pages.material.report.toPlainText() == "The material was not read."


def test_a_repeated_message_is_shown_again(window, documents):
    window.open(documents[0])
    notices = window.panel.model.state.notices
    for text in ("clay.mtlx: there is no such file", "Written: clay.vdg"):
        notices.add(WARNING, text)
    notices.add(WARNING, "clay.mtlx: there is no such file")
    assert shown(window) == "clay.mtlx: there is no such file"
    assert len(notices) == 2


def test_long_names_are_shown_in_full_in_tooltips(window, documents):
    name = "hero_prop_lacquered_variant_of_the_second_sequence_v012"
    documents[0].write_text(CLAY.replace('"clay"', f'"{name}"'))
    window.open(documents[0])
    combo = window.panel.picker.combo
    assert name in combo.toolTip()
    assert name in combo.itemData(0, Qt.ItemDataRole.ToolTipRole)


def test_figures_wrap_in_a_narrow_panel(qtbot, window, documents):
    window.open(documents[0])
    window.resize(420, 900)
    model, figures = window.panel.model, window.panel.pages.bake.figures
    window.panel.pages.open(window.panel.pages.bake)
    figures.setStyleSheet("QLabel { font-size: 22px }")
    verdict = "the neural material is not faster than the graph, and its textures are larger"
    model._events.handle_forecast(
        {"nanoseconds": 9.0, "source_nanoseconds": 8.0, "verdict": verdict}
    )
    qtbot.wait(50)
    figures, letters = figures.verdict, figures.verdict.fontMetrics()
    assert letters.horizontalAdvance(figures.text()) > figures.width()
    assert figures.height() >= max(2 * letters.height(), figures.heightForWidth(figures.width()))


def test_sizes_keep_their_order_in_right_to_left_layouts(qtbot, window, qapp):
    window.panel.model.set_choices(resolution=64)
    window.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    text = window.panel.pages.settings._combos["resolution"].currentText()
    layout = QTextLayout(text)
    option = QTextOption()
    option.setTextDirection(Qt.LayoutDirection.RightToLeft)
    layout.setTextOption(option)
    layout.beginLayout()
    line = layout.createLine()
    layout.endLayout()
    places = [line.cursorToX(text.index(each))[0] for each in ("64", "x")]
    assert places == sorted(places)
    assert window.panel.status.progress.now.alignment() & Qt.AlignmentFlag.AlignRight


def test_no_document_is_opened_during_a_bake(window, documents):
    window.open(documents[0])
    window.panel.model.link.set_state("training")
    window.open(documents[1])
    assert "Finish or cancel the bake before you open second.mtlx." in shown(window)
    assert window.panel.model.host.scene_file() == documents[0]
    assert window.windowTitle() == "first.mtlx - Verdigris"


def test_a_deleted_material_is_not_shown_as_another(window, documents):
    window.open(documents[0])
    model = window.panel.model
    model.link.set_state("training")
    model.state.current = HostMaterial("gone", "gone", "file")
    model.refresh_materials()
    assert window.panel.picker.combo.count() == 1
    assert window.panel.picker.combo.currentText() == ""


def is_view(command):
    """Messages change the height of the viewport, which requests pictures of its size."""
    return isinstance(command, commands.SetView)


def test_every_place_is_trained_after_the_paint_is_undone(window, documents):
    window.open(documents[0])
    model = window.panel.model
    weights = model.state.weights.values.copy()
    weights[:10] = 4
    model.state.weights.replace(weights)
    model.set_focus("painted")
    model.state.weights.undo()
    model._sync.send_weights()
    where, plain = [each for each in window.client.sent if not is_view(each)][-2:]
    assert (where, plain) == (commands.Focus("everywhere"), commands.SetImportance())
    assert window.panel.pages.paint.focus.currentData() == "everywhere"
    assert "All weights are equal again" in shown(window)


def test_fields_without_a_label_have_accessible_names(window):
    fields = [
        *window.panel.view_bar.findChildren(QAbstractSpinBox),
        *(each for each in window.panel.pages.settings.findChildren(QLineEdit) if each.toolTip()),
    ]
    names = [
        QAccessible.queryAccessibleInterface(each).text(QAccessible.Text.Name) for each in fields
    ]
    assert {"Mip level", "Exposure", "Folder of the result"} <= {*names}


def test_a_wrapped_row_has_room_below_the_viewport(qtbot, window):
    window.pages.setCurrentWidget(window.panel)
    window.resize(window.minimumSizeHint())
    qtbot.wait(100)
    bar, viewport = window.panel.view_bar, window.panel.viewport
    assert bar.height() >= bar.layout().heightForWidth(bar.width())
    assert viewport.geometry().bottom() < bar.geometry().top()
    assert all(bar.rect().contains(each.geometry()) for each in (bar.mode, bar.exposure, bar.all))


def finish(model, *warnings):
    """Sends the events of a bake."""
    model._begin()
    for text in warnings:
        model._events.handle(Message({"event": "warning", "text": text}))
    model._events.handle(Message({"event": "finished", "results": ["/out/clay.vdg"], "step": 3}))


def test_warnings_of_a_bake_are_shown_with_its_result(window, documents, monkeypatch):
    window.open(documents[0])
    model = window.panel.model
    report = {"name": "clay", "verdict": "can be baked"}
    model._events.handle(Message({"event": "opened", "chosen": "clay", "materials": [report]}))
    finish(model, "clay: is decoded in plain code")
    assert shown(window) == "Written: clay.vdg\nclay: is decoded in plain code"
    assert model.state.notices[-1].severity == WARNING

    def refuse(*_):
        raise HostError("the node is locked")

    model.link.set_state("done")
    monkeypatch.setattr(model.host, "attach", refuse)
    finish(model)
    assert "not noted in the scene: the node is locked" in shown(window)
    assert "plain code" not in shown(window)


def test_refused_actions_are_no_warnings_of_the_result(window, documents):
    window.open(documents[0])
    model = window.panel.model
    report = {"name": "clay", "verdict": "can be baked"}
    model._events.handle(Message({"event": "opened", "chosen": "clay", "materials": [report]}))
    model._begin()
    window.open(documents[1])
    assert shown(window) == "Finish or cancel the bake before you open second.mtlx."
    model._events.handle(Message({"event": "finished", "results": ["/out/clay.vdg"], "step": 3}))
    assert shown(window) == "Written: clay.vdg"
    assert model.state.notices[-1].severity == INFO


def test_tags_in_messages_are_shown_as_text(window):
    window.panel.model.state.notices.add("error", "<b>clay</b>: is no material")
    assert shown(window) == "<b>clay</b>: is no material"


def test_long_messages_wrap_and_are_copied_unchanged(qtbot, window):
    window.resize(420, 900)
    message = "No file: " + "_".join(f"a_long_name_{number}" for number in range(40)) + ".vdg"
    window.panel.model.state.notices.add("warning", message)
    qtbot.wait(50)
    text = window.panel.cards.banner.text
    lines = text.document().size().height() / text.fontMetrics().lineSpacing()
    assert lines > 10 and text.document().idealWidth() <= text.viewport().width()
    assert text.height() >= text.document().size().height()
    text.selectAll()
    QTest.keyClick(text, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == message


def test_the_tab_key_skips_widgets_without_keys(window):
    window.pages.setCurrentWidget(window.panel)
    stops, widget = [], window.panel.nextInFocusChain()
    while widget is not window.panel:
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible():
            stops.append(type(widget).__name__)
        widget = widget.nextInFocusChain()
    assert "Viewport" in stops and "PlotWidget" not in stops


def test_the_tab_key_goes_through_all_sections_and_returns(window):
    window.pages.setCurrentWidget(window.panel)
    window.panel.pages.show_only(["Bake", "Live", "Settings", "Ladder"])
    # rows that come after all else was built
    number = {"kind": "float", "value": [0.3], "low": [0.0], "high": [1.0]}
    offers = [{"name": name, "inputs": ["base"], "input": number} for name in ("wet", "age")]
    window.panel.model.state.report = {"name": "clay", "parts": (), "live": offers}
    window.panel.model.state.report_changed.emit()
    QTest.qWait(20)
    window.panel.viewport.setFocus()
    stops = []
    while (stop := window.focusWidget()) not in stops:
        stops.append(stop)
        QTest.keyClick(stop, Qt.Key.Key_Tab)
    assert stop is window.panel.viewport
    assert window.panel.pages.settings.folder in stops
    assert any(window.panel.pages.ladder.isAncestorOf(each) for each in stops)
    rows = [stops.index(each.check) for each in window.panel.pages.live.rows]
    heads = [stops.index(window.panel.pages.all[name].head) for name in ("Live", "Settings")]
    assert heads[0] < rows[0] < rows[1] < heads[1]


def test_an_export_replaces_only_the_chosen_file(window, documents, tmp_path, monkeypatch):
    window.open(documents[0])
    (tmp_path / "old.exr").write_text("")

    def written(name):
        def ask(*_):
            return str(tmp_path / name), ""

        monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
        window.client.sent.clear()
        window.panel.pages.paint.save.click()
        return [Path(each.path).name for each in window.client.sent if not is_view(each)]

    assert written("new") == ["new.exr"]
    assert written("NEW.EXR") == ["NEW.EXR"]
    assert written("old.exr") == ["old.exr"]
    assert written("old") == []
    assert "old.exr exists already" in shown(window)


def test_a_missing_qt_library_is_named(monkeypatch):
    for name in ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(Path, "is_file", lambda path: path.name == "libqxcb.so")

    def refuse(path):
        assert Path(path).name == "libqxcb.so"
        raise OSError("libxcb-icccm.so.4: cannot open shared object file: No such file")

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    with pytest.raises(VerdigrisError, match=r"libxcb-icccm\.so\.4 is missing\. Install"):
        run(None)


def test_no_page_has_the_letter_of_another_button_or_of_a_menu(window, documents):
    window.open(documents[0])
    window.panel.pages.ladder.attach.setVisible(True)
    for page in ("Bake", "Material", "Settings", "Paint", "Shelf", "Ladder"):
        window.panel.pages.show_only([page])
        texts = [each.text() for each in window.menuBar().actions()]
        texts += [
            each.text()
            for each in window.findChildren(QAbstractButton)
            if each.isVisible() and each.isEnabled()
        ]
        texts += [
            each.text()
            for each in window.findChildren(QLabel)
            if each.isVisible() and each.buddy() is not None
        ]
        letters = [QKeySequence.mnemonic(text).toString() for text in texts]
        letters = [letter for letter in letters if letter]
        assert len(letters) == len(set(letters)), (page, sorted(letters))
        assert "Alt+F" in letters
