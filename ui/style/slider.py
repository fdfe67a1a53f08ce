"""Controls over which the wheel scrolls the page, and sliders whose handle goes to the pointer."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRect, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QSlider, QStyle, QStyleOptionSlider


class ScrollsPage:
    """The wheel changes a value only in the control that has the focus: an artist who scrolls the
    page changes nothing. To be named before a Qt class, and followed by a call of `by_click`."""

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def by_click(self) -> None:
        """Keeps the wheel from giving the focus."""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


class HorizontalSlider(ScrollsPage, QSlider):
    """A press in its groove brings the handle, which can then be dragged."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.by_click()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        is_left = event.button() == Qt.MouseButton.LeftButton
        if is_left and not self._part(QStyle.SubControl.SC_SliderHandle).contains(
            event.position().toPoint()
        ):
            self.setValue(self.value_at(event.position().x()))
            # the handle has steps, and may be beside the pointer
            at = QPointF(self._part(QStyle.SubControl.SC_SliderHandle).center())
            event = QMouseEvent(
                QEvent.Type.MouseButtonPress,
                at,
                event.globalPosition(),
                event.button(),
                event.buttons(),
                event.modifiers(),
            )
        super().mousePressEvent(event)

    def value_at(self, x: float) -> int:
        """The value with which the handle's middle is at a place."""
        groove = self._part(QStyle.SubControl.SC_SliderGroove)
        handle = self._part(QStyle.SubControl.SC_SliderHandle)
        left, room = groove.left() + handle.width() / 2, groove.width() - handle.width()
        return QStyle.sliderValueFromPosition(
            self.minimum(), self.maximum(), round(x - left), room, self._option().upsideDown
        )

    def _option(self) -> QStyleOptionSlider:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        return option

    def _part(self, part: QStyle.SubControl) -> QRect:
        kind = QStyle.ComplexControl.CC_Slider
        return self.style().subControlRect(kind, self._option(), part, self)
