"""The film of a bake as a strip below the chart, which can be scrubbed."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.parts.film import Frame
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.drawing import image_of

_SIDE, _GAP = 40, 2
_LEAST = 2


class Filmstrip(QWidget):
    """A drag, or the arrow keys, show a picture of the film in the viewport."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._film = model.state.film
        self._images: dict[int, tuple[Frame, QImage]] = {}
        self.setFixedHeight(_SIDE)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Film of the bake")
        self.setToolTip(
            "The neural material while it trained. Drag over it, or use the arrow keys, to see it "
            "in the viewport; let go, or press Esc, for the present picture."
        )
        bind(self, self._film.changed, self._follow)
        bind(self, self._film.shown_changed, self.update)

    def _follow(self) -> None:
        self.setVisible(len(self._film.frames) >= _LEAST)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        return QSize(4 * _SIDE, _SIDE)

    def number_at(self, x: float) -> int:
        """The picture of the film at a place: the strip is its time."""
        count = len(self._film.frames)
        return min(count - 1, max(0, int(x / max(1, self.width()) * count)))

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        across = max(1, (self.width() + _GAP) // (_SIDE + _GAP))
        width = (self.width() + _GAP) / across - _GAP
        for place in range(across):
            left = place * (width + _GAP)
            self._draw(painter, QRectF(left, 0, width, _SIDE), self.number_at(left + width / 2))
        if self._film.shown is not None:
            number = self._film.frames.index(self._film.shown)
            x = (number + 0.5) / len(self._film.frames) * self.width()
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 3))
            painter.drawLine(round(x), 0, round(x), _SIDE)
        if self.hasFocus():
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 1))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _draw(self, painter: QPainter, cell: QRectF, number: int) -> None:
        """The middle of a picture."""
        if number < 0:
            return
        frame = self._film.frames[number]
        found = self._images.get(number)
        if found is None or found[0] is not frame:
            smooth = Qt.TransformationMode.SmoothTransformation
            pixels = round(_SIDE * self.devicePixelRatioF())
            image = image_of(frame.pixels)
            short = min(image.width(), image.height())
            square = image.copy(
                (image.width() - short) // 2, (image.height() - short) // 2, short, short
            )
            found = frame, square.scaledToHeight(pixels, smooth)
            self._images[number] = found
        painter.drawImage(cell, found[1])

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._film.show(self.number_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._film.show(self.number_at(event.position().x()))

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:  # noqa: N802
        self._film.show(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        frames, keys = self._film.frames, Qt.Key
        step = {keys.Key_Left: -1, keys.Key_Right: 1}.get(event.key())
        if step is not None and frames:
            shown = self._film.shown
            number = frames.index(shown) + step if shown is not None else len(frames) - 1
            self._film.show(min(len(frames) - 1, max(0, number)))
        elif event.key() == keys.Key_Escape and self._film.shown is not None:
            self._film.show(None)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: object) -> None:  # noqa: N802
        self._film.show(None)
        super().focusOutEvent(event)
