"""A box to tick, whose empty box is seen: styles draw its border with too little contrast."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPalette, QPen
from PySide6.QtWidgets import QCheckBox, QStyle

from verdigris.ui.style.colours import dim_text, mark_edge
from verdigris.ui.style.icons import paint_icon
from verdigris.ui.style.metrics import FIELD, GAP, ICON

_SIDE = 14
_TEXT_FROM = ICON + GAP - 2


class Tick(QCheckBox):
    """It draws itself, as the lists do."""

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        letters = self.fontMetrics()
        flags = Qt.TextFlag.TextShowMnemonic
        return QSize(_TEXT_FROM + letters.size(flags, self.text()).width() + 2, FIELD)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    def hitButton(self, place: QPoint) -> bool:  # noqa: N802
        return self.rect().contains(place)

    def box(self) -> QRectF:
        """The place of the box."""
        place = QRect(1, (self.height() - _SIDE) // 2, _SIDE, _SIDE)
        return QRectF(QStyle.visualRect(self.layoutDirection(), self.rect(), place))

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        palette, role = self.palette(), QPalette.ColorRole
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = self.box().adjusted(0.5, 0.5, -0.5, -0.5)
        is_on, ink = self.isChecked(), palette.color(role.WindowText)
        shade = ink if self.isEnabled() else dim_text(palette)
        edge = mark_edge(palette) if self.isEnabled() else dim_text(palette)
        if is_on and self.isEnabled():
            edge = palette.color(role.Highlight)
            painter.setBrush(edge)
        elif self.isEnabled():
            painter.setBrush(palette.color(role.Base))
        painter.setPen(QPen(edge, 1))
        painter.drawRoundedRect(box, 3, 3)
        if is_on:
            mark = palette.color(role.HighlightedText) if self.isEnabled() else shade
            paint_icon(painter, "keep", box, mark)
        text = QRect(_TEXT_FROM, 0, self.width() - _TEXT_FROM, self.height())
        text = QStyle.visualRect(self.layoutDirection(), self.rect(), text)
        side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        flags = QStyle.visualAlignment(self.layoutDirection(), side)
        painter.setPen(shade)
        painter.drawText(text, int(flags) | int(Qt.TextFlag.TextShowMnemonic), self.text())
        if self.hasFocus():
            painter.setPen(QPen(palette.color(role.Highlight), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            ring = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            painter.drawRoundedRect(ring, 3, 3)
        painter.end()
