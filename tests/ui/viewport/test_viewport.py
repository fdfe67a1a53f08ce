"""The pixels of the viewport."""

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPalette
from PySide6.QtTest import QTest

from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.pictures.compare.heat import NOT_COMPARED
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.parts.worker_pictures import Picture
from verdigris.ui.viewport.picture_area import FOOTER
from verdigris.ui.viewport.scale_bar import draw_bar, heat_image, value_at, worst_spots
from verdigris.ui.viewport.view_bar import ViewBar
from verdigris.ui.viewport.viewport import MODES, Viewport

from .. import pointer

RED = (200, 30, 30)


def differences(value, shape=(96, 128)):
    return np.full((*shape, 1), round(65_535 * value), np.uint16)


@pytest.fixture
def viewport(qtbot):
    shown = Viewport(PanelModel(FilesHost()))
    qtbot.addWidget(shown)
    shown.resize(400, 300 + FOOTER)
    shown.show()
    shown.activateWindow()
    red = np.full((96, 128, 3), RED, np.uint8)
    for part in ("reference", "neural"):
        shown._model.state.pictures.parts[part] = Picture(red, 0, 0, 1.0)
    shown._model.state.pictures.parts["heat"] = Picture(differences(0.05), 0, 0, 1.0)
    shown._model.state.pictures.changed.emit()
    return shown


@pytest.mark.parametrize("mode", MODES)
def test_the_picture_is_drawn_with_and_without_focus(mode, qtbot, viewport):
    viewport.set_mode(mode)
    place = viewport.cells()[0][1].center() + QPointF(-30, 20)
    across, down = round(place.x()), round(place.y())
    for has_focus in (False, True):
        viewport.setFocus() if has_focus else viewport.clearFocus()
        qtbot.waitUntil(lambda wanted=has_focus: viewport.hasFocus() == wanted)
        colour = viewport.grab().toImage().pixelColor(across, down)
        if mode == "heat":
            # the middle of a scale that ends at 10%: a red
            assert colour.red() > 150 > 2 * colour.green(), f"focus {has_focus}"
        else:
            assert colour == QColor(*RED), f"focus {has_focus}"


def test_the_label_of_a_texel_may_be_wider_than_its_picture(qtbot, viewport):
    viewport.resize(400, 170 + FOOTER)
    viewport.set_mode("side by side")
    model = viewport._model
    model.set_view(zoom=16.0)
    model.state.pictures.clear()
    places = {"event": "places", "view": model.state.view.number, "texels": 8}
    model.state.pictures.handle(places, np.full((4, 4, 2), 0.5))
    viewport.clearFocus()
    text = viewport.texel_text().strip()
    assert text == "texel 4 4 of 8,  u 0.5000  v 0.5000"
    needed = viewport.fontMetrics().horizontalAdvance(text)
    assert needed > viewport.cells()[0][1].width()
    image = viewport.grab().toImage()
    low = round(viewport.area().bottom())
    written = dark_columns(image, range(low - 45, low - 5))
    assert max(written) - min(written) == pytest.approx(needed, abs=6)


def dark_columns(image, rows):
    return [
        x for x in range(image.width()) for y in rows if image.pixelColor(x, y).lightness() < 80
    ]


def test_one_scale_is_locked_until_the_artist_lets_it_fit(viewport):
    viewport.set_mode("heat")
    assert viewport.top == 0.1
    full = viewport.grab().toImage()
    viewport.set_scale_locked(False)
    # all differences are 5%, which is the end of the next scale
    assert viewport.top == 0.05
    fitted = viewport.grab().toImage()
    assert fitted.pixelColor(150, 150).lightness() > full.pixelColor(150, 150).lightness() + 60
    viewport.set_scale_locked(True)
    assert viewport.grab().toImage() == full


def drawn_bar(width, height, top):
    """A picture with the bar, and the plate of the bar."""
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(90, 90, 90))
    painter = QPainter(image)
    plate = draw_bar(painter, QRectF(0, 0, width, height), top, QPalette(), None)
    painter.end()
    return image, plate


