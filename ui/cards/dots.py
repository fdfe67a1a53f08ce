"""The dots of a verdict."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QPainter, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from verdigris.core.pictures.compare.verdict import MOST_DOTS
from verdigris.ui.style.colours import colours_for

_SIZE, _STEP = 9, 13


class Dots(QWidget):
    """Up to five filled dots; a range shows those that are only likely half filled."""

    def __init__(self, count: int = 0, most: int | None = None) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_dots(count, most)

    def show_dots(self, count: int, most: int | None = None) -> None:
        self.count, self.most = count, count if most is None else most
        text = f"{count} of {MOST_DOTS}" if self.most == count else f"{count} to {self.most}"
        self.setAccessibleName(f"Quality: {text} dots")
        self.setToolTip(f"Quality: {text} dots")
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        return QSize((MOST_DOTS - 1) * _STEP + _SIZE + 2, _SIZE + 4)

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        colours = colours_for(self)
        colour = (colours.bad, colours.bad, colours.middling, colours.middling)[min(self.count, 3)]
        colour = colours.good if self.count > 3 else colour
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        empty = self.palette().color(QPalette.ColorRole.Mid)
        for number in range(MOST_DOTS):
            is_full, is_likely = number < self.count, number < self.most
            painter.setPen(QPen(colour if is_likely else empty, 1.5))
            painter.setBrush(colour if is_full else self.palette().color(QPalette.ColorRole.Window))
            centre = QPointF(_SIZE / 2 + 1 + number * _STEP, self.height() / 2)
            painter.drawEllipse(centre, _SIZE / 2 - 1, _SIZE / 2 - 1)
        painter.end()
