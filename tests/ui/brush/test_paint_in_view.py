"""The brush in the viewport: paint that is seen, a pen, keys, and numbers beside sliders."""

from dataclasses import asdict

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QInputDevice, QPointingDevice, QTabletEvent
from PySide6.QtWidgets import QApplication

from verdigris.ui.brush.contrast import choose_inks
from verdigris.ui.model.parts.worker_pictures import Picture
from verdigris.ui.paint.effect import Effects, Measured
from verdigris.ui.paint.weight_map import Brush

from .. import pointer
from .test_paint_pixels import uv_of_sphere

LEFT = Qt.MouseButton.LeftButton
SIDE = 96


@pytest.fixture(scope="module")
def made(qapp, fake_panel):
    """The panel while it paints in the view."""
    session, panel = fake_panel
    session.ready()
    panel.viewport.set_mode("reference")
    panel.pages.paint.in_view.click()
    qapp.processEvents()
    return panel


@pytest.fixture
def panel(made):
    """The panel without paint."""
    model = made.model
    model.state.weights.switch_owner(object())
    model.state.effects = Effects()
    model.state.pictures.clear_errors()
    model.state.pictures.error_map = None
    made.pages.paint.tools.set(**asdict(Brush()), opacity=0.7)
    made.viewport._pointer = None
    show_sphere(made)
    return made


def show_sphere(panel, colour=(60, 140, 110)):
    """A plain picture of a sphere, with the uv of its pixels."""
    pictures, number = panel.model.state.pictures, panel.model.state.view.number
    pixels = np.full((SIDE, SIDE, 3), colour, np.uint8)
    pictures.parts["reference"] = Picture(pixels, number, 0, 1.0, 0.0)
    pictures.parts["texture"] = Picture(pixels, number, 0, 1.0, 0.0)
    pictures.places, pictures.places_view = uv_of_sphere(SIDE)[0], number
    pictures.changed.emit()


