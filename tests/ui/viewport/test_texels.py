"""Zooming in to single texels."""

import sys

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent

from verdigris.core.worker.protocol.messages import Message
from verdigris.ui.qt.drawing import image_of
from verdigris.ui.viewport.picture_area import FOOTER
from verdigris.ui.viewport.viewport import SIDE_BY_SIDE

from .. import pointer

SILENT = [sys.executable, "-c", "import time; time.sleep(60)"]
TEXELS, SIDE, NEAREST = 4, 48, 12


@pytest.fixture
def panel(qtbot, make_panel, document):
    """A panel whose worker stays silent. The test sends its pictures."""
    panel = make_panel(document, SILENT, (900, 700))
    panel.model.refresh_materials()
    panel.model._events.handle(Message({"event": "opened", "chosen": "clay"}, b""))
    panel.viewport.set_mode("neural")
    # square, as the pictures here are
    panel.viewport.setFixedSize(400, 400 + FOOTER)
    qtbot.waitUntil(lambda: panel.viewport.cells()[0][1].width() == 400)
    return panel


def squares(seed):
    """Texels of random colours."""
    colours = np.random.default_rng(seed).integers(0, 256, (TEXELS, TEXELS, 3), np.uint8)
    return colours, colours.repeat(NEAREST, 0).repeat(NEAREST, 1)


def show(panel, part, pixels):
    header = {"part": part, "shape": [SIDE, SIDE, 3], "type": "|u1"}
    send(panel, "picture", pixels, **header)


def send(panel, event, array, **fields):
    number = panel.model.state.view.number
    panel.model._events.handle(Message({"event": event, "view": number, **fields}, array.tobytes()))


def scroll(viewport, place, notches):
    viewport.wheelEvent(
        QWheelEvent(
            place,
            viewport.mapToGlobal(place),
            QPoint(),
            QPoint(0, 120 * notches),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
    )


def drawn(viewport):
    image = viewport.grab().toImage().convertToFormat(image_of(np.zeros((1, 1, 3), "u1")).format())
    # copies the bytes, which belong to the image
    found = np.frombuffer(bytes(image.constBits()), np.uint8).reshape(image.height(), -1)
    return found[:, : 3 * image.width()].reshape(image.height(), image.width(), 3)


def test_zooming_keeps_the_point_under_the_pointer(qtbot, panel):
    viewport, model = panel.viewport, panel.model
    cell = viewport.cells()[0][1]
    place = QPointF(cell.left() + 0.75 * cell.width(), cell.top() + 0.25 * cell.height())
    for _ in range(10):
        scroll(viewport, place, 1)
    view = model.state.view
    assert view.zoom == pytest.approx(1.25**10)
    # the point under the pointer stays
    assert view.x + 0.5 / view.zoom == pytest.approx(0.5)
    assert view.y + 0.5 / view.zoom == pytest.approx(0.5)
    for _ in range(30):
        qtbot.keyClick(viewport, Qt.Key.Key_Plus)
    # a texel of 1024 on a plane of 192 pixels has 48
    assert model.state.view.zoom == 256.0
    for _ in range(30):
        qtbot.keyClick(viewport, Qt.Key.Key_Minus)
    # out, and around the middle again
    assert model.state.view.zoom < 0.4


def test_texels_are_squares_when_zoomed_in(panel):
    viewport = panel.viewport
    colours, pixels = squares(1)
    cell = viewport.cells()[0][1]
    side = cell.width() / TEXELS

    def at(row, column, down, right):
        """A point in a texel, in halves of its side from its centre."""
        x = cell.left() + (column + 0.5 + 0.5 * right) * side
        y = cell.top() + (row + 0.5 + 0.5 * down) * side
        return int(y), int(x)

    panel.model.set_view(zoom=8.0)
    show(panel, "neural", pixels)
    seen = drawn(viewport)
    # the first and the last row have labels
    for row in range(1, TEXELS - 1):
        for column in range(TEXELS):
            for down, right in ((0, 0), (-0.96, -0.96), (0.96, 0.96), (0.96, -0.96)):
                np.testing.assert_array_equal(
                    seen[at(row, column, down, right)], colours[row, column]
                )
    # zoomed out it is smoothed
    panel.model.set_view(zoom=7.0)
    show(panel, "neural", pixels)
    seen = drawn(viewport)
    assert not np.array_equal(seen[at(1, 1, 0.96, 0.96)], colours[1, 1])
    np.testing.assert_array_equal(seen[at(1, 1, 0, 0)], colours[1, 1])


def test_the_texel_under_the_pointer_is_labelled(panel):
    viewport, model = panel.viewport, panel.model
    model.set_view(zoom=8.0)
    (first, reference), (second, neural) = squares(2), squares(3)
    show(panel, "reference", reference)
    show(panel, "neural", neural)
    assert viewport.texel_text() == ""
    # 4 texels of 16: columns 4 to 7, rows 11 down to 8
    u = 4 / 16 + (np.arange(SIDE) + 0.5) / SIDE / 4
    v = 12 / 16 - (np.arange(SIDE) + 0.5) / SIDE / 4
    uv = np.stack(np.meshgrid(u, v), -1).astype("<f4")
    send(panel, "places", uv, shape=[SIDE, SIDE, 2], type="<f4", texels=16)
    cell = viewport.cells()[0][1]
    for row, column in ((0, 0), (1, 3), (3, 2)):
        place = QPoint(
            int(cell.left() + (column + 0.5) / 4 * cell.width()),
            int(cell.top() + (row + 0.5) / 4 * cell.height()),
        )
        pointer.move(viewport, place)
        x, y = (column + 0.5) / 4, (row + 0.5) / 4
        texel = model.state.pictures.texel_at(x, y, model.state.view.number)
        assert (texel.column, texel.row, texel.across) == (4 + column, 11 - row, 16)
        # half a pixel
        middle = (4.5 + column) / 16, (11.5 - row) / 16
        assert texel.uv == pytest.approx(middle, abs=0.51 / SIDE / 4)
        assert texel.colours == {
            "reference": tuple(first[row, column]),
            "neural": tuple(second[row, column]),
        }
        wanted = f"texel {4 + column} {11 - row} of 16,  u 0."
        first_line, values = viewport.texel_text().splitlines()
        assert first_line.startswith(wanted)
        red, green, blue = second[row, column]
        assert values.endswith(f"Neural {red} {green} {blue}")
    # the data belongs to the view before
    model.set_view(turn=5.0)
    assert viewport.texel_text() == ""


def test_without_a_pointer_the_middle_texel_is_labelled(qtbot, panel):
    viewport = panel.viewport
    viewport.set_mode(SIDE_BY_SIDE)
    panel.model.set_view(zoom=8.0)
    uv = np.full((SIDE, SIDE, 2), np.nan, "<f4")
    uv[SIDE // 2, SIDE // 2] = 1.53, -0.22
    send(panel, "places", uv, shape=[SIDE, SIDE, 2], type="<f4", texels=10)
    # the texture repeats
    assert viewport.texel_text().startswith("texel 5 7 of 10")
