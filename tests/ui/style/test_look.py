"""The look: nothing jumps, one filled button, icons, a window that comes back onto the screen."""

import re

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QRect, QSettings, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QPushButton

from verdigris.core.hosts.file_host import FilesHost
from verdigris.ui.memory import Memory
from verdigris.ui.model.parts.choices import BakeChoices
from verdigris.ui.signals import ERROR, INFO, WARNING
from verdigris.ui.style.colours import DARK, LIGHT
from verdigris.ui.style.icons import PATHS, icon
from verdigris.ui.style.metrics import ICON, tabular
from verdigris.ui.style.sheet import PRIMARY
from verdigris.ui.window import Window, stored_theme


@pytest.fixture
def session(fake_panel):
    found = fake_panel[0]
    found.ready()
    found.receive("state", state="idle")
    return found


@pytest.fixture
def panel(fake_panel, session):
    made = fake_panel[1]
    made.resize(420, 900)
    session.model.set_choices(**vars(BakeChoices()))
    return made


def places(panel):
    parts = (panel.viewport, panel.view_bar, panel.status, panel.pages)
    return [QRect(each.mapTo(panel, each.rect().topLeft()), each.size()) for each in parts]


@pytest.mark.parametrize("width", [420, 1280])
def test_nothing_moves_when_messages_and_states_come_and_go(qtbot, session, panel, width):
    panel.resize(width, 900)
    model = session.ready()
    qtbot.wait(20)
    before = places(panel)
    model.start()
    model.state.notices.add(ERROR, "A long message. " * 20)
    seen = set()
    for state in ("preparing", "training", "paused", "training", "finishing", "done"):
        session.receive("state", state=state)
        if state == "training":
            session.receive("started", step=0, steps=100)
            session.receive("step", step=50, steps=100, loss=0.1)
        qtbot.wait(5)
        assert places(panel) == before
        seen.add(panel.status.transport.main.text())
    assert panel.cards.banner.isVisible() and panel.viewport.rect().contains(panel.cards.geometry())
    assert seen == {"&Pause", "&Resume", "&Bake"}
    # eight pixels
    assert panel.status.height() % 8 == 0


def test_there_is_one_filled_button_and_a_double_click_on_it_does_not_pause(qtbot, session, panel):
    model = session.ready()
    # that of the next preset appears only with a result
    filled = [each for each in panel.findChildren(QPushButton, PRIMARY) if each.isVisible()]
    assert filled == [panel.status.transport.main]
    left = Qt.MouseButton.LeftButton
    qtbot.mousePress(filled[0], left)
    qtbot.mouseRelease(filled[0], left)
    assert model.link.state == "preparing"
    qtbot.mouseDClick(filled[0], left)
    assert model.link.pending == ""
    qtbot.mouseClick(filled[0], left)
    assert model.link.pending == "pause"


def test_good_news_hide_by_themselves_and_errors_stay_with_an_icon_each(session, panel):
    banner, notices = panel.cards.banner, session.model.state.notices
    icons = []
    for severity, stays in ((INFO, False), (WARNING, True), (ERROR, True)):
        notices.add(severity, f"A {severity} of the bake")
        assert banner.isVisible() and banner._fading.isActive() != stays
        icons.append(banner.icon.name)
        if not stays:
            banner._fading.timeout.emit()
            assert not banner.isVisible()
    # not by their colours alone
    assert len({*icons}) == 3
    banner.dismiss.click()
    assert not banner.isVisible()


def test_the_progress_runs_while_a_result_is_written(qtbot, session, panel):
    session.training()
    bar = panel.status.progress.bar
    session.receive("started", step=0, steps=100)
    session.receive("step", step=50, steps=100, loss=0.1)
    assert (bar.value(), bar.maximum()) == (500, 1000)
    session.receive("state", state="finishing")
    before = bar.grab().toImage()
    qtbot.waitUntil(lambda: bar.grab().toImage() != before, timeout=2000)


