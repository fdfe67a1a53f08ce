"""A button that shows a colour, and asks for another one."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import QColorDialog, QSizePolicy, QToolButton

from verdigris.ui.style.metrics import ICON

_CURVE = 1 / 2.4


class ColourButton(QToolButton):
    """`change` gets a linear colour."""

    def __init__(self, name: str, change: Callable[[tuple[float, ...]], None]) -> None:
        super().__init__()
        self._name, self._change = name, change
        self._colour: tuple[float, ...] = (0.0, 0.0, 0.0)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.clicked.connect(lambda _: self._ask())

    def show_colour(self, colour: tuple[float, ...]) -> None:
        self._colour = colour
        picture = QPixmap(2 * ICON, ICON)
        picture.fill(_displayed(colour))
        self.setIcon(QIcon(picture))
        self.setIconSize(picture.size())
        numbers = ", ".join(f"{each:.3g}" for each in colour)
        self.setToolTip(f"{self._name}: {numbers}. Click to choose another one.")

    def _ask(self) -> None:
        chosen = QColorDialog.getColor(_displayed(self._colour), self, self._name)
        # the same colour again would lose what 8 bits do not hold
        if chosen.isValid() and chosen != _displayed(self._colour):
            self._change(tuple(map(_linear, (chosen.redF(), chosen.greenF(), chosen.blueF()))))


def _displayed(colour: tuple[float, ...]) -> QColor:
    return QColor(*(round(255 * min(1.0, max(0.0, _encoded(each)))) for each in colour))


def _encoded(light: float) -> float:
    return 12.92 * light if light <= 0.0031308 else 1.055 * float(light**_CURVE) - 0.055


def _linear(value: float) -> float:
    linear = value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)
    return round(linear, 4)
