"""All keys of the panel on one sheet, in front of everything else."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import GAP, HALF, WIDE, bold, title_font

OPENS = "?"
# What is done, and with what; names of keys as Qt writes them.
GROUPS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Look at the pictures",
        (
            ("Drag, or arrow keys", "Turn the shape"),
            ("Shift + drag or arrow keys", "Turn the light"),
            ("Wheel, or + and -", "Zoom in and out"),
            ("Middle drag", "Move"),
            ("Double click, or Home", "See all"),
            ("Drag the line, or , and .", "Move the wipe"),
            ("Hold D", "Reference and neural in turn"),
            ("W", "The worst spot, then the next"),
            ("P", "Save the picture"),
            ("Ctrl+C", "Copy the picture"),
        ),
    ),
    (
        "Bake",
        (
            ("Ctrl+Return", "Bake"),
            ("Ctrl+P", "Pause, or resume"),
            ("Ctrl+S", "Stop and keep the result"),
            ("Ctrl+.", "Cancel"),
            ("F5", "Read the materials again"),
        ),
    ),
    (
        "Paint",
        (
            ("[ and ]", "Smaller or larger brush"),
            ("Right drag", "Turn the shape"),
            ("Ctrl+Z, Ctrl+Y", "Undo, redo"),
        ),
    ),
    (
        "Everywhere",
        (
            ("Drag a name", "Change its number (Shift: finer)"),
            ("Ctrl+Z, Ctrl+Y", "Undo, redo a setting"),
            ("Alt+Up, Alt+Down", "Move what waits on the shelf"),
            ("Delete", "Delete from the shelf"),
            ("Esc", "Hide a message"),
            (OPENS, "Show or hide this sheet"),
        ),
    ),
)


class KeySheet(QFrame):
    """Covers its panel while it is shown. A click, Esc or ? hides it."""

    def __init__(self, panel: QWidget) -> None:
        super().__init__(panel)
        self._before: QWidget | None = None
        self.setObjectName("keys")
        self.setAutoFillBackground(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Keys of the panel")
        close = QToolButton()
        wear(close, "cross")
        close.setAutoRaise(True)
        close.setToolTip("Hides the keys (Esc)")
        close.setAccessibleName("Hide the keys")
        close.clicked.connect(lambda _: self.toggle())
        title = QLabel("Keys")
        title.setFont(title_font(title))
        head = QHBoxLayout()
        head.addWidget(title, 1)
        head.addWidget(close)
        inside = QWidget()
        flow = FlowLayout(inside)
        for name, rows in GROUPS:
            flow.addWidget(_group(name, rows))
        area = QScrollArea()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inside)
        column = QVBoxLayout(self)
        column.setContentsMargins(WIDE, WIDE, WIDE, WIDE)
        column.addLayout(head)
        column.addWidget(area, 1)
        panel.installEventFilter(self)
        self.hide()

    def toggle(self) -> None:
        """Shows the sheet, or hides it and gives the focus back."""
        if self.isVisible():
            self.hide()
            if self._before is not None:
                self._before.setFocus()
            return
        self._before = self.window().focusWidget()
        self._before = None if self._before is self else self._before
        self.setGeometry(self.parentWidget().rect())
        self.show()
        self.raise_()
        self.setFocus()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's names
        if event.type() in (QEvent.Type.Resize, QEvent.Type.ChildAdded) and self.isVisible():
            self.setGeometry(self.parentWidget().rect())
            self.raise_()
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Escape or event.text() == OPENS:
            self.toggle()

    def mousePressEvent(self, _event: QMouseEvent) -> None:  # noqa: N802
        self.toggle()


def _group(name: str, rows: tuple[tuple[str, str], ...]) -> QWidget:
    """A title above its rows."""
    group = QWidget()
    grid = QGridLayout(group)
    grid.setContentsMargins(0, GAP, GAP, GAP)
    grid.setHorizontalSpacing(GAP)
    grid.setVerticalSpacing(HALF)
    title = QLabel(name)
    title.setFont(bold(title))
    grid.addWidget(title, 0, 0, 1, 2)
    for row, (keys, what) in enumerate(rows, 1):
        label = QLabel(_native(keys))
        label.setFont(bold(label))
        grid.addWidget(label, row, 0)
        grid.addWidget(QLabel(what), row, 1)
    return group


def _native(keys: str) -> str:
    """Keys as this system writes them: ⌘ for Ctrl on a Mac."""
    parts = [each.strip() for each in keys.split(",")]
    if any(" " in each or not each for each in parts):
        return keys
    form = QKeySequence.SequenceFormat.NativeText
    return ", ".join(QKeySequence(each).toString(form) for each in parts)
