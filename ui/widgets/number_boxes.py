"""Boxes for numbers, which are written as documents and the command line write them, whatever the
desktop's language."""

from __future__ import annotations

from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

_LOCALE = QLocale(QLocale.Language.English, QLocale.Country.UnitedStates)


class WholeBox(QSpinBox):
    """Writes a comma between thousands, where such are shown."""

    def __init__(self) -> None:
        super().__init__()
        self.setLocale(_LOCALE)


class RealBox(QDoubleSpinBox):
    """Writes a point, and takes a comma for one."""

    def __init__(self) -> None:
        super().__init__()
        self.setLocale(_LOCALE)

    def validate(self, text: str, at: int) -> object:
        return super().validate(text.replace(",", "."), at)

    def valueFromText(self, text: str) -> float:  # noqa: N802 - Qt's name
        return super().valueFromText(text.replace(",", "."))
