"""The dials, lists and buttons of the page for painted weights."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QWidget

from verdigris.core.worker.protocol.commands import EVERYWHERE, IN_VIEW, PAINTED
from verdigris.ui.brush.texture_view import ERRORS, WEIGHTS
from verdigris.ui.paint import brush_tools
from verdigris.ui.paint.brush_space import OBJECT, TEXTURE, VIEW
from verdigris.ui.qt.binding import blocked_signals
from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.qt.scrub import RealBox
from verdigris.ui.style.combo import Combo
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import GAP
from verdigris.ui.style.slider import HorizontalSlider

_WIDTH = 80
IMAGES = "Images (*.exr *.png *.tif *.tiff *.jpg *.hdr *.npy)"
LAYERS = (("Painted weights", WEIGHTS), ("Error by place", ERRORS))
FOCUS = (
    ("Train everywhere", EVERYWHERE),
    ("Train painted places only", PAINTED),
    ("Train visible places more", IN_VIEW),
)
SPACES = (
    ("Texture: % of its width", TEXTURE),
    ("Object: units of the scene", OBJECT),
    ("View: % of its shorter side", VIEW),
)
MIRRORS = (
    ("None", brush_tools.NO_MIRROR),
    ("Left and right of the texture", brush_tools.MIRROR_U),
    ("Left and right of the mesh", brush_tools.MIRROR_X),
)
PENS = (
    ("Pressure changes the strength", brush_tools.STRENGTH),
    ("Pressure changes the size", brush_tools.SIZE),
    ("Pressure changes both", brush_tools.BOTH),
    ("Pressure changes nothing", brush_tools.NOTHING),
)
COMPARE = "To measure what the paint does, bake once without it, with the same settings."


class Dial(QWidget):
    """A value from `low` to `high` in steps."""

    def __init__(
        self,
        name: str,
        low: float,
        high: float,
        step: float,
        unit: str,
        tip: str,
        change: Callable[[float], None],
    ) -> None:
        super().__init__()
        self._step, self._change = step, change
        self._range, self._scale = (low, high), 1.0
        self.slider, self.box = HorizontalSlider(), RealBox()
        self.slider.setRange(round(low / step), round(high / step))
        self.slider.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.box.setRange(low, high)
        self.box.setSingleStep(step)
        self.box.setDecimals(0 if step >= 1 else 1)
        self.box.setSuffix(unit)
        self.box.setKeyboardTracking(False)
        self.box.setFixedWidth(_WIDTH)
        for each in (self.slider, self.box):
            each.setToolTip(tip)
        self.slider.setAccessibleName(name)
        self.box.setAccessibleName(f"{name}, as a number")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        row.addWidget(self.slider, 1)
        row.addWidget(self.box)
        self.slider.valueChanged.connect(lambda value: self._take(value * step))
        self.box.valueChanged.connect(lambda value: self._take(value / self._scale))

    def show_value(self, value: float) -> None:
        with blocked_signals(self.slider, self.box):
            self.slider.setValue(round(value / self._step))
            self.box.setValue(value * self._scale)

    def show_unit(self, scale: float, unit: str) -> None:
        """Shows the number in another unit. `scale` is the number of these units in one of the
        dial's own."""
        self._scale = scale
        with blocked_signals(self.slider, self.box):
            # three digits of the largest value
            step = self._step * scale
            digits = 0 if step >= 1 else min(6, math.ceil(-math.log10(step)) + 1)
            self.box.setDecimals(digits if scale != 1 or self._step < 1 else 0)
            self.box.setRange(*(each * scale for each in self._range))
            self.box.setSingleStep(step)
            self.box.setSuffix(unit)

    def _take(self, value: float) -> None:
        self.show_value(value)
        self._change(value)


def button(text: str, icon: str, tip: str) -> QToolButton:
    made = QToolButton(text=text)
    wear(made, icon)
    made.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    made.setToolTip(tip)
    return made


def choice(entries: tuple[tuple[str, str], ...], name: str, tip: str) -> Combo:
    combo = Combo()
    for text, value in entries:
        combo.addItem(text, value)
    combo.setAccessibleName(name)
    combo.setToolTip(tip)
    return combo


def flow_of(*widgets: QWidget) -> QWidget:
    row = QWidget()
    flow = FlowLayout(row)
    for widget in widgets:
        flow.addWidget(widget)
    return row
