"""A list to choose from, as flat as the other fields: style sheets do not have an arrow."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPalette, QPen
from PySide6.QtWidgets import QComboBox, QStyle

from verdigris.ui.style.colours import dim_text
from verdigris.ui.style.icons import paint_icon
from verdigris.ui.style.metrics import FIELD, GAP, HALF, ICON, RADIUS
from verdigris.ui.style.sheet import mixed
from verdigris.ui.style.slider import ScrollsPage

_BY_CONTENTS_LENGTH = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon


class Combo(ScrollsPage, QComboBox):
    """It draws itself; its list is that of the style."""

    def __init__(self) -> None:
        super().__init__()
        self.by_click()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        letters = self.fontMetrics()
        texts = (self.itemText(number) for number in range(self.count()))
        widest = max((letters.horizontalAdvance(text) for text in texts), default=0)
        least = self.minimumContentsLength() * letters.horizontalAdvance("x")
        is_fixed = self.sizeAdjustPolicy() == _BY_CONTENTS_LENGTH
        icons = ICON + HALF if self.count() and not self.itemIcon(0).isNull() else 0
        return QSize((least if is_fixed else max(least, widest)) + icons + 3 * GAP + ICON, FIELD)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().minimumSizeHint().width(), FIELD)

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        palette, role = self.palette(), QPalette.ColorRole
        window, ink = palette.color(role.Window), palette.color(role.ButtonText)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = palette.color(role.Button)
        if self.underMouse() and self.isEnabled():
            ground = mixed(ground, ink, 0.12)
        share = 0.22 if self.isEnabled() else 0.1
        edge = palette.color(role.Highlight) if self.hasFocus() else mixed(window, ink, share)
        painter.setPen(QPen(edge, 1))
        painter.setBrush(ground if self.isEnabled() else Qt.BrushStyle.NoBrush)
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(area, RADIUS, RADIUS)
        arrow = QRectF(self.width() - ICON - 4, (self.height() - ICON) / 2, ICON, ICON)
        text = self.rect().adjusted(GAP, 0, -ICON - GAP, 0)
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            arrow.moveLeft(4)
            text = self.rect().adjusted(ICON + GAP, 0, -GAP, 0)
        text = self._draw_icon(painter, text)
        shade = ink if self.isEnabled() else dim_text(palette)
        paint_icon(painter, "down", arrow.adjusted(3, 3, -3, -3), shade)
        shown = self.currentText() if self.currentIndex() >= 0 else self.placeholderText()
        painter.setPen(shade)
        elided = self.fontMetrics().elidedText(shown, Qt.TextElideMode.ElideRight, text.width())
        side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        flags = QStyle.visualAlignment(self.layoutDirection(), side)
        painter.drawText(text, int(flags), elided)
        painter.end()

    def _draw_icon(self, painter: QPainter, room: QRect) -> QRect:
        """Draws the icon of the chosen item. Returns the room for its text."""
        icon = self.itemIcon(self.currentIndex())
        if icon.isNull():
            return room
        is_mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        left = room.right() + 1 - ICON if is_mirrored else room.left()
        icon.paint(painter, QRect(left, (self.height() - ICON) // 2, ICON, ICON))
        taken = ICON + HALF
        return room.adjusted(0, 0, -taken, 0) if is_mirrored else room.adjusted(taken, 0, 0, 0)
