"""Sliders of the live inputs below the viewport."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QSlider, QToolButton, QWidget

from verdigris.ui.live.range_pictures import RangePictures
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.parts.live_values import Slider
from verdigris.ui.qt.binding import bind, blocked_signals
from verdigris.ui.qt.number_boxes import RealBox
from verdigris.ui.qt.scrub import Scrub
from verdigris.ui.signals.signal import Signal
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import GAP, HALF, bold

_STEPS, _LARGE_STEP = 1000, 100
_BOX = 72
_LONGEST = 18


def digits_of(low: float, high: float) -> int:
    """Decimals with which a range has a thousand steps or so, at most six."""
    return min(6, max(0, math.ceil(3 - math.log10(high - low))))


class _Row:
    """The widgets of one live input."""

    def __init__(self, model: PanelModel, slider: Slider, grid: QGridLayout, number: int) -> None:
        self._model, self.input = model, slider
        name = slider.label
        self.label = QLabel(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, _STEPS)
        self.slider.setSingleStep(_STEPS // 100)
        self.slider.setPageStep(_LARGE_STEP)
        self.slider.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.box = RealBox()
        self.box.setRange(slider.low, slider.high)
        self.box.setDecimals(digits_of(slider.low, slider.high))
        self.box.setSingleStep((slider.high - slider.low) / 100)
        self.box.setKeyboardTracking(False)
        self.box.setFixedWidth(_BOX)
        self.reset = QToolButton()
        self.reset.setAutoRaise(True)
        self.reset.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        wear(self.reset, "undo")
        tip = (
            f"Moves {slider.name} in both pictures, from {slider.low:g} to {slider.high:g} (arrow "
            "keys, Page Up and Page Down). The bake holds all values."
        )
        self.slider.setToolTip(tip)
        self.box.setToolTip(tip)
        self.reset.setToolTip(f"Sets {name} back to {slider.value_of(slider.default):.4g}")
        self.slider.setAccessibleName(name)
        self.box.setAccessibleName(f"{name}, as a number")
        self.reset.setAccessibleName(f"Set {name} back")
        self.slider.valueChanged.connect(lambda value: self._take(value / _STEPS))
        self.slider.sliderPressed.connect(self._activate)
        self.box.valueChanged.connect(lambda value: self._take(slider.share_of(value)))
        self.reset.clicked.connect(lambda _: self._take(slider.default))
        self._scrub = Scrub(self.label, self.box)
        self.label.setToolTip(f"{slider.name}\n{self.label.toolTip()}")
        for column, widget in enumerate((self.label, self.slider, self.box, self.reset)):
            grid.addWidget(widget, number, column)

    def _activate(self) -> None:
        self._model.state.live.show_range_of(self.input.name)

    def _take(self, share: float) -> None:
        self._activate()
        self._model.set_live(self.input.name, share)

    def show_share(self, share: float, is_active: bool) -> None:
        with blocked_signals(self.slider, self.box):
            self.slider.setValue(round(share * _STEPS))
            self.box.setValue(self.input.value_of(share))
        self.reset.setEnabled(share != self.input.default)
        self.label.setFont(bold(self.slider) if is_active else self.slider.font())

    def remove(self) -> None:
        for widget in (self.label, self.slider, self.box, self.reset):
            widget.setParent(None)
            widget.deleteLater()


class LiveBar(QWidget):
    """One row for each live input that is open, and pictures over a range. Hidden without any."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.built = Signal()
        """New widgets come last in the order of the Tab key."""
        self.rows: list[_Row] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GAP)
        self._grid.setVerticalSpacing(HALF)
        self._grid.setColumnStretch(1, 1)
        self.pictures = RangePictures(model)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()
        bind(self, model.state.live.changed, self._show)

    def _show(self) -> None:
        live = self._model.state.live
        if tuple(row.input for row in self.rows) != live.sliders:
            self._build()
        for row in self.rows:
            is_active = len(self.rows) > 1 and row.input.name == live.active
            row.show_share(live.share(row.input.name), is_active)

    def _build(self) -> None:
        for row in self.rows:
            row.remove()
        sliders = self._model.state.live.sliders
        self.rows = [
            _Row(self._model, each, self._grid, number) for number, each in enumerate(sliders)
        ]
        self._grid.addWidget(self.pictures, len(sliders), 1)
        self.setVisible(bool(sliders))
        self.built.emit()
