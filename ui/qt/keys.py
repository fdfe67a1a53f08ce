"""Keyboard shortcuts that apply only while the panel has the focus."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget


class Keys(QObject):
    """Shortcuts of a widget and its children. Qt's own shortcuts apply to the whole window, and
    would conflict there with those of the host."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._find_action: list[Callable[[QKeySequence], Callable[[], None] | None]] = []
        widget.installEventFilter(self)

    def add(
        self,
        keys: QKeySequence.StandardKey,
        action: Callable[[], None],
        holds: Callable[[], bool] = lambda: True,
    ) -> None:
        """Binds a standard shortcut to a function, while `holds` is true."""
        bindings = QKeySequence.keyBindings(keys)
        self._find_action.append(
            lambda pressed: action if pressed in bindings and holds() else None
        )

    def press(
        self, button: QAbstractButton, keys: str, holds: Callable[[], bool] = lambda: True
    ) -> None:
        """Binds a shortcut, and the underlined letter of a button's text, to the button. The
        shortcut counts only while `holds` is true."""
        sequence = QKeySequence(keys)

        def find(pressed: QKeySequence) -> Callable[[], None] | None:
            is_letter = pressed == QKeySequence.mnemonic(button.text())
            matches = is_letter or (pressed == sequence and holds())
            is_possible = button.isVisible() and button.isEnabled()
            return button.click if matches and is_possible else None

        self._find_action.append(find)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() not in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            return False
        pressed = QKeySequence(event.keyCombination())
        actions = (find(pressed) for find in self._find_action)
        action = next((each for each in actions if each is not None), None)
        if action is None:
            return False
        event.accept()
        focus = QApplication.focusWidget()
        if event.type() == QEvent.Type.KeyPress:
            action()
        elif focus is not None:
            # otherwise the widget uses the key itself, as lists do with letters
            focus.installEventFilter(self)
        return True
