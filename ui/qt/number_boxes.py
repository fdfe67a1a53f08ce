"""Number boxes that write numbers in English in every locale, as documents and the command line
do."""

from __future__ import annotations

from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

_LOCALE = QLocale(QLocale.Language.English, QLocale.Country.UnitedStates)


class WholeBox(QSpinBox):
    """A whole number, with commas between thousands."""

    def __init__(self) -> None:
        super().__init__()
        self.setLocale(_LOCALE)
        # arrow keys and the wheel step
        self.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)


class RealBox(QDoubleSpinBox):
    """A real number, with a decimal point. A typed comma counts as a point."""

    def __init__(self) -> None:
        super().__init__()
        self.setLocale(_LOCALE)
        # arrow keys and the wheel step
        self.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)

    def validate(self, text: str, at: int) -> object:
        return super().validate(text.replace(",", "."), at)

    def valueFromText(self, text: str) -> float:  # noqa: N802 - Qt's name
        return super().valueFromText(text.replace(",", "."))
