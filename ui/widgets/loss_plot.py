"""The plot of the loss, raw and smoothed, and of the errors on held-out samples."""

from __future__ import annotations

import numpy as np
import pyqtgraph
from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QVBoxLayout, QWidget

from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.colours import colours_for

_LABEL_HEIGHT = 22


class DecadeAxis(pyqtgraph.AxisItem):
    """Labels 1, 2 and 5 of each decade, or fewer if there is little room."""

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N802
        first, last = int(np.floor(low)), int(np.ceil(high))
        for marks in ((1, 2, 5), (1, 3), (1,)):
            values = [
                float(np.log10(mark) + decade)
                for decade in range(first, last + 1)
                for mark in marks
                if low <= np.log10(mark) + decade <= high
            ]
            if len(values) * _LABEL_HEIGHT <= size:
                break
        return [(1.0, values)]

    def tickStrings(self, values: list[float], _scale: float, _spacing: float) -> list[str]:  # noqa: N802
        return [f"{10**value:.3g}" for value in values]


class LossPlot(QWidget):
    """A log scale: each halving of the loss is the same distance."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.plot = pyqtgraph.PlotWidget(axisItems={"left": DecadeAxis("left")})
        self.plot.setLogMode(x=False, y=True)
        self.plot.setMenuEnabled(False)
        self.plot.hideButtons()
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.setMinimumHeight(110)
        # it handles no keys
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setToolTip(
            "Loss by step. Thin line: raw. Thick line: smoothed. Dots: error on held-out samples. "
            "Dashed line: the error at which training stops."
        )
        self.raw = self.plot.plot()
        self.smooth = self.plot.plot()
        self.dots = self.plot.plot(symbol="o", symbolSize=5, pen=None)
        self.target = pyqtgraph.InfiniteLine(angle=0)
        self.plot.addItem(self.target)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.plot)
        self._apply_palette()
        bind(self, model.bake.history_changed, self._show)
        bind(self, model.choices_changed, self._show)

    def changeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if hasattr(self, "target"):
            self._apply_palette()

    def _apply_palette(self) -> None:
        """Takes the colours from the palette."""
        colours, palette = colours_for(self), self.palette()
        self.plot.setBackground(palette.color(QPalette.ColorRole.Base))
        text = palette.color(QPalette.ColorRole.Text)
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setPen(text)
            axis.setTextPen(text)
        letters = self.fontMetrics()
        self.plot.getAxis("left").setWidth(letters.horizontalAdvance("0.0005") + 10)
        self.plot.getAxis("bottom").setHeight(letters.height() + 6)
        self.plot.getPlotItem().setContentsMargins(0, letters.height() // 2, 8, 0)
        self.raw.setPen(pyqtgraph.mkPen(colours.raw, width=1))
        self.smooth.setPen(pyqtgraph.mkPen(colours.smooth, width=2))
        self.dots.setSymbolBrush(colours.error)
        self.dots.setSymbolPen(colours.error)
        dash = pyqtgraph.QtCore.Qt.PenStyle.DashLine
        self.target.setPen(pyqtgraph.mkPen(colours.target, width=1, style=dash))

    def _show(self) -> None:
        model = self._model
        steps, losses, smooth = model.bake.history.losses()
        self.raw.setData(steps, losses)
        self.smooth.setData(steps, smooth)
        self.dots.setData(*model.bake.history.errors())
        target = model.choices.target_error
        self.target.setVisible(target > 0)
        if target > 0:
            self.target.setValue(np.log10(target))
