"""The scale of a heat map: its colours, its worst place, and a bar with ticks and a mark."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QPainter, QPalette, QPen

from verdigris.core.pictures.compare.heat import (
    LOCKED_TOP,
    NOT_COMPARED,
    automatic_top,
    heat_colours,
    scale_ticks,
)
from verdigris.core.pictures.picture_files import srgb_from_linear
from verdigris.ui.qt.drawing import image_of

LOCKED = LOCKED_TOP
# The value of a picture that is 100%.
WHOLE = 65_535
# The size of a spot: a single pixel is too small. Spots are apart from each other by this many
# sizes, and no spot is less than this share of the worst.
_SPOT_SHARE = 0.04
_APART, _LEAST_OF_WORST = 3, 0.25
# The brightest grey of the shape below a difference, and the share of the scale that hides it.
_SHAPE_GREY, _HIDES_SHAPE = 84.0, 0.2
# Stripes where nothing is compared: their width in pixels, and their greys.
_STRIPE, _STRIPES = 5, np.array([[58] * 3, [88] * 3], np.uint8)
_STEPS = 256
_BAR_WIDTH = 10.0
_MARGIN = 12.0
_MOST_HEIGHT = 220.0
# From so many times as high as wide on, a picture has room below the shape. Of a small one, the bar
# takes a share of the height.
_HIGH, _SMALL_SHARE = 1.25, 0.45


def scale_top(values: NDArray[np.uint16], is_locked: bool) -> float:
    """The difference at the end of the scale."""
    if is_locked:
        return LOCKED_TOP
    seen = values[(values > 0) & (values != NOT_COMPARED)]
    return automatic_top(seen.astype(np.float32) / WHOLE)


@lru_cache(8)
def _colours(top: float) -> Any:
    """The colour of each value of a picture."""
    share = np.arange(WHOLE + 1, dtype=np.float32) / WHOLE
    return (srgb_from_linear(heat_colours(share, top)) * 255 + 0.5).astype(np.uint8)


def heat_image(
    values: NDArray[np.uint16], top: float, shape: NDArray[np.uint8] | None = None
) -> QImage:
    """The difference in the colours of its scale, over the shape in grey, so that the eye finds
    the place. What is not compared is hatched."""
    heat = values[..., 0]
    colours = _colours(top)[heat]
    if shape is not None:
        share = np.clip(heat / (WHOLE * top * _HIDES_SHAPE), 0, 1)[..., None].astype(np.float32)
        grey = _grey_of(shape, *heat.shape)[..., None]
        colours = (colours + (1 - share) * grey).clip(0, 255).astype(np.uint8)
    row, column = np.nonzero(heat == NOT_COMPARED)
    colours[row, column] = _STRIPES[(row + column) // _STRIPE % 2]
    return image_of(colours)


def _grey_of(picture: NDArray[np.uint8], height: int, width: int) -> NDArray[np.float32]:
    """A picture in dark grey, in another size."""
    rows = (np.arange(height) + 0.5) * picture.shape[0] / height
    columns = (np.arange(width) + 0.5) * picture.shape[1] / width
    grey = picture[rows.astype(int)[:, None], columns.astype(int)].mean(-1, dtype=np.float32)
    # a black material has a form, too
    return np.asarray(grey * (_SHAPE_GREY / max(float(np.percentile(grey, 99)), 1.0)), np.float32)


def value_at(values: NDArray[np.uint16], x: float, y: float) -> float | None:
    """The difference at a point of the picture, 0 to 1 to the right and downwards; None where
    nothing is compared."""
    if not (0 <= x < 1 and 0 <= y < 1):
        return None
    height, width = values.shape[:2]
    value = int(values[int(y * height), int(x * width), 0])
    return None if value == NOT_COMPARED else value / WHOLE


def worst_spots(values: NDArray[np.uint16], most: int = 3) -> list[tuple[float, float]]:
    """The places with the largest differences around them, the worst first, 0 to 1 to the right
    and downwards."""
    height, width = values.shape[:2]
    side = max(1, round(_SPOT_SHARE * min(height, width)))
    sums = np.zeros((height + 1, width + 1))
    compared = np.where(values[..., 0] == NOT_COMPARED, 0, values[..., 0])
    sums[1:, 1:] = compared.astype(np.float64).cumsum(0).cumsum(1)
    boxes = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
    least, away, spots = _LEAST_OF_WORST * float(boxes.max()), _APART * side, []
    while len(spots) < most:
        row, column = (int(at) for at in np.unravel_index(int(boxes.argmax()), boxes.shape))
        if boxes[row, column] <= 0 or boxes[row, column] < least:
            break
        spots.append(((column + side / 2) / width, (row + side / 2) / height))
        boxes[max(0, row - away) : row + away, max(0, column - away) : column + away] = -1
    return spots


def draw_rings(painter: QPainter, cell: QRectF, spots: list[tuple[float, float]]) -> None:
    """Draws a numbered ring around each spot."""
    radius = max(9.0, _SPOT_SHARE * min(cell.width(), cell.height()))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    letters = painter.fontMetrics()
    for number, (x, y) in enumerate(spots, 1):
        middle = QPointF(cell.left() + x * cell.width(), cell.top() + y * cell.height())
        # light on dark, to be seen on any colour
        for colour, width in ((QColor(0, 0, 0, 160), 4.0), (QColor(255, 255, 255), 1.6)):
            painter.setPen(QPen(colour, width))
            painter.drawEllipse(middle, radius, radius)
        beside = middle + QPointF(radius + 4, letters.ascent() / 2)
        painter.setPen(QColor(0, 0, 0, 160))
        painter.drawText(beside + QPointF(1, 1), str(number))
        painter.setPen(QColor(255, 255, 255))
        painter.drawText(beside, str(number))


@dataclass(frozen=True)
class _Bar:
    """A bar in a picture."""

    place: QRectF
    plate: QRectF
    """The area behind the bar and its ticks."""
    is_flat: bool
    ticks: tuple[tuple[float, str], ...]
    line: int
    """Height of a line of text, and the width of the longest tick."""
    text_width: int
    top: float
    """The value at its end."""

    @property
    def length(self) -> float:
        return self.place.width() if self.is_flat else self.place.height()


def draw_bar(
    painter: QPainter, cell: QRectF, top: float, palette: QPalette, value: float | None
) -> QRectF:
    """Draws the bar at the right edge of a picture, with a mark at a value. In a small picture it
    is in the lower corner, and in a high one below the shape, so that it covers little. Returns its
    place."""
    # a sign stays behind its number
    painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    bar = _place_bar(painter.fontMetrics(), cell, top)
    if bar is None:
        return QRectF()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(palette.color(QPalette.ColorRole.Window))
    painter.setOpacity(0.8)
    painter.drawRoundedRect(bar.plate, 4, 4)
    painter.setOpacity(1.0)
    shares = (np.arange(_STEPS) + 0.5) / _STEPS
    shares = shares[None] if bar.is_flat else shares[::-1, None]
    colours = srgb_from_linear(heat_colours(np.asarray(shares, np.float32), 1.0))
    painter.drawImage(bar.place, image_of((colours * 255 + 0.5).astype(np.uint8)))
    ink = palette.color(QPalette.ColorRole.WindowText)
    painter.setPen(ink)
    _draw_ticks(painter, bar)
    if value is not None:
        painter.setBrush(ink)
        painter.setPen(QColor(0, 0, 0))
        _draw_mark(painter, bar, value)
    return bar.plate


def _place_bar(letters: QFontMetrics, cell: QRectF, top: float) -> _Bar | None:
    """The bar where it has room, with as many ticks as fit; None in a picture without room."""
    ticks, line = tuple(scale_ticks(top)), letters.height()
    text_width = max(letters.horizontalAdvance(label) for _, label in ticks)
    is_flat = cell.height() > _HIGH * cell.width()
    room = cell.width() - 2 * _MARGIN - text_width if is_flat else cell.height() - 6 * line
    is_small = not is_flat and cell.width() - cell.height() < 2 * (text_width + 2 * _MARGIN)
    length = min(_MOST_HEIGHT, _SMALL_SHARE * cell.height() if is_small else room, room)
    if length < 3 * line:
        return None
    if length < 1.2 * len(ticks) * (text_width if is_flat else line):
        ticks = (ticks[0], ticks[-1])
    if is_flat:
        place = QRectF(0, 0, length, _BAR_WIDTH)
        # the badge is below
        place.moveCenter(QPointF(cell.center().x(), cell.bottom() - 5 * line))
        plate = place.adjusted(-text_width / 2 - 4, -8, text_width / 2 + 4, line + 6)
    else:
        place = QRectF(0, 0, _BAR_WIDTH, length)
        place.moveRight(cell.right() - _MARGIN)
        place.moveTop(cell.center().y() - length / 2)
        if is_small:
            place.moveBottom(cell.bottom() - 3 * line)
        plate = place.adjusted(-text_width - 14, -line, 6, line)
    return _Bar(place, plate, is_flat, ticks, line, text_width, top)


def _draw_ticks(painter: QPainter, bar: _Bar) -> None:
    place, line, text_width = bar.place, bar.line, bar.text_width
    middle = Qt.AlignmentFlag.AlignVCenter
    for tick, label in bar.ticks:
        along = tick / bar.top * bar.length
        if bar.is_flat:
            x = place.left() + along
            painter.drawLine(QPointF(x, place.bottom()), QPointF(x, place.bottom() + 3))
            text = QRectF(x - text_width, place.bottom() + 3, 2 * text_width, line)
            painter.drawText(text, middle | Qt.AlignmentFlag.AlignHCenter, label)
            continue
        y = place.bottom() - along
        painter.drawLine(QPointF(place.left() - 4, y), QPointF(place.left(), y))
        text = QRectF(bar.plate.left(), y - line, text_width + 7, 2 * line)
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
        painter.drawText(text, flags | middle, label)


def _draw_mark(painter: QPainter, bar: _Bar, value: float) -> None:
    along = min(1.0, value / bar.top) * bar.length
    if bar.is_flat:
        tip, sides = QPointF(bar.place.left() + along, bar.place.top() - 1), ((-4, -7), (4, -7))
    else:
        tip, sides = QPointF(bar.place.right() + 1, bar.place.bottom() - along), ((7, -4), (7, 4))
    painter.drawPolygon([tip, *(tip + QPointF(*each) for each in sides)])
