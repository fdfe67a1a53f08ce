"""Zooming in until single texels are seen."""

import sys

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent

from verdigris.core.worker.protocol.messages import Message
from verdigris.ui.images import image_of
from verdigris.ui.widgets.viewport import SIDE_BY_SIDE

SILENT = [sys.executable, "-c", "import time; time.sleep(60)"]
TEXELS, SIDE, NEAREST = 4, 48, 12


@pytest.fixture
def panel(make_panel, document):
    """A panel whose worker says nothing: what it draws is of the test."""
    panel = make_panel(document, SILENT, (900, 700))
    panel.model.refresh_materials()
    panel.model._take(Message({"event": "opened", "chosen": "clay"}, b""))
    panel.viewport.set_mode("neural")
    return panel


def squares(seed):
    """Each texel in a colour of its own."""
    colours = np.random.default_rng(seed).integers(0, 256, (TEXELS, TEXELS, 3), np.uint8)
    return colours, colours.repeat(NEAREST, 0).repeat(NEAREST, 1)


def show(panel, part, pixels):
    header = {"part": part, "shape": [SIDE, SIDE, 3], "type": "|u1"}
    say(panel, "picture", pixels, **header)


def say(panel, event, array, **fields):
    number = panel.model.view.number
    panel.model._take(Message({"event": event, "view": number, **fields}, array.tobytes()))


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
    # the bytes are the image's, which goes with this function
    found = np.frombuffer(bytes(image.constBits()), np.uint8).reshape(image.height(), -1)
    return found[:, : 3 * image.width()].reshape(image.height(), image.width(), 3)


def test_the_wheel_and_keys_zoom_in_and_keep_what_is_under_the_pointer(qtbot, panel):
    viewport, model = panel.viewport, panel.model
    cell = viewport._cells()[0][1]
    place = QPointF(cell.left() + 0.75 * cell.width(), cell.top() + 0.25 * cell.height())
    for _ in range(10):
        scroll(viewport, place, 1)
    view = model.view
    assert view.zoom == pytest.approx(1.25**10)
    # what was half way to the right and up still is
    assert view.x + 0.5 / view.zoom == pytest.approx(0.5)
    assert view.y + 0.5 / view.zoom == pytest.approx(0.5)
    for _ in range(30):
        qtbot.keyClick(viewport, Qt.Key.Key_Plus)
    # a texel of 1024 on a plane of 192 pixels has 48
    assert model.view.zoom == 256.0
    for _ in range(30):
        qtbot.keyClick(viewport, Qt.Key.Key_Minus)
    assert model.view.zoom == 1.0


def test_a_texel_is_a_square_of_its_colour_up_to_its_edges(panel):
    viewport = panel.viewport
    colours, pixels = squares(1)
    cell = viewport._cells()[0][1]
    side = cell.width() / TEXELS

    def at(row, column, down, right):
        """Where in a texel, by halves of its side from its middle."""
        x = cell.left() + (column + 0.5 + 0.5 * right) * side
        y = cell.top() + (row + 0.5 + 0.5 * down) * side
        return int(y), int(x)

    panel.model.look(zoom=8.0)
    show(panel, "neural", pixels)
    seen = drawn(viewport)
    # the first and the last row have words on them
    for row in range(1, TEXELS - 1):
        for column in range(TEXELS):
            for down, right in ((0, 0), (-0.96, -0.96), (0.96, 0.96), (0.96, -0.96)):
                np.testing.assert_array_equal(
                    seen[at(row, column, down, right)], colours[row, column]
                )
    # further away it is smoothed
    panel.model.look(zoom=7.0)
    show(panel, "neural", pixels)
    seen = drawn(viewport)
    assert not np.array_equal(seen[at(1, 1, 0.96, 0.96)], colours[1, 1])
    np.testing.assert_array_equal(seen[at(1, 1, 0, 0)], colours[1, 1])


def test_the_texel_that_is_pointed_at_is_told_with_its_uv_and_colours(qtbot, panel):
    viewport, model = panel.viewport, panel.model
    model.look(zoom=8.0)
    (first, reference), (second, neural) = squares(2), squares(3)
    show(panel, "reference", reference)
    show(panel, "neural", neural)
    assert viewport.texel_text() == ""
    # 4 texels of 16: columns 4 to 7, rows 11 down to 8
    u = 4 / 16 + (np.arange(SIDE) + 0.5) / SIDE / 4
    v = 12 / 16 - (np.arange(SIDE) + 0.5) / SIDE / 4
    uv = np.stack(np.meshgrid(u, v), -1).astype("<f4")
    say(panel, "places", uv, shape=[SIDE, SIDE, 2], type="<f4", texels=16)
    cell = viewport._cells()[0][1]
    for row, column in ((0, 0), (1, 3), (3, 2)):
        place = QPoint(
            int(cell.left() + (column + 0.5) / 4 * cell.width()),
            int(cell.top() + (row + 0.5) / 4 * cell.height()),
        )
        qtbot.mouseMove(viewport, place)
        told = model.texel_at((column + 0.5) / 4, (row + 0.5) / 4)
        assert (told.column, told.row, told.across) == (4 + column, 11 - row, 16)
        # half a pixel
        middle = (4.5 + column) / 16, (11.5 - row) / 16
        assert told.uv == pytest.approx(middle, abs=0.51 / SIDE / 4)
        assert told.colours == {
            "reference": tuple(first[row, column]),
            "neural": tuple(second[row, column]),
        }
        where, values = viewport.texel_text().splitlines()
        assert where.startswith(f"texel {4 + column} {11 - row} of 16,  u 0.")
        red, green, blue = second[row, column]
        assert values.endswith(f"Neural {red} {green} {blue}")
    # another view: what is known is of the one before
    model.look(turn=5.0)
    assert viewport.texel_text() == ""


def test_without_a_pointer_the_texel_in_the_middle_is_told(qtbot, panel):
    viewport = panel.viewport
    viewport.set_mode(SIDE_BY_SIDE)
    panel.model.look(zoom=8.0)
    uv = np.full((SIDE, SIDE, 2), np.nan, "<f4")
    uv[SIDE // 2, SIDE // 2] = 1.53, -0.22
    say(panel, "places", uv, shape=[SIDE, SIDE, 2], type="<f4", texels=10)
    # the texture repeats
    assert viewport.texel_text().startswith("texel 5 7 of 10")
