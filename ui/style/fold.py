"""A line of text that shows and hides what is below it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QSizePolicy

from verdigris.ui.style.icons import wear


class Fold(QPushButton):
    """Checked while it is open."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setCheckable(True)
        self.setFlat(True)
        self.setObjectName("fold")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.toggled.connect(lambda is_open: wear(self, "down" if is_open else "right"))
        wear(self, "right")
