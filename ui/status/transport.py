"""The buttons of a bake: one filled button that bakes, pauses and resumes, and two others."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence, QMouseEvent, QPalette
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from verdigris.core.worker.protocol.worker_events import PAUSED
from verdigris.ui.model import states
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.keys import Keys
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import GAP
from verdigris.ui.style.sheet import PRIMARY

_KEEP = "Ends the training and writes the result"
_NOTHING_TO_KEEP = "There is no result yet. Wait for the first training step, or cancel."
# Text, icon, shortcut and tooltip of the filled button.
_MAIN = {
    states.START: ("&Bake", "bake", "Ctrl+Return", "Bakes this material"),
    states.PAUSE: ("&Pause", "pause", "Ctrl+P", "Pauses the bake"),
    states.RESUME: ("&Resume", "bake", "Ctrl+P", "Goes on with the bake"),
}


class _Main(QPushButton):
    """The second click of a double click on Bake would pause."""

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        event.accept()


class Transport(QWidget):
    """Bake, then Pause; Stop and keep; Cancel."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.action = ""
        self.main = _Main()
        self.main.setObjectName(PRIMARY)
        self.finish, self.cancel = QPushButton("Stop and &keep"), QPushButton("&Cancel")
        wear(self.finish, "keep")
        wear(self.cancel, "cross")
        _set_tip(self.cancel, "Ctrl+.", "Ends the bake without a result; earlier bakes stay")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        for button in (self.main, self.finish, self.cancel):
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            row.addWidget(button)
        # as wide with each of its texts
        letters = self.main.fontMetrics()
        words = (text for text, *_ in _MAIN.values())
        self.main.setMinimumWidth(72 + max(letters.horizontalAdvance(text) for text in words))
        self.main.clicked.connect(lambda _=False: self._act())
        self.finish.clicked.connect(lambda _=False: model.finish())
        self.cancel.clicked.connect(lambda _=False: model.cancel())
        bind(self, model.link.state_changed, self._show)
        bind(self, model.state.bake.progress_changed, self._show_finish)
        bind(self, model.state.report_changed, self._show)

    def bind_keys(self, keys: Keys) -> None:
        keys.press(self.main, "Ctrl+Return", lambda: self.action == states.START)
        keys.press(self.main, "Ctrl+P", lambda: self.action != states.START)
        keys.press(self.finish, "Ctrl+S")
        keys.press(self.cancel, "Ctrl+.")

    def _act(self) -> None:
        model = self._model
        {states.START: model.start, states.PAUSE: model.pause, states.RESUME: model.resume}[
            self.action
        ]()

    def _show(self) -> None:
        model = self._model
        action = states.PAUSE if model.link.is_busy else states.START
        action = states.RESUME if model.link.state == PAUSED else action
        if action != self.action:
            text, name, keys, tip = _MAIN[action]
            self.action = action
            self.main.setText(text)
            # Qt makes the underlined letter a shortcut of the whole window
            self.main.setShortcut(QKeySequence())
            _set_tip(self.main, keys, tip)
            wear(self.main, name, QPalette.ColorRole.HighlightedText)
        self.main.setEnabled(model.can(action))
        self._show_finish()
        self.cancel.setEnabled(model.can(states.CANCEL))
        for button in (self.finish, self.cancel):
            button.setShortcut(QKeySequence())

    def _show_finish(self) -> None:
        model = self._model
        self.finish.setEnabled(model.can(states.FINISH))
        has_nothing = model.link.is_busy and not model.state.has_trained
        _set_tip(self.finish, "Ctrl+S", _NOTHING_TO_KEEP if has_nothing else _KEEP)


def _set_tip(button: QPushButton, keys: str, tip: str) -> None:
    text = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
    button.setToolTip(f"{tip} ({text})")
