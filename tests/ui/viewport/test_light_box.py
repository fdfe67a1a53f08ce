"""The dial of the light, its blur, and the pictures of lights."""

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from verdigris.core.lighting.environment import ENVIRONMENTS
from verdigris.ui.model.parts.worker_pictures import Picture
from verdigris.ui.viewport.view_bar import ViewBar
from verdigris.ui.viewport.viewport import Viewport

from .. import pointer


@pytest.fixture
def shown(qtbot, session):
    model = session.ready()
    viewport = Viewport(model)
    bar = ViewBar(model, viewport)
    for widget in (viewport, bar):
        qtbot.addWidget(widget)
    return model, bar, viewport


def test_the_dial_turns_the_light_as_it_is_dragged(shown):
    model, bar, _viewport = shown
    dial = bar.dial.box.dial
    middle = dial.width() // 2
    near, right = QPoint(middle, 2 * middle - 10), QPoint(2 * middle - 10, middle)
    # from the viewer to the right: a quarter turn, counter-clockwise from above
    pointer.drag(dial, near, QPoint(middle + 40, middle + 40), right)
    assert model.state.view.rotate == pytest.approx(90, abs=0.5)
    assert bar.dial.box.turn.value() == 90
    QTest.keyClick(dial, Qt.Key.Key_Left)
    assert model.state.view.rotate == pytest.approx(85, abs=0.5)
    # from elsewhere, too
    model.set_view(rotate=-30.0)
    assert dial.degrees == -30
    bar.dial.box.slider.setValue(25)
    assert model.state.view.blur == 25 == bar.dial.box.blur.value()
    bar.dial.box.reset.click()
    assert (model.state.view.rotate, model.state.view.blur) == (0, 0)


def test_each_light_has_a_picture_also_that_of_a_file_once_it_is_read(shown):
    model, bar, _viewport = shown
    for name in ENVIRONMENTS:
        assert not bar.light.itemIcon(bar.light.findData(name)).isNull()
    model.set_view(lit_by="/maps/hall.hdr")
    index = bar.light.findData("/maps/hall.hdr")
    assert bar.light.itemIcon(index).isNull()
    pixels = np.full((64, 128, 3), (200, 20, 20), np.uint8)
    model.state.pictures.parts["light"] = Picture(pixels, model.state.view.number, 0, 1.0)
    model.state.pictures.changed.emit()
    image = bar.light.itemIcon(index).pixmap(32, 32).toImage()
    assert image.pixelColor(16, 16).getRgb()[:3] == (200, 20, 20)
    # the map of another file that comes late
    model.set_view(lit_by="/maps/yard.hdr")
    model.state.pictures.changed.emit()
    assert bar.light.itemIcon(bar.light.findData("/maps/yard.hdr")).isNull()


def test_the_view_zooms_out_and_a_reset_takes_everything_back(shown):
    model, bar, viewport = shown
    for _ in range(20):
        QTest.keyClick(viewport, Qt.Key.Key_Minus)
    assert model.state.view.zoom == 0.25
    bar.field.setValue(70)
    assert model.state.view.field_of_view == 70
    model.set_view(tone="aces", blur=9.0, lit_by="sunset", shape="ball")
    bar.reset.trigger()
    view = model.state.view
    assert (view.zoom, view.field_of_view, view.tone, view.blur) == (1, 24, "film", 0)
    assert (view.lit_by, view.shape, bar.field.value()) == ("sunset", "ball", 24)
