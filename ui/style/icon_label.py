"""An icon beside a text, so that a message is not known by its colour alone."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from verdigris.ui.style.icons import paint_icon
from verdigris.ui.style.metrics import ICON


class IconLabel(QWidget):
    """One icon in one colour."""

    def __init__(self, height: int = ICON) -> None:
        super().__init__()
        self.name, self._colour = "info", QColor()
        self.setFixedSize(ICON, height)

    def show_icon(self, name: str, colour: QColor) -> None:
        self.name, self._colour = name, colour
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        top = (self.height() - ICON) / 2
        paint_icon(painter, self.name, QRectF(0, top, ICON, ICON), self._colour)
        painter.end()
