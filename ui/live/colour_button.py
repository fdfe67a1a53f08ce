"""A button that shows a colour, and asks for another one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import QColorDialog, QSizePolicy, QToolButton

from verdigris.core.base.colour import linear_from_srgb, srgb_from_linear
from verdigris.ui.style.metrics import ICON


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
    shares = np.clip(srgb_from_linear(np.array(colour)), 0, 1)
    return QColor(*(round(255 * each) for each in shares.tolist()))


def _linear(value: float) -> float:
    return round(float(linear_from_srgb(np.array(value))), 4)
