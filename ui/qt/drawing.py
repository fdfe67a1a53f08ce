"""Helpers for widgets that draw: images from arrays, points along a stroke."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QImage


def image_of(pixels: NDArray[np.uint8]) -> QImage:
    """Copies an array of bytes, (height, width, 3) or (height, width, 4), to an image."""
    height, width, channels = pixels.shape
    pixels = np.ascontiguousarray(pixels)
    kind = QImage.Format.Format_RGBA8888 if channels == 4 else QImage.Format.Format_RGB888
    return QImage(pixels.data, width, height, channels * width, kind).copy()


def points_between(start: QPointF, end: QPointF, spacing: float) -> list[QPointF]:
    """Points after `start` up to `end`, no further apart than `spacing`. A fast pointer reports
    few positions."""
    way = end - start
    count = max(1, math.ceil(math.hypot(way.x(), way.y()) / spacing))
    return [start + way * (number / count) for number in range(1, count + 1)]
