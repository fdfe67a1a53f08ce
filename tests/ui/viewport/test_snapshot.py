"""Pictures that are saved and copied."""

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

import OpenImageIO as oiio
from PySide6.QtGui import QColor, QDesktopServices, QGuiApplication, QImageReader
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from verdigris.ui.model.parts.worker_pictures import Picture
from verdigris.ui.status.banner import Banner
from verdigris.ui.viewport import turntable
from verdigris.ui.viewport.view_bar import ViewBar
from verdigris.ui.viewport.viewport import Viewport

RED, BLUE = (200, 30, 30), (20, 40, 220)


@pytest.fixture
def shown(qtbot, session):
    """A viewport with a red reference, and a blue neural material with half the pixels."""
    model = session.ready()
    viewport = Viewport(model)
    bar, banner = ViewBar(model, viewport), Banner(model)
    for widget in (viewport, bar, banner):
        qtbot.addWidget(widget)
    viewport.resize(300, 200)
    viewport.show()
    add(model, "reference", RED, (200, 300))
    add(model, "neural", BLUE, (100, 150))
    return model, viewport, bar.camera, banner


def add(model, part, colour, shape):
    pixels = np.full((*shape, 3), colour, np.uint8)
    model.state.pictures.parts[part] = Picture(pixels, model.state.view.number, 0, 1.0)
    model.state.pictures.changed.emit()


def choose(monkeypatch, path):
    proposed = []

    def ask(_parent, _title, name, _filter):
        proposed.append(name)
        return str(path), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
    return proposed


def read(path):
    return oiio.ImageBuf(str(path)).get_pixels(oiio.UINT8)


def test_the_wipe_is_saved_as_seen_in_full_size_and_a_button_shows_its_folder(
    shown, tmp_path, monkeypatch, qtbot
):
    model, viewport, _camera, banner = shown
    proposed = choose(monkeypatch, tmp_path / "tray")
    viewport.wipe = 0.25
    viewport.setFocus()
    QTest.keyClick(viewport, "p")
    # the suffix is added
    saved = read(tmp_path / "tray.png")
    assert saved.shape == (200, 300, 3)
    assert proposed[0].endswith("clay_wipe.png")
    assert tuple(saved[100, 70]) == RED and tuple(saved[100, 80]) == BLUE
    assert tuple(saved[100, 75]) == (255, 255, 255)
    assert model.state.notices[-1].text == "Saved: tray.png"
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    assert not banner.reveal.isHidden()
    banner.reveal.click()
    assert opened == [str(tmp_path)]
    # the next one is proposed beside it
    viewport.set_mode("neural")
    viewport.saves.emit()
    assert proposed[1] == str(tmp_path / "clay_neural.png")
    assert read(tmp_path / "tray.png").shape == (100, 150, 3)


def test_a_copy_is_what_the_viewport_shows(shown):
    model, viewport, camera, banner = shown
    viewport.set_mode("reference")
    camera.copy_picture()
    image = QGuiApplication.clipboard().image()
    assert (image.width(), image.height()) == (300, 200)
    assert image.pixelColor(5, 5) == QColor(*RED)
    model.state.notices.add("warning", "no file is named")
    assert banner.reveal.isHidden()


def test_a_sheet_waits_for_the_difference_which_a_wipe_does_not_draw(
    shown, session, tmp_path, monkeypatch
):
    model, _viewport, camera, _banner = shown
    choose(monkeypatch, tmp_path / "sheet.png")
    assert model.state.view.shows == "wipe"
    camera.save_sheet()
    assert model.state.view.shows == "all"
    assert not (tmp_path / "sheet.png").exists()
    assert model.state.notices[-1].text.startswith("sheet.png is saved when all three")
    add(model, "reference", RED, (200, 300))
    add(model, "neural", BLUE, (200, 300))
    heat = np.full((200, 300, 1), round(65_535 * 0.1), np.uint16)
    model.state.pictures.parts["heat"] = Picture(heat, model.state.view.number, 0, 1.0)
    model.state.pictures.changed.emit()
    assert model.state.view.shows == "wipe"
    sheet = read(tmp_path / "sheet.png")
    gap, head = 4, 2 * 11
    assert sheet.shape == (200 + head, 3 * 300 + 2 * gap, 3)
    assert tuple(sheet[head + 50, 50]) == RED
    assert tuple(sheet[head + 50, 300 + gap + 50]) == BLUE
    # the end of the scale, and names above the pictures
    assert sheet[head + 50, 600 + 2 * gap + 50].min() > 180
    assert np.ptp(sheet[:head, :300].astype(int)) > 60


def test_a_picture_that_cannot_be_saved_is_reported(shown, tmp_path, monkeypatch):
    model, _viewport, camera, _banner = shown
    choose(monkeypatch, tmp_path / "tray.jpg")
    camera.save_picture()
    assert "pictures are saved as .png: change the suffix" in model.state.notices[-1].text
    choose(monkeypatch, "")
    count = len(model.state.notices)
    camera.save_picture()
    assert len(model.state.notices) == count and not any(tmp_path.glob("tray*"))


def draw_turned(model, count):
    """Answers views as the worker does: the angle is the red of the picture."""
    angles = []
    for _ in range(count):
        angles.append(model.state.view.turn)
        shade = (round(angles[-1]) % 256, 80, 80)
        for part in ("reference", "neural"):
            add(model, part, shade, (200, 300))
    return angles


def test_a_turntable_is_one_turn_in_a_file_that_another_program_reads(
    shown, tmp_path, monkeypatch, qtbot
):
    model, viewport, camera, _banner = shown
    monkeypatch.setattr(turntable, "PICTURES", 4)
    proposed = choose(monkeypatch, tmp_path / "turn")
    viewport.set_mode("reference")
    model.set_view(turn=30.0)
    add(model, "reference", RED, (200, 300))
    camera.save_turntable()
    table = camera.turntable
    assert proposed[0].endswith("clay_turn.webp") and table.isVisible()
    # the first picture is there already
    assert not table.can_start and table.text.text().startswith("Turntable: 1 of 4, about ")
    angles = draw_turned(model, 3)
    assert angles == [120.0, -150.0, -60.0]
    qtbot.waitUntil(lambda: not table.is_running, timeout=5000)
    assert not table.isVisible() and model.state.view.turn == 30.0
    assert model.state.notices[-1].text == "Saved: turn.webp"
    reader = QImageReader(str(tmp_path / "turn.webp"))
    assert reader.imageCount() == 4
    reds = [reader.read().pixelColor(50, 50).red() for _ in range(4)]
    assert reds == pytest.approx([RED[0], *(angle % 256 for angle in angles)], abs=6)


def test_a_turntable_can_be_cancelled_and_ends_when_the_view_is_changed(
    shown, tmp_path, monkeypatch, qtbot
):
    model, _viewport, camera, _banner = shown
    monkeypatch.setattr(turntable, "PICTURES", 4)
    choose(monkeypatch, tmp_path / "turn.webp")
    table = camera.turntable
    for stop, angle in ((table.cancel.click, 0.0), (lambda: model.set_view(zoom=2.0), -180.0)):
        model.set_view(turn=0.0)
        draw_turned(model, 1)
        camera.save_turntable()
        draw_turned(model, 1)
        stop()
        qtbot.waitUntil(lambda: not table.isVisible(), timeout=2000)
        assert model.state.view.turn == angle and not table.is_running
        assert model.state.notices[-1].text.startswith("The turntable was cancelled")
    qtbot.waitUntil(lambda: not [*tmp_path.glob("*turn*")], timeout=3000)