def colours(panel):
    image = panel.viewport.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    # copied: the bytes end with the image
    found = np.array(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return found[:, : 3 * image.width()].reshape(image.height(), image.width(), 3)


def test_a_stroke_is_seen_where_it_is_and_undone_by_keys_in_the_view(qtbot, panel):
    viewport, weights = panel.viewport, panel.model.state.weights
    middle = viewport.rect().center()
    before = colours(panel)
    pointer.drag(viewport, middle, middle + QPoint(30, 0))
    assert weights.values[64, 64] > 1.5
    viewport._pointer = None
    change = np.abs(colours(panel).astype(int) - before).sum(-1)
    rows, columns = np.nonzero(change > 60)
    # around the stroke and nowhere else
    assert abs(columns.mean() - middle.x() - 15) < 25 and abs(rows.mean() - middle.y()) < 25
    assert np.ptp(columns) < viewport.width() / 2
    # in a colour that differs from the patina below it
    drawn = colours(panel)[change == change.max()][0]
    ink = choose_inks(panel.model.state.pictures.parts["texture"].pixels)[0]
    assert ink.name != "green" and np.abs(drawn.astype(int) - ink.rgb).max() < 160
    qtbot.keyClick(viewport, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert weights.is_constant
    assert np.abs(colours(panel).astype(int) - before).max() <= 2


def test_the_ring_follows_the_pointer_and_is_gone_beside_the_surface(qtbot, panel):
    viewport = panel.viewport
    middle = QPointF(viewport.rect().center())
    plain = colours(panel)
    counts = []
    for offset in (0.0, 60.0, 2000.0):
        viewport._pointer = middle + QPointF(offset, 0)
        white = (colours(panel).min(-1) > 180) & (plain.min(-1) < 150)
        counts.append(np.count_nonzero(white))
        if offset == 60.0:
            assert abs(np.nonzero(white)[1].mean() - middle.x() - 60) < 12
    assert min(counts[:2]) > 30 and counts[2] == 0


def test_paint_of_an_older_view_is_not_drawn_over_a_newer_picture(panel):
    model = panel.model
    model.state.weights.fill(6.0)
    painted = colours(panel)
    model.state.pictures.places_view -= 1
    model.state.pictures.changed.emit()
    assert np.abs(colours(panel).astype(int) - painted).max() > 60


@pytest.fixture(scope="module")
def pen(qapp):
    capability = QInputDevice.Capability
    return QPointingDevice(
        *("pen", 7, QInputDevice.DeviceType.Stylus, QPointingDevice.PointerType.Pen),
        *(capability.Position | capability.Pressure, 1, 2),
    )


def press_pen(widget, device, place, pressure):
    none = Qt.MouseButton.NoButton
    event = QTabletEvent(
        *(QEvent.Type.TabletPress, device, QPointF(place), QPointF(place)),
        *(pressure, 0.0, 0.0, 0.0, 0.0, 0.0, Qt.KeyboardModifier.NoModifier, LEFT, none),
    )
    QApplication.sendEvent(widget, event)
    return event


@pytest.mark.parametrize("where", ["viewport", "paint.texture"])
def test_a_light_pen_paints_less_than_a_mouse(qtbot, panel, pen, where):
    widget = panel.viewport if where == "viewport" else panel.pages.paint.texture
    panel.pages.show_only(["Paint"])
    qtbot.wait(20)
    weights, middle = panel.model.state.weights, widget.rect().center()
    highest = []
    for pressure in (None, 0.3):
        if pressure is not None:
            event = press_pen(widget, pen, middle, pressure)
            # Qt makes a mouse event of it
            assert not event.isAccepted()
        qtbot.mousePress(widget, LEFT, pos=middle)
        highest.append(weights.values.max() - 1)
        qtbot.mouseRelease(widget, LEFT, pos=middle)
        weights.undo()
    assert 0 < highest[1] < 0.4 * highest[0]


def test_brackets_change_the_size_in_the_view_and_on_the_texture(qtbot, panel):
    page = panel.pages.paint
    before = page.size.box.value()
    qtbot.keyClick(panel.viewport, Qt.Key.Key_BracketRight)
    qtbot.keyClick(page.texture, Qt.Key.Key_BracketRight)
    assert page.size.box.value() > before + 1
    for _ in range(2):
        qtbot.keyClick(panel.viewport, Qt.Key.Key_BracketLeft)
    assert page.size.box.value() == before


def test_a_slider_and_the_number_beside_it_are_the_same_value(panel):
    page = panel.pages.paint
    page.weight.slider.setValue(25)
    assert page.weight.box.value() == 2.5 and page.tools.brush.weight == 2.5
    page.strength.box.setValue(80)
    assert page.strength.slider.value() == 80 and page.tools.brush.strength == 0.8
    page.size.box.setValue(20)
    assert page.tools.brush.radius == 0.2
    page.opacity.box.setValue(30)
    assert page.tools.opacity == 0.3


def test_one_click_paints_from_the_error_and_one_undoes_it(panel):
    page, model = panel.pages.paint, panel.model
    assert not page.from_error.isEnabled()
    errors = np.full((64, 64), 0.01, np.float32)
    errors[40:56, 8:40] = 0.09
    model.state.pictures.error_map = errors
    model.state.pictures.error_map_changed.emit()
    page.from_error.click()
    assert model.state.weights.values[96, 48] == pytest.approx(4.0, abs=0.1)
    assert model.state.weights.values[20, 100] == 1.0
    page.undo.click()
    assert model.state.weights.is_constant


def test_the_page_says_how_to_measure_the_effect_and_then_what_it_is(panel):
    page, model = panel.pages.paint, panel.model
    assert page.effect.isHidden()
    errors = np.full((64, 64), 0.02, np.float32)
    plain = model.state.weights.values.copy()
    model.state.weights.fill(1.0)
    model.state.weights.values[:, :32] = 4.0
    model.state.weights.changed.emit()
    assert page.effect.text().startswith("To measure what the paint does, bake once without it")
    model.state.effects.note(Measured(model.state.bake_key, errors, plain, 100))
    model.state.weights.changed.emit()
    assert page.effect.isHidden()
    better = errors.copy()
    better[:, :16] = 0.0132
    model.state.effects.note(
        Measured(model.state.bake_key, better, model.state.weights.values, 100)
    )
    model.state.weights.changed.emit()
    assert page.effect.text() == "Inside -34%, outside +0%, against a bake without paint"