@pytest.mark.parametrize("top", [0.1, 0.005, 1.0])
def test_the_bar_has_the_colour_of_each_value_beside_its_tick(qapp, top):
    """Read from the drawn picture, against the colours of the map itself."""
    image, _ = drawn_bar(600, 400, top)
    x = 600 - 12 - 5
    column = [image.pixelColor(x, y) for y in range(400)]
    # in a high picture it is below the shape, and grows to the right
    flat, plate = drawn_bar(300, 800, top)
    assert plate.top() > 400 + 150 and plate.bottom() < 760
    row = [flat.pixelColor(x, round(plate.top()) + 12) for x in range(300)]
    begin, end = plate.left(), plate.right()
    margin = (end - begin - 220) / 2
    low, high = 200 + 110, 200 - 110
    for share in (0.02, 0.25, 0.5, 0.75, 0.98):
        expected = heat_image(differences(share * top, (1, 1)), top).pixelColor(0, 0)
        found = row[round(begin + margin + 220 * share)]
        assert np.abs(np.subtract(found.getRgb(), expected.getRgb())).max() < 12, share
        found = column[round(low + (high - low) * share)]
        assert np.abs(np.subtract(found.getRgb(), expected.getRgb())).max() < 12, share


def test_the_bar_of_a_small_picture_leaves_the_shape_free(qapp):
    _, plate = drawn_bar(402, 305, 0.1)
    # the sphere fills the shorter side; the plate may touch its rim in the corner
    away = np.hypot(plate.left() + 2 - 201, plate.top() + 2 - 152.5)
    assert plate.height() < 0.6 * 305 and plate.top() > 100 and away > 130


def test_the_difference_under_the_pointer_is_shown(viewport):
    values = differences(0.01)
    values[:, 64:] = round(65_535 * 0.034)
    viewport._model.state.pictures.parts["heat"] = Picture(values, 0, 0, 1.0)
    viewport._model.state.pictures.changed.emit()
    viewport.set_mode("heat")
    for place, expected in ((100, 0.01), (300, 0.034)):
        pointer.move(viewport, QPoint(place, 100))
        assert viewport.value_below() == pytest.approx(expected, abs=1e-4)


def test_the_worst_spot_is_flown_to_and_not_a_single_pixel(viewport):
    model = viewport._model
    viewport.set_mode("reference")
    model.state.pictures.parts.pop("heat")
    viewport.fly_to_worst()
    # the difference is drawn first
    assert model.state.view.shows == "all" and model.state.view.zoom == 1
    values = differences(0.0)
    values[20:24, 96:100] = 9000
    values[80, 20] = 60_000
    model.state.pictures.parts["heat"] = Picture(values, model.state.view.number, 0, 1.0)
    model.state.pictures.changed.emit()
    view = model.state.view
    assert view.zoom == 5.0 and view.shows == "reference"
    # 98 of 128 to the right and 22 of 96 down, in halves of the shorter side
    assert view.x == pytest.approx((98 - 64) / 48, abs=0.05)
    assert view.y == pytest.approx((48 - 22) / 48, abs=0.05)
    # the spot in the middle is not divided
    assert abs(viewport.wipe - 0.5) >= 0.1
    # from there to the next, and round again
    viewport.fly_to_worst()
    second = model.state.view
    assert second.zoom == 5.0
    assert second.x == pytest.approx((20 - 64) / 48, abs=0.05)
    assert second.y == pytest.approx((48 - 80) / 48, abs=0.05)
    viewport.fly_to_worst()
    assert (model.state.view.x, model.state.view.y) == (view.x, view.y)
    # from elsewhere, the worst place is looked for again
    model.set_view(turn=30.0)
    viewport.fly_to_worst()
    assert viewport._flies and viewport.badge().startswith("finding the worst place")
    # who looks elsewhere meanwhile is not carried away
    model.set_view(turn=60.0)
    at = model.state.view.number
    model.state.pictures.parts["heat"] = Picture(values, at, 0, 1.0)
    model.state.pictures.changed.emit()
    assert not viewport._flies and model.state.view.x == view.x
    model.set_view(turn=90.0)
    viewport.fly_to_worst()
    viewport.see_all()
    assert not viewport._flies and model.state.view.zoom == 1


def test_a_network_that_has_learnt_nothing_is_a_shimmer_over_the_reference(viewport, qtbot):
    model = viewport._model
    model.state.pictures.drop_neural()
    model.link.set_state("training")
    assert viewport.is_learning and viewport._shimmer_timer.isActive()
    for mode, left in (("wipe", 199), ("neural", 0), ("side by side", 0)):
        viewport.set_mode(mode)
        viewport._shimmer_timer.stop()
        images = []
        for viewport._shimmer in (4, 14):
            images.append(viewport.grab().toImage())
        moved = [
            x
            for x in range(400)
            if any(images[0].pixelColor(x, y) != images[1].pixelColor(x, y) for y in (120, 180))
        ]
        # over the neural side only
        assert len(moved) > 60 and min(moved) >= left
    picture = Picture(np.full((96, 128, 3), RED, np.uint8), 0, 0, 1.0)
    model.state.pictures.parts["neural"] = picture
    model.state.pictures.changed.emit()
    assert not viewport.is_learning and not viewport._shimmer_timer.isActive()


