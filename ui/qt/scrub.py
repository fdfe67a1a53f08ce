"""Number boxes, and labels that are dragged: to the right, the number beside a label grows.

Numbers are written in English in every locale, as in documents and on the command line.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QLocale, QObject, Qt
from PySide6.QtWidgets import QDoubleSpinBox, QFormLayout, QLabel, QSpinBox, QWidget

from verdigris.ui.style.slider import ScrollsPage

_LOCALE = QLocale(QLocale.Language.English, QLocale.Country.UnitedStates)
# Pixels for one step of the box.
_PIXELS = 4.0
_FINE, _COARSE = 0.1, 10.0
TIP = "Drag this name to change the number. Shift is finer, Ctrl is coarser, Esc takes it back."


class WholeBox(ScrollsPage, QSpinBox):
    """A whole number, with commas between thousands."""

    def __init__(self) -> None:
        super().__init__()
        self.setLocale(_LOCALE)
        self.by_click()
        # arrow keys and the wheel step
        self.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)


class RealBox(ScrollsPage, QDoubleSpinBox):
    """A real number, with a decimal point. A typed comma counts as a point."""

    def __init__(self) -> None:
        super().__init__()
        self.setLocale(_LOCALE)
        self.by_click()
        # arrow keys and the wheel step
        self.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)

    def validate(self, text: str, at: int) -> object:
        return super().validate(text.replace(",", "."), at)

    def valueFromText(self, text: str) -> float:  # noqa: N802 - Qt's name
        return super().valueFromText(text.replace(",", "."))


class Scrub(QObject):
    """`start` returns the first value while the box shows words in place of its least value.
    `begin` and `end` enclose a drag, which is one change for the artist."""

    def __init__(
        self,
        label: QLabel,
        box: QSpinBox | QDoubleSpinBox,
        start: Callable[[], float] | None = None,
        begin: Callable[[], None] = lambda: None,
        end: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(label)
        self._label, self._box, self._start = label, box, start
        self._begin, self._end = begin, end
        self._before: float | None = None
        """The value before the drag; None while nothing is dragged."""
        self._exact, self._x = 0.0, 0.0
        label.setCursor(Qt.CursorShape.SizeHorCursor)
        label.setToolTip("\n".join(filter(None, (box.toolTip(), TIP))))
        label.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        kind, types = event.type(), QEvent.Type
        if kind == types.MouseButtonPress:
            is_left = event.button() == Qt.MouseButton.LeftButton
            if is_left and self._box.isEnabled():
                self._press(event.globalPosition().x())
            elif self._before is not None:
                self._cancel()
            return True
        if self._before is None:
            return False
        if kind == types.MouseMove:
            self._drag(event.globalPosition().x(), event.modifiers())
        elif kind == types.MouseButtonRelease or kind == types.Hide:
            self._release()
        elif kind == types.KeyPress and event.key() == Qt.Key.Key_Escape:
            self._cancel()
        else:
            return False
        return True

    def _press(self, x: float) -> None:
        box = self._box
        self._before, self._x = box.value(), x
        self._exact = float(box.value())
        if self._start is not None and box.specialValueText() and box.value() == box.minimum():
            self._exact = self._start()
        # for Esc
        self._label.grabKeyboard()
        self._begin()

    def _drag(self, x: float, modifiers: Qt.KeyboardModifier) -> None:
        box, keys = self._box, Qt.KeyboardModifier
        factor = _FINE if modifiers & keys.ShiftModifier else 1.0
        factor = _COARSE if modifiers & keys.ControlModifier else factor
        self._exact += (x - self._x) / _PIXELS * factor * box.singleStep()
        self._exact = min(float(box.maximum()), max(float(box.minimum()), self._exact))
        if x != self._x:
            box.setValue(round(self._exact) if isinstance(box, QSpinBox) else self._exact)
        self._x = x

    def _release(self) -> None:
        self._before = None
        self._label.releaseKeyboard()
        self._end()

    def _cancel(self) -> None:
        before = self._before
        assert before is not None
        self._box.setValue(int(before) if isinstance(self._box, QSpinBox) else before)
        self._release()


def label_of(form: QFormLayout, field: QWidget) -> QLabel:
    """The label that a form has made for a field."""
    label = form.labelForField(field)
    assert isinstance(label, QLabel)
    return label