def test_the_sparkline_falls_with_the_error_and_opens_the_chart(qtbot, session, panel):
    model = session.training()
    line = panel.status.sparkline
    assert line.points() == []
    for step, error in ((10, 0.08), (20, 0.04), (30, 0.02)):
        session.receive("metrics", step=step, samples=[{"log_mae": error}])
    # each halving is the same distance
    assert np.array(line.points()) == pytest.approx(np.array([(0, 0), (0.5, 0.5), (1, 1)]))
    assert line.accessibleName() == "Chart of the error: 0.0200"
    panel.pages.show_only([])
    line.click()
    assert panel.pages.is_open(panel.pages.bake)
    assert model.link.is_busy


def test_a_folded_section_says_what_is_in_it(session, panel):
    session.ready()
    panel.pages.show_only([])
    session.model.set_choices(preset="final", resolution=256)
    weights = session.model.state.weights
    weights.values[: len(weights.values) // 4] = 4
    weights.changed.emit()
    heads = {name: section.head.summary for name, section in panel.pages.all.items()}
    assert heads["Settings"] == "Final, 256 x 256" and heads["Paint"] == "25% painted"
    assert panel.pages.all["Paint"].head.accessibleDescription() == "25% painted"


@pytest.mark.parametrize("name", PATHS)
def test_every_icon_is_drawn_inside_of_its_square_and_differs_from_the_others(qapp, name):
    image = icon(name, QColor("#ff0000")).pixmap(ICON, ICON).toImage()
    alpha = [[image.pixelColor(x, y).alpha() for x in range(ICON)] for y in range(ICON)]
    share = np.count_nonzero(alpha) / ICON**2
    assert 0.04 < share < 0.8
    others = [icon(each, QColor("#ff0000")).pixmap(ICON, ICON).toImage() for each in PATHS]
    assert sum(each == image for each in others) == 1


def test_figures_have_one_width(qapp):
    from PySide6.QtGui import QFontMetricsF

    letters = QFontMetricsF(tabular(QApplication.font()))
    assert len({letters.horizontalAdvance(10 * digit) for digit in "0123456789"}) == 1


@pytest.fixture
def make_window(qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "settings"))

    def make():
        settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
        window = Window(FilesHost(), Memory(settings))
        qtbot.addWidget(window)
        window.show()
        return window

    return make


def test_a_window_comes_back_where_it_was_and_stays_on_the_screen(qtbot, make_window):
    window = make_window()
    room = window.screen().availableGeometry()
    qtbot.waitUntil(lambda: room.contains(window.frameGeometry()))
    window.setGeometry(40, 60, 500, 420)
    window.close()
    again = make_window()
    assert again.geometry() == QRect(40, 60, 500, 420)
    # the second screen is gone
    again.setGeometry(room.right() + 400, room.bottom() + 300, 5000, 3000)
    again.close()
    last = make_window()
    qtbot.waitUntil(lambda: room.contains(last.frameGeometry()))


def test_the_window_is_dark_unless_the_artist_chooses(make_window, qapp):
    before = qapp.palette()
    window = make_window()
    try:
        assert stored_theme(window._memory) == DARK
        window.themes.actions()[1].trigger()
        assert stored_theme(window._memory) == LIGHT
        assert qapp.palette().window().color().lightness() > 200
        window.themes.actions()[0].trigger()
        assert qapp.palette().window().color().lightness() < 60
        # what has a background of its own follows, again and again
        window.show()
        window.panel.model.state.notices.add(WARNING, "A texture is small.")
        window.panel.viewport.resize(400, 300)
        banner = window.panel.cards.banner
        for number in (1, 0, 1):
            window.themes.actions()[number].trigger()
            qapp.processEvents()
            ground = QColor(re.search("background: (#[0-9a-f]+)", banner.styleSheet())[1])
            assert (ground.lightness() > 200) == bool(number)
    finally:
        qapp.setPalette(before)
        window.close()