def test_what_is_not_compared_is_hatched_and_never_the_worst(viewport):
    values = differences(0.01)
    values[:, :64] = NOT_COMPARED
    values[70:80, 100:110] = 6000
    values[10:20, 80:90] = 5000
    values[40:50, 110:120] = 4000
    values[80:90, 70:80] = 3500
    spots = worst_spots(values)
    expected = [(105 / 128, 75 / 96), (85 / 128, 15 / 96), (115 / 128, 45 / 96)]
    np.testing.assert_allclose(spots, expected, atol=0.05)
    assert value_at(values, 0.2, 0.5) is None
    # over the shape in grey; a difference hides it
    shape = np.zeros((96, 128, 3), np.uint8)
    shape[:, 90:] = 200
    image = heat_image(values, 0.1, shape)
    grey = [image.pixelColor(x, 60) for x in (70, 100)]
    assert grey[1].lightness() > grey[0].lightness() + 20
    full = heat_image(values, 0.1)
    assert image.pixelColor(105, 75) == full.pixelColor(105, 75)
    stripes = {image.pixelColor(x, 60).lightness() for x in range(64)}
    assert len(stripes) == 2
    viewport._model.state.pictures.parts["heat"] = Picture(values, 0, 0, 1.0)
    viewport._model.state.pictures.changed.emit()
    viewport.set_mode("heat")
    assert len(viewport._spots) == 3
    # a white ring around the worst
    image, cell = viewport.grab().toImage(), viewport.cells()[0][1]
    x, y = spots[0][0] * cell.width(), spots[0][1] * cell.height()
    ring = [
        max(
            image.pixelColor(round(x + r * np.cos(a)), round(y + r * np.sin(a))).lightness()
            for r in (10, 11, 12, 13)
        )
        for a in np.linspace(0.6, 6.2, 40)
    ]
    assert np.median(ring) > 180


def test_holding_d_shows_both_sides_twice_a_second(qtbot, viewport):
    blue = np.full((96, 128, 3), (20, 30, 200), np.uint8)
    viewport._model.state.pictures.parts["neural"] = Picture(blue, 0, 0, 1.0)
    viewport._model.state.pictures.changed.emit()
    viewport.setFocus()
    qtbot.waitUntil(viewport.hasFocus)
    timer, seen = viewport._flicker_timer, []
    QTest.keyPress(viewport, Qt.Key.Key_D)
    assert viewport._model.state.view.shows == "all"
    # each side for a quarter of a second
    assert timer.isActive() and timer.interval() == 250 and not timer.isSingleShot()
    for _ in range(4):
        seen.append(viewport.grab().toImage().pixelColor(300, 200).name())
        timer.timeout.emit()
    QTest.keyRelease(viewport, Qt.Key.Key_D)
    assert seen == 2 * [QColor(*RED).name(), QColor(20, 30, 200).name()]
    assert viewport.flicker == "" and viewport._model.state.view.shows == "wipe"
    assert not timer.isActive()


def test_the_badge_says_what_is_shown(viewport):
    model = viewport._model
    viewport.set_mode("wipe")
    assert viewport.badge() == ""

    def show(part, side, sharp, refined):
        pixels = np.zeros((side, side, 3), np.uint8)
        model.state.pictures.parts[part] = Picture(pixels, 0, 0, sharp, refined)

    show("reference", 300, 1.0, 0.0)
    show("neural", 192, 0.64, 0.0)
    model.link.state = "training"
    assert viewport.badge() == "live 192 px, refining"
    show("neural", 300, 1.0, 0.0)
    assert viewport.badge() == "live 300 px"
    model.link.state = "done"
    show("neural", 300, 0.4, 0.0)
    assert viewport.badge() == "refining, 40%"
    show("neural", 300, 1.0, 0.5)
    assert viewport.badge() == "smoothing, 0%"


