"""The dots of a verdict."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QPainter, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from verdigris.core.pictures.compare.verdict import MOST_DOTS
from verdigris.ui.style.colours import colours_for

_SIZE, _STEP = 9, 13


class Dots(QWidget):
    """Up to five filled dots."""

    def __init__(self, count: int = 0, is_draft: bool = False) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_dots(count, is_draft)

    def show_dots(self, count: int, is_draft: bool = False) -> None:
        """Few dots of a draft are as expected, and not red."""
        self.count, self.is_draft = count, is_draft
        text = f"Quality: {count} of {MOST_DOTS} dots"
        self.setAccessibleName(text)
        self.setToolTip(text)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        return QSize((MOST_DOTS - 1) * _STEP + _SIZE + 2, _SIZE + 4)

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        painter = QPainter(self)
        at = QPointF(1, self.height() / 2)
        paint_dots(painter, at, self, self.count, self.is_draft)
        painter.end()


def paint_dots(
    painter: QPainter, at: QPointF, widget: QWidget, count: int, is_draft: bool
) -> float:
    """Paints dots from a place on, in the colours of a widget. Returns their width."""
    colours, palette = colours_for(widget), widget.palette()
    colour = (colours.bad, colours.bad, colours.middling, colours.middling)[min(count, 3)]
    colour = colours.middling if is_draft else colour
    colour = colours.good if count > 3 else colour
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    empty = palette.color(QPalette.ColorRole.Mid)
    for number in range(MOST_DOTS):
        is_full = number < count
        painter.setPen(QPen(colour if is_full else empty, 1.5))
        painter.setBrush(colour if is_full else palette.color(QPalette.ColorRole.Window))
        centre = QPointF(at.x() + _SIZE / 2 + number * _STEP, at.y())
        painter.drawEllipse(centre, _SIZE / 2 - 1, _SIZE / 2 - 1)
    return (MOST_DOTS - 1) * _STEP + _SIZE + 2
