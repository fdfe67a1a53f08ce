"""The error of a bake as a small line that is always in sight."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.style.colours import colours_for
from verdigris.ui.style.metrics import BUTTON, HALF, RADIUS
from verdigris.ui.style.sheet import mixed

_LEAST, _WIDTH = 40, 88
_MOST_POINTS = 120


class Sparkline(QAbstractButton):
    """The error by step, or the training's own measure until there are two errors. A click shows
    the chart."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.setFixedHeight(BUTTON)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip("The error so far. A click shows the chart.")
        bind(self, model.state.bake.history_changed, self._show)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        return QSize(_WIDTH, BUTTON)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(_LEAST, BUTTON)

    def points(self) -> list[tuple[float, float]]:
        """The line in a unit square, x to the right and y downwards."""
        history = self._model.state.bake.history
        steps, values = history.errors()
        if len(steps) < 2:
            steps, _, values = history.losses()
        if len(steps) < 2:
            return []
        if len(steps) > _MOST_POINTS:
            chosen = np.linspace(0, len(steps) - 1, _MOST_POINTS).astype(int)
            steps, values = steps[chosen], values[chosen]
        heights = np.log(values)
        across = (steps - steps[0]) / max(steps[-1] - steps[0], 1e-9)
        down = (heights.max() - heights) / max(float(np.ptp(heights)), 1e-9)
        return list(zip(across.tolist(), down.tolist(), strict=True))

    def _show(self) -> None:
        error = self._model.state.bake.errors.get("log_mae")
        self.setAccessibleName("Chart of the error" + ("" if error is None else f": {error:.4f}"))
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        palette, role, colours = self.palette(), QPalette.ColorRole, colours_for(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        window, ink = palette.color(role.Window), palette.color(role.WindowText)
        edge = palette.color(role.Highlight) if self.hasFocus() else mixed(window, ink, 0.12)
        painter.setPen(QPen(edge, 1))
        painter.setBrush(palette.color(role.Base))
        painter.drawRoundedRect(area, RADIUS, RADIUS)
        found = self.points()
        inside = area.adjusted(HALF, HALF, -HALF, -HALF)
        if found:
            line = QPolygonF(
                [
                    QPointF(inside.left() + x * inside.width(), inside.top() + y * inside.height())
                    for x, y in found
                ]
            )
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colours.error, 1.5))
            painter.drawPolyline(line)
            painter.setBrush(colours.error)
            painter.drawEllipse(line.last(), 2, 2)
        else:
            painter.setPen(QPen(mixed(window, ink, 0.3), 1, Qt.PenStyle.DotLine))
            middle = inside.center().y()
            painter.drawLine(QPointF(inside.left(), middle), QPointF(inside.right(), middle))
        painter.end()
