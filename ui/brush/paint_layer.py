"""Paint and brush over the pictures of the viewport, and the pen that paints."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPointingDevice
from PySide6.QtWidgets import QWidget

from verdigris.ui.brush.contrast import INKS, Ink, choose_inks
from verdigris.ui.brush.paint_pixels import paint_pixels, ring_pixels, weights_at
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.paint.brush_tools import BrushTools
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.drawing import image_of
from verdigris.ui.viewport.viewport import Viewport

# Larger pictures have paint of about half their size, to keep strokes fast.
_MOST_PIXELS = 512
_SIZE_KEYS = {Qt.Key.Key_BracketLeft: -1, Qt.Key.Key_BracketRight: 1}


class PaintLayer:
    """The paint that is drawn while the brush paints in the view."""

    def __init__(self, model: PanelModel, viewport: Viewport, tools: BrushTools) -> None:
        self._model, self._viewport, self._tools = model, viewport, tools
        self.inks: tuple[Ink, Ink] = INKS[:2]
        self._paint: QImage | None = None
        self._ring: tuple[Any, QImage] | None = None
        self._seen: Any = None
        viewport.layers.append(self.draw)
        for signal in (model.state.weights.changed, tools.changed, model.state.pictures.changed):
            bind(viewport, signal, self._forget)
        bind(viewport, model.state.pictures.changed, self._choose_inks)

    def _forget(self) -> None:
        """The image is made when it is drawn: a stroke changes the weights more often."""
        self._paint = self._ring = None
        if self._viewport.paints:
            self._viewport.update()

    def _choose_inks(self) -> None:
        picture = self._model.state.pictures.parts.get("texture")
        if picture is not self._seen:
            self._seen = picture
            self.inks = choose_inks(picture.pixels if picture is not None else None)

    def places(self) -> Any:
        """The uv of the pixels, if they belong to the picture; every second one if there are
        many."""
        pictures = self._model.state.pictures
        reference = pictures.parts.get("reference")
        found = pictures.places
        is_current = reference is not None and pictures.places_view == reference.view
        if found is None or not is_current:
            return None
        step = -(-max(found.shape[:2]) // _MOST_PIXELS)
        return found[::step, ::step]

    def draw(self, painter: QPainter, part: str, cell: QRectF) -> None:
        if not self._viewport.paints or part == "heat":
            return
        uv = self.places()
        if uv is None:
            return
        if self._paint is None:
            weights = weights_at(self._model.state.weights.values, uv)
            self._paint = image_of(paint_pixels(weights, self.inks, self._tools.opacity))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(cell, self._paint)
        pointer = self._viewport.pointer_at()
        centre = self._model.state.pictures.uv_at(*pointer) if pointer is not None else None
        if centre is not None:
            painter.drawImage(cell, self._ring_at(uv, centre))

    def _ring_at(self, uv: Any, centre: tuple[float, float]) -> QImage:
        tools = self._tools
        key = (
            self._model.state.view.number,
            uv.shape,
            centre,
            tools.brush,
            tools.space,
            tools.mirror,
        )
        if self._ring is None or self._ring[0] != key:
            places = tools.places(*centre)
            radii = [tools.radius_at(*place) for place in places]
            self._ring = key, image_of(ring_pixels(np.asarray(uv), places, radii))
        return self._ring[1]


class Pen(QObject):
    """Watches a widget that is painted on. Events of a tablet pass on: Qt turns them into events of
    a mouse."""

    def __init__(self, widget: QWidget, tools: BrushTools) -> None:
        super().__init__(widget)
        self._tools = tools
        self.pressure, self.erases = 1.0, False
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        kind = event.type()
        if kind in (QEvent.Type.TabletPress, QEvent.Type.TabletMove):
            self.pressure = float(event.pressure())
            self.erases = event.pointerType() == QPointingDevice.PointerType.Eraser
            event.ignore()
        elif kind == QEvent.Type.TabletRelease:
            event.ignore()
        elif kind == QEvent.Type.MouseButtonRelease:
            # the next stroke may be that of a mouse
            self.pressure, self.erases = 1.0, False
        elif kind == QEvent.Type.KeyPress and event.key() in _SIZE_KEYS:
            self._tools.resize(_SIZE_KEYS[event.key()])
            return True
        return False
