"""What the panel offers at first: to set the worker up, and to test the plug-in."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
)

from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.parts.worker_set_up import HIDDEN, RUNNING
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.text_widgets import Line, MessageText
from verdigris.ui.signals import capitalise
from verdigris.ui.style.colours import colours_for
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import GAP, HALF
from verdigris.ui.style.sheet import wear_card

_STEPS = 1000
_VISIBLE_LINES = 8


class SetUpBox(QFrame):
    """A message with a button. During the set-up it has a progress bar and the present line."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._set_up = model.set_up
        self._shown = 0
        self.setObjectName("set_up")
        self.text = MessageText()
        self.start = QPushButton("&Set up the worker")
        self.start.setToolTip("Unpacks the packages that bakes run with")
        self.cancel = QPushButton("Ca&ncel")
        self.cancel.setToolTip("Ends the set-up. The next one continues where it ended.")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the set-up")
        self.line = QLabel()
        self.line.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.more = QToolButton(text="Details")
        self.more.setCheckable(True)
        self.more.setToolTip("Shows all lines of the set-up")
        self.log = QPlainTextEdit()
        self.log.setReadOnly(True)
        self.log.setAccessibleName("Lines of the set-up")
        self.log.setFixedHeight(self.log.fontMetrics().lineSpacing() * _VISIBLE_LINES)
        self._compose()
        self.start.clicked.connect(lambda _=False: self._set_up.start())
        self.cancel.clicked.connect(lambda _=False: self._set_up.cancel())
        self.more.toggled.connect(lambda _: self._show())
        bind(self, self._set_up.changed, self._show)

    def _compose(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self.text, 1)
        top.addWidget(self.start)
        middle = QHBoxLayout()
        middle.addWidget(self.bar, 1)
        middle.addWidget(self.cancel)
        bottom = QHBoxLayout()
        bottom.addWidget(self.line, 1)
        bottom.addWidget(self.more)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(HALF)
        for row in (top, middle, bottom):
            column.addLayout(row)
        column.addWidget(self.log)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.isVisible():
            self._show()

    def _show(self) -> None:
        set_up, is_running = self._set_up, self._set_up.state == RUNNING
        has_lines = bool(set_up.lines)
        colours = colours_for(self)
        if is_running:
            text, colour = set_up.describe(), colours.good
        elif set_up.failure:
            text, colour = capitalise(set_up.failure), colours.bad
        else:
            text, colour = set_up.describe(), colours.middling
        self.text.show_message(text, colour)
        wear_card(self, "set_up", colour)
        self.start.setVisible(not is_running)
        self.start.setText("&Try again" if set_up.failure else "&Set up the worker")
        for widget in (self.bar, self.cancel):
            widget.setVisible(is_running)
        self.cancel.setEnabled(not set_up.is_cancelling)
        # an empty range shows that something happens
        self.bar.setRange(0, 0 if set_up.part is None else _STEPS)
        self.bar.setValue(round(_STEPS * (set_up.part or 0.0)))
        last = self._last_line() if is_running else ""
        self.line.setText("Cancelling" if last and set_up.is_cancelling else last)
        self.line.setToolTip(last)
        self.line.setVisible(has_lines)
        self.more.setVisible(has_lines)
        self.log.setVisible(has_lines and self.more.isChecked())
        if self.log.isVisibleTo(self):
            self.log.setPlainText("\n".join(set_up.lines))
            self.log.moveCursor(QTextCursor.MoveOperation.End)
        self.setVisible(set_up.state != HIDDEN)

    def _last_line(self) -> str:
        lines = self._set_up.lines
        return lines[-1] if lines else ""


class SelftestOffer(QFrame):
    """A line with a button, in an application where the self-test was never offered."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self.setObjectName("offer")
        wear_card(self, "offer", colours_for(self).smooth)
        self.text = Line()
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setText(
            f"Verdigris is new in {model.host.name}. A self-test checks in the background that it "
            "works here; it does not change this scene."
        )
        self.run = QPushButton("&Run the self-test")
        self.run.setToolTip("Starts a second instance without a window, which writes a report")
        self.dismiss = QToolButton()
        self.dismiss.setAutoRaise(True)
        self.dismiss.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.dismiss.setAccessibleName("Hide the offer")
        wear(self.dismiss, "cross")
        self.dismiss.setToolTip("Hides this offer. The self-test stays in the help menu.")
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP, GAP, HALF, GAP)
        row.addWidget(self.text, 1)
        row.addWidget(self.run)
        row.addWidget(self.dismiss, 0, Qt.AlignmentFlag.AlignTop)
        self.run.clicked.connect(lambda _=False: self._start(model))
        self.dismiss.clicked.connect(lambda _=False: self.hide())
        self.setVisible(model.selftest.claim_offer())

    def _start(self, model: PanelModel) -> None:
        self.hide()
        model.selftest.start(model.selftest.default_report)
