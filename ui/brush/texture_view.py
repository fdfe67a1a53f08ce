"""The texture as a square: the material with the painted weights, or the error by place."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from verdigris.core.pictures.compare.heat import automatic_top, heat_colours
from verdigris.core.pictures.picture_files import srgb_from_linear
from verdigris.ui.brush.contrast import INKS, Ink, choose_inks
from verdigris.ui.brush.paint_layer import Pen
from verdigris.ui.brush.paint_pixels import paint_pixels, weights_at
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.paint.brush_tools import BrushTools
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.drawing import image_of, points_between
from verdigris.ui.viewport.scale_bar import draw_bar

WEIGHTS, ERRORS = "weights", "errors"
# Paint is drawn with this many pixels per side, whatever the size of the map.
_PAINT_PIXELS = 320
_LEAST, _MOST = 160, 320


class TextureView(QWidget):
    """The unit square of uv, with v upwards. The brush paints on it."""

    def __init__(self, model: PanelModel, tools: BrushTools) -> None:
        super().__init__()
        self._model, self._tools = model, tools
        self.shows = WEIGHTS
        self.inks: tuple[Ink, Ink] = INKS[:2]
        self._material: QImage | None = None
        self._paint: QImage | None = None
        self._errors: QImage | None = None
        self.largest_error = 0.0
        self._pointer: QPointF | None = None
        self._is_painting = False
        self._cursor = (0.5, 0.5)
        self._pen = Pen(self, tools)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(96, _LEAST)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Texture")
        self.setToolTip(
            "Drag to paint, or move the brush with the arrow keys and press Space. [ and ] change "
            "its size, Ctrl+Z undoes."
        )
        bind(self, model.state.pictures.changed, self._show_material)
        bind(self, model.state.weights.changed, self._show_weights)
        bind(self, tools.changed, self._show_weights)
        bind(self, model.state.pictures.error_map_changed, self._show_errors)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        return QSize(_MOST, _MOST)

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        return min(_MOST, max(_LEAST, width))

    def show_layer(self, layer: str) -> None:
        self.shows = layer
        self.update()

    def _show_material(self) -> None:
        picture = self._model.state.pictures.parts.get("texture")
        self._material = image_of(picture.pixels) if picture is not None else None
        self.inks = choose_inks(picture.pixels if picture is not None else None)
        self._show_weights()

    def _show_weights(self) -> None:
        # made when it is drawn
        self._paint = None
        self.update()

    def _painted(self) -> QImage:
        if self._paint is None:
            places = (np.arange(_PAINT_PIXELS, dtype=np.float32) + 0.5) / _PAINT_PIXELS
            uv = np.stack(np.meshgrid(places, places[::-1]), -1)
            weights = weights_at(self._model.state.weights.values, uv)
            self._paint = image_of(paint_pixels(weights, self.inks, self._tools.opacity))
        return self._paint

    def _show_errors(self) -> None:
        errors = self._model.state.pictures.error_map
        self._errors, self.largest_error = None, 0.0
        if errors is not None and errors.ndim == 2:
            self.largest_error = automatic_top(errors)
            colours = srgb_from_linear(heat_colours(errors[::-1], self.largest_error))
            self._errors = image_of((colours * 255 + 0.5).astype(np.uint8))
        self.update()

    def _square(self) -> QRectF:
        side = min(self.width(), self.height())
        square = QRectF(0, 0, side, side)
        square.moveCenter(QRectF(self.rect()).center())
        return square

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        square, palette = self._square(), self.palette()
        painter.fillRect(square, palette.color(QPalette.ColorRole.Base))
        if self.shows == ERRORS:
            self._draw_errors(painter, square)
        else:
            if self._material is not None:
                painter.drawImage(square, self._material)
            painter.drawImage(square, self._painted())
            self._draw_brush(painter, square)
        if self.hasFocus():
            painter.setPen(QPen(palette.color(QPalette.ColorRole.Highlight), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(square.adjusted(0.5, 0.5, -0.5, -0.5))

    def _draw_errors(self, painter: QPainter, square: QRectF) -> None:
        if self._errors is not None:
            painter.drawImage(square, self._errors)
            draw_bar(painter, square, self.largest_error, self.palette(), None)
            return
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(square, flags, "The error by place\nappears during training")

    def _draw_brush(self, painter: QPainter, square: QRectF) -> None:
        at = self._pointer
        if at is None and not self.hasFocus():
            return
        u, v = self._cursor if at is None else self._uv_at(at)
        painter.setClipRect(square)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for x, y in self._tools.places(u, v):
            radius = self._tools.radius_at(x, y) * square.width()
            place = QPointF(
                square.left() + x * square.width(), square.bottom() - y * square.height()
            )
            for colour, width in ((Qt.GlobalColor.black, 3.0), (Qt.GlobalColor.white, 1.2)):
                painter.setPen(QPen(colour, width))
                painter.drawEllipse(place, radius, radius)
            # where its effect is half
            painter.setPen(QPen(Qt.GlobalColor.white, 0.6))
            painter.drawEllipse(place, radius / 2, radius / 2)
        painter.setClipping(False)

    def _uv_at(self, place: QPointF) -> tuple[float, float]:
        square = self._square()
        u = (place.x() - square.left()) / square.width()
        return u, (square.bottom() - place.y()) / square.height()

    def _dab_at(self, place: QPointF) -> None:
        u, v = self._uv_at(place)
        if 0 <= u <= 1 and 0 <= v <= 1:
            self._tools.dab(u, v, self._pen.pressure, self._pen.erases)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.setFocus()
        if event.button() == Qt.MouseButton.LeftButton and self.shows == WEIGHTS:
            self._is_painting = True
            self._pointer = event.position()
            self._model.state.weights.begin_stroke()
            self._dab_at(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        before, self._pointer = self._pointer, event.position()
        if self._is_painting:
            radius = self._tools.radius_at(*self._uv_at(self._pointer))
            spacing = max(1.0, radius * self._square().width() / 2)
            for place in points_between(before or self._pointer, self._pointer, spacing):
                self._dab_at(place)
        self.update()

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:  # noqa: N802
        if self._is_painting:
            self._is_painting = False
            self._model.state.weights.end_stroke()

    def leaveEvent(self, _event: object) -> None:  # noqa: N802
        self._pointer = None
        self.update()

    def keyPressEvent(self, event: object) -> None:  # noqa: N802
        keys = Qt.Key
        steps = {
            keys.Key_Left: (-1, 0),
            keys.Key_Right: (1, 0),
            keys.Key_Up: (0, 1),
            keys.Key_Down: (0, -1),
        }
        if event.key() in steps:
            across, up = steps[event.key()]
            u, v = self._cursor
            step = self._tools.radius_at(u, v) / 2
            self._cursor = ((u + across * step) % 1.0, (v + up * step) % 1.0)
            self._pointer = None
            self.update()
        elif event.key() == keys.Key_Space and self.shows == WEIGHTS:
            self._model.state.weights.begin_stroke()
            self._tools.dab(*self._cursor)
            self._model.state.weights.end_stroke()
        else:
            super().keyPressEvent(event)
