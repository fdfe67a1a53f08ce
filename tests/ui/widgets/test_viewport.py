"""The pixels of the viewport."""

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from verdigris.core.hosts.file_host import FilesHost
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.worker_pictures import Picture
from verdigris.ui.widgets.viewport import MODES, Viewport


@pytest.fixture
def viewport(qtbot):
    shown = Viewport(PanelModel(FilesHost()))
    qtbot.addWidget(shown)
    shown.resize(400, 300)
    shown.show()
    shown.activateWindow()
    red = np.full((64, 64, 3), (200, 30, 30), np.uint8)
    for part in ("reference", "neural", "heat"):
        shown._model.pictures.parts[part] = Picture(red, 0, 0, 1.0, 0.1)
    shown._model.pictures.changed.emit()
    return shown


@pytest.mark.parametrize("mode", MODES)
def test_the_picture_is_drawn_with_and_without_focus(mode, qtbot, viewport):
    viewport.set_mode(mode)
    across, down = viewport.width() // 2 - 30, viewport.height() // 2 + 20
    for has_focus in (False, True):
        viewport.setFocus() if has_focus else viewport.clearFocus()
        qtbot.waitUntil(lambda wanted=has_focus: viewport.hasFocus() == wanted)
        colour = viewport.grab().toImage().pixelColor(across, down)
        assert colour == QColor(200, 30, 30), f"focus {has_focus}"


def test_the_label_of_a_texel_may_be_wider_than_its_picture(qtbot, viewport):
    viewport.resize(400, 170)
    viewport.set_mode("side by side")
    model = viewport._model
    model.set_view(zoom=16.0)
    model.pictures.clear()
    places = {"event": "places", "view": model.view.number, "texels": 8}
    model.pictures.handle(places, np.full((4, 4, 2), 0.5))
    viewport.clearFocus()
    text = viewport.texel_text().strip()
    assert text == "texel 4 4 of 8,  u 0.5000  v 0.5000"
    needed = viewport.fontMetrics().horizontalAdvance(text)
    assert needed > viewport._cells()[0][1].width()
    image = viewport.grab().toImage()
    written = dark_columns(image, range(image.height() - 45, image.height() - 5))
    assert max(written) - min(written) == pytest.approx(needed, abs=6)


def dark_columns(image, rows):
    return [
        x for x in range(image.width()) for y in rows if image.pixelColor(x, y).lightness() < 80
    ]


def test_the_scale_of_the_difference_wraps_in_a_narrow_picture(qtbot, viewport):
    viewport.set_mode("side by side")
    viewport.clearFocus()
    written = {}
    for top in (0.1, 0.5):
        white = np.full((64, 64, 3), 255, np.uint8)
        viewport._model.pictures.parts["heat"] = Picture(white, 0, 0, 1.0, top)
        viewport._model.pictures.changed.emit()
        written[top] = viewport.grab().toImage()
    text = "Difference, bright = 10% or more"
    assert viewport.fontMetrics().horizontalAdvance(text) > viewport._cells()[2][1].width()
    # the figure is visible: another figure gives another picture
    assert written[0.1] != written[0.5]
    assert max(dark_columns(written[0.1], range(viewport.height()))) < viewport.width() - 10


@pytest.mark.parametrize("letters", [9, 26])
def test_labels_of_a_wiped_picture_do_not_overlap(letters, viewport, monkeypatch):
    viewport.setMinimumSize(1, 1)
    viewport.resize(300, 150)
    font = viewport.font()
    font.setPixelSize(letters)
    viewport.setFont(font)
    for part in ("reference", "neural"):
        shown = Picture(np.zeros((16, 16, 3), np.uint8), 0, 0, 1.0, 0.0)
        viewport._model.pictures.parts[part] = shown
    viewport._model.pictures.changed.emit()
    boxes = []

    def note(painter, text, cell, flags):
        boxes.append(painter.boundingRect(cell.adjusted(10, 8, -10, -8), flags, text))

    monkeypatch.setattr(viewport, "_write", note)
    viewport.set_mode("wipe")
    viewport.grab()
    first, second = boxes
    assert not first.adjusted(-5, -2, 5, 2).intersects(second.adjusted(-5, -2, 5, 2))


def test_the_requested_size_depends_on_the_device(viewport):
    model = viewport._model
    viewport.set_mode("reference")
    viewport.resize(500, 500)
    assert model.view.size == 192
    model.trainer = "tensor"
    model.report_changed.emit()
    assert model.view.size == 496
    model.trainer = "numpy"
    model.report_changed.emit()
    assert model.view.size == 192


@pytest.mark.parametrize("mode", MODES)
def test_labels_keep_their_places_in_right_to_left_layouts(mode, viewport, qapp):
    """The neural material and its label are right of the line in both directions."""
    viewport.set_mode(mode)
    viewport.clearFocus()
    images = []
    before = qapp.layoutDirection()
    try:
        # painted text follows the direction of the application
        for direction in (Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft):
            qapp.setLayoutDirection(direction)
            images.append(viewport.grab().toImage())
    finally:
        qapp.setLayoutDirection(before)
    assert images[0] == images[1]
