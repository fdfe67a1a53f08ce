"""The scale of the difference: its colours, its bar with ticks, and the worst place."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPalette

from verdigris.core.pictures.compare.heat import (
    LOCKED_TOP,
    automatic_top,
    heat_colours,
    scale_ticks,
)
from verdigris.core.pictures.picture_files import srgb_from_linear
from verdigris.ui.qt.drawing import image_of

LOCKED = LOCKED_TOP
# The value of a picture that is 100%.
WHOLE = 65_535
_STEPS = 256
_BAR_WIDTH = 10.0
_MARGIN = 12.0
_MOST_HEIGHT = 220.0
# From so many times as high as wide on, a picture has room below the shape. Of a small one, the bar
# takes a share of the height.
_HIGH, _SMALL_SHARE = 1.25, 0.45
# A single pixel is no spot.
_SPOT_SHARE = 0.04


def scale_top(values: NDArray[np.uint16], is_locked: bool) -> float:
    """The difference at the end of the scale."""
    if is_locked:
        return LOCKED_TOP
    seen = values[values > 0]
    return automatic_top(seen.astype(np.float32) / WHOLE)


@lru_cache(8)
def _colours(top: float) -> Any:
    """The colour of each value of a picture."""
    share = np.arange(WHOLE + 1, dtype=np.float32) / WHOLE
    return (srgb_from_linear(heat_colours(share, top)) * 255 + 0.5).astype(np.uint8)


def heat_image(values: NDArray[np.uint16], top: float) -> QImage:
    """The difference in the colours of its scale."""
    return image_of(_colours(top)[values[..., 0]])


def value_at(values: NDArray[np.uint16], x: float, y: float) -> float | None:
    """The difference at a point of the picture, 0 to 1 to the right and downwards."""
    if not (0 <= x < 1 and 0 <= y < 1):
        return None
    height, width = values.shape[:2]
    return float(values[int(y * height), int(x * width), 0]) / WHOLE


def worst_spot(values: NDArray[np.uint16]) -> tuple[float, float]:
    """The place with the largest difference around it, 0 to 1 to the right and downwards."""
    height, width = values.shape[:2]
    side = max(1, round(_SPOT_SHARE * min(height, width)))
    sums = np.zeros((height + 1, width + 1))
    sums[1:, 1:] = values[..., 0].astype(np.float64).cumsum(0).cumsum(1)
    boxes = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
    row, column = np.unravel_index(int(boxes.argmax()), boxes.shape)
    return (float(column) + side / 2) / width, (float(row) + side / 2) / height


def draw_bar(
    painter: QPainter, cell: QRectF, top: float, palette: QPalette, value: float | None
) -> QRectF:
    """Draws the bar at the right edge of a picture, with a mark at a value; in the lower corner of
    a small one, and below the shape in a high one, so that it covers little. Returns its place."""
    # a sign stays behind its number
    painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    letters, ticks = painter.fontMetrics(), scale_ticks(top)
    line = letters.height()
    text_width = max(letters.horizontalAdvance(label) for _, label in ticks)
    is_flat = cell.height() > _HIGH * cell.width()
    room = cell.width() - 2 * _MARGIN - text_width if is_flat else cell.height() - 6 * line
    is_small = not is_flat and cell.width() - cell.height() < 2 * (text_width + 2 * _MARGIN)
    length = min(_MOST_HEIGHT, _SMALL_SHARE * cell.height() if is_small else room, room)
    if length < 3 * line:
        return QRectF()
    if length < 1.2 * len(ticks) * (text_width if is_flat else line):
        ticks = (ticks[0], ticks[-1])
    if is_flat:
        bar = QRectF(0, 0, length, _BAR_WIDTH)
        # the badge is below
        bar.moveCenter(QPointF(cell.center().x(), cell.bottom() - 5 * line))
        plate = bar.adjusted(-text_width / 2 - 4, -8, text_width / 2 + 4, line + 6)
    else:
        bar = QRectF(0, 0, _BAR_WIDTH, length)
        bar.moveRight(cell.right() - _MARGIN)
        bar.moveTop(cell.center().y() - length / 2)
        if is_small:
            bar.moveBottom(cell.bottom() - 3 * line)
        plate = bar.adjusted(-text_width - 14, -line, 6, line)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(palette.color(QPalette.ColorRole.Window))
    painter.setOpacity(0.8)
    painter.drawRoundedRect(plate, 4, 4)
    painter.setOpacity(1.0)
    shares = (np.arange(_STEPS) + 0.5) / _STEPS
    shares = shares[None] if is_flat else shares[::-1, None]
    colours = srgb_from_linear(heat_colours(np.asarray(shares, np.float32), 1.0))
    painter.drawImage(bar, image_of((colours * 255 + 0.5).astype(np.uint8)))
    ink = palette.color(QPalette.ColorRole.WindowText)
    painter.setPen(ink)
    middle = Qt.AlignmentFlag.AlignVCenter
    for tick, label in ticks:
        along = tick / top * length
        if is_flat:
            x = bar.left() + along
            painter.drawLine(QPointF(x, bar.bottom()), QPointF(x, bar.bottom() + 3))
            place = QRectF(x - text_width, bar.bottom() + 3, 2 * text_width, line)
            painter.drawText(place, middle | Qt.AlignmentFlag.AlignHCenter, label)
            continue
        y = bar.bottom() - along
        painter.drawLine(QPointF(bar.left() - 4, y), QPointF(bar.left(), y))
        place = QRectF(plate.left(), y - line, text_width + 7, 2 * line)
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
        painter.drawText(place, flags | middle, label)
    if value is not None:
        along = min(1.0, value / top) * length
        tip = (
            QPointF(bar.left() + along, bar.top() - 1)
            if is_flat
            else QPointF(bar.right() + 1, bar.bottom() - along)
        )
        sides = ((-4, -7), (4, -7)) if is_flat else ((7, -4), (7, 4))
        painter.setBrush(ink)
        painter.setPen(QColor(0, 0, 0))
        painter.drawPolygon([tip, *(tip + QPointF(*each) for each in sides)])
    return plate
