"""Keys that are the panel's where the panel has the focus, and its host's everywhere else."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget


class Keys(QObject):
    """What keys do in a widget and all that is inside it. Qt's own shortcuts are those of a whole
    window: docked in a host, Ctrl+S would be nobody's."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._known: list[Callable[[QKeySequence], Callable[[], None] | None]] = []
        widget.installEventFilter(self)

    def add(self, keys: QKeySequence.StandardKey, action: Callable[[], None]) -> None:
        """Does something at keys that desktops know."""
        bindings = QKeySequence.keyBindings(keys)
        self._known.append(lambda pressed: action if pressed in bindings else None)

    def press(self, button: QAbstractButton, keys: str) -> None:
        """Presses a button, by these keys or by the letter that is underlined in its text."""
        sequence = QKeySequence(keys)

        def action_of(pressed: QKeySequence) -> Callable[[], None] | None:
            is_meant = pressed in (sequence, QKeySequence.mnemonic(button.text()))
            can_be = button.isVisible() and button.isEnabled()
            return button.click if is_meant and can_be else None

        self._known.append(action_of)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() not in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            return False
        pressed = QKeySequence(event.keyCombination())
        actions = (action_of(pressed) for action_of in self._known)
        action = next((each for each in actions if each is not None), None)
        if action is None:
            return False
        event.accept()
        focus = QApplication.focusWidget()
        if event.type() == QEvent.Type.KeyPress:
            action()
        elif focus is not None:
            # or it would take the key for its own, as lists do with every letter
            focus.installEventFilter(self)
        return True
