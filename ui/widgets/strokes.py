"""Strokes of the brush between the places that the pointer was seen at."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF


def along(start: QPointF, end: QPointF, spacing: float) -> list[QPointF]:
    """Places from one, which is none of them, to another, at most this far apart: a quick pointer
    is seen seldom."""
    way = end - start
    count = max(1, math.ceil(math.hypot(way.x(), way.y()) / spacing))
    return [start + way * (number / count) for number in range(1, count + 1)]
