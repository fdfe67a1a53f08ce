"""Places of the pictures in the viewport."""

from __future__ import annotations

from PySide6.QtCore import QRectF

WIPE, SIDE_BY_SIDE = "wipe", "side by side"
PARTS = ("reference", "neural", "heat")
MODES = (WIPE, SIDE_BY_SIDE, *PARTS)
_GAP = 4


def cells_of(mode: str, area: QRectF) -> list[tuple[str, QRectF]]:
    """The parts to draw and their places, which fill the area."""
    if mode != SIDE_BY_SIDE:
        return [("reference" if mode == WIPE else mode, area)]
    count = len(PARTS)
    across = (area.width() - (count - 1) * _GAP) / count, area.height()
    down = area.width(), (area.height() - (count - 1) * _GAP) / count
    # the larger shapes
    is_across = min(across) >= min(down)
    width, height = (max(1.0, side) for side in (across if is_across else down))
    cells = []
    for number, part in enumerate(PARTS):
        left = number * (width + _GAP) if is_across else 0.0
        top = 0.0 if is_across else number * (height + _GAP)
        cells.append((part, QRectF(area.left() + left, area.top() + top, width, height)))
    return cells
