"""The scale of the difference: its colours, its bar with ticks, and the worst place."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPalette

from verdigris.core.pictures.heat import LOCKED_TOP, automatic_top, heat_colours, scale_ticks
from verdigris.core.pictures.picture_files import srgb_from_linear
from verdigris.ui.qt.drawing import image_of

LOCKED = LOCKED_TOP
# The value of a picture that is 100%.
WHOLE = 65_535
_STEPS = 256
_BAR_WIDTH = 10.0
_MARGIN = 12.0
_MOST_HEIGHT = 220.0
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
    """Draws the bar at the right edge of a picture, with a mark at a value. Returns its place."""
    # a sign stays behind its number
    painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    metrics = painter.fontMetrics()
    ticks = scale_ticks(top)
    text_width = max(metrics.horizontalAdvance(label) for _, label in ticks)
    height = min(_MOST_HEIGHT, cell.height() - 6 * metrics.height())
    if height < 3 * metrics.height():
        return QRectF()
    if height < 1.2 * len(ticks) * metrics.height():
        ticks = (ticks[0], ticks[-1])
    bar = QRectF(0, 0, _BAR_WIDTH, height)
    bar.moveRight(cell.right() - _MARGIN)
    bar.moveTop(cell.center().y() - height / 2)
    plate = bar.adjusted(-text_width - 14, -metrics.height(), 6, metrics.height())
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(palette.color(QPalette.ColorRole.Window))
    painter.setOpacity(0.8)
    painter.drawRoundedRect(plate, 4, 4)
    painter.setOpacity(1.0)
    shares = (np.arange(_STEPS)[::-1, None] + 0.5) / _STEPS
    colours = srgb_from_linear(heat_colours(np.asarray(shares, np.float32), 1.0))
    painter.drawImage(bar, image_of((colours * 255 + 0.5).astype(np.uint8)))
    ink = palette.color(QPalette.ColorRole.WindowText)
    painter.setPen(ink)
    for tick, label in ticks:
        y = bar.bottom() - tick / top * height
        painter.drawLine(QPointF(bar.left() - 4, y), QPointF(bar.left(), y))
        place = QRectF(plate.left(), y - metrics.height(), text_width + 7, 2 * metrics.height())
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
        painter.drawText(place, flags | Qt.AlignmentFlag.AlignVCenter, label)
    if value is not None:
        y = bar.bottom() - min(1.0, value / top) * height
        painter.setBrush(ink)
        painter.setPen(QColor(0, 0, 0))
        painter.drawPolygon(
            [
                QPointF(bar.right() + 1, y),
                QPointF(bar.right() + 8, y - 4),
                QPointF(bar.right() + 8, y + 4),
            ]
        )
    return plate