def test_shift_and_drag_turn_the_light_around(qtbot, viewport):
    shift = Qt.KeyboardModifier.ShiftModifier
    pointer.drag(viewport, QPoint(100, 200), QPoint(160, 230), keys=shift)
    assert (viewport._model.state.view.rotate, viewport._model.state.view.turn) == (30.0, 0.0)
    qtbot.keyClick(viewport, Qt.Key.Key_Left, shift)
    assert viewport._model.state.view.rotate == 20.0


@pytest.mark.parametrize("letters", [9, 26])
def test_labels_of_a_wiped_picture_do_not_overlap(letters, viewport, monkeypatch):
    viewport.setMinimumSize(1, 1)
    viewport.resize(300, 150)
    font = viewport.font()
    font.setPixelSize(letters)
    viewport.setFont(font)
    for part in ("reference", "neural"):
        shown = Picture(np.zeros((16, 16, 3), np.uint8), 0, 0, 1.0, 0.0)
        viewport._model.state.pictures.parts[part] = shown
    viewport._model.state.pictures.changed.emit()
    boxes = []

    def note(painter, text, cell, flags):
        if text in ("Reference", "Neural"):
            boxes.append(painter.boundingRect(cell.adjusted(10, 8, -10, -8), flags, text))

    monkeypatch.setattr(viewport, "_write", note)
    viewport.set_mode("wipe")
    viewport.grab()
    first, second = boxes
    assert not first.adjusted(-5, -2, 5, 2).intersects(second.adjusted(-5, -2, 5, 2))


def test_pictures_fill_their_places_pixel_by_pixel(viewport, monkeypatch):
    model = viewport._model
    viewport.set_mode("reference")
    viewport.resize(500, 400 + FOOTER)
    assert (model.state.view.size, model.state.view.aspect) == (400, 1.25)
    assert model.state.view.shows == "reference"
    viewport.set_mode("side by side")
    # two columns of two rows are larger than three columns of 164, or three rows of 130
    assert (model.state.view.size, model.state.view.shows) == (198, "all")
    assert model.state.view.aspect == pytest.approx(248 / 198, rel=2e-3)
    sizes = {(cell.width(), cell.height()) for _, cell in viewport.cells()}
    assert sizes == {(248, 198)}
    assert viewport.cells()[2][1].center().x() == viewport.area().center().x()
    # a wide viewport has three columns, and a high one three rows
    for width, height in ((900, 300), (300, 900)):
        viewport.resize(width, height + FOOTER)
        assert model.state.view.size == 297
    viewport.resize(500, 400 + FOOTER)
    viewport.set_mode("wipe")
    assert (model.state.view.shows, model.state.view.wipe) == ("wipe", 0.5)
    # a screen with finer pixels
    monkeypatch.setattr(viewport, "devicePixelRatioF", lambda: 2.0)
    viewport.set_mode("wipe")
    assert model.state.view.size == 800
    # never tiny
    viewport.setMinimumSize(1, 1)
    viewport.resize(60, 40)
    assert model.state.view.size == 128


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


def test_a_tone_mapping_is_chosen_in_the_menu(qtbot, session):
    model = session.ready()
    bar = ViewBar(model, Viewport(model))
    qtbot.addWidget(bar)
    assert bar.tones["film"].isChecked()
    bar.tones["neutral"].trigger()
    assert model.state.view.tone == "neutral" and not bar.tones["film"].isChecked()
    model.set_view(tone="aces")
    assert bar.tones["aces"].isChecked()


def test_the_line_leaves_the_worst_place_of_a_result(viewport):
    """Unless the artist has moved it, or a bake trains, whose errors wander."""
    model = viewport._model
    viewport.set_mode("wipe")
    red = np.full((96, 128, 3), RED, np.uint8)
    worse = red.copy()
    worse[40:46, 60:66] = 0
    for state, moves in (("training", False), ("done", True)):
        viewport.wipe = 0.5
        model.link.state = state
        for part, pixels in (("reference", red), ("neural", worse)):
            number = model.state.view.number
            model.state.pictures.parts[part] = Picture(pixels, number, 0, 1.0)
        model.state.pictures.changed.emit()
        # a tenth of the picture is more than the ring around the place
        assert (abs(viewport.wipe - 63 / 128) > 0.1) == moves
    assert model.state.view.wipe == pytest.approx(viewport.wipe, abs=1e-3)
    viewport._set_wipe(0.5)
    model.state.pictures.changed.emit()
    assert viewport.wipe == 0.5
