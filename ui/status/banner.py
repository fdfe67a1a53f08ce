"""The message in front of the viewport: a lost worker, an error, a warning or a result."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton

from verdigris.core.hosts.troubles import find_trouble
from verdigris.core.worker.client.client import GONE, SILENT
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.text_widgets import Elided, MessageText
from verdigris.ui.signals import ERROR, INFO, WARNING
from verdigris.ui.style.colours import colours_for
from verdigris.ui.style.icons import IconLabel, wear
from verdigris.ui.style.metrics import FIELD, GAP, HALF
from verdigris.ui.style.sheet import PRIMARY, wear_card

_ICONS = {ERROR: "error", WARNING: "warning", INFO: "check"}
# Good news hides by itself.
_INFO_MS = 5_000


class Banner(QFrame):
    """A message, with a button to replace a lost worker."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.setObjectName("banner")
        self.icon, self.text = IconLabel(FIELD), MessageText()
        self.line = Elided()
        self.line.hide()
        for each in (self.text, self.line):
            each.setAccessibleName("Message")
        self.recover = QPushButton("&Resume")
        self.recover.setObjectName(PRIMARY)
        self.recover.setToolTip("Starts a new worker. The bake continues from its last checkpoint.")
        self.why = QPushButton("Why?")
        self.why.setToolTip("Shows the entry of the page Troubleshooting")
        self.why.hide()
        self.reveal = QPushButton("Show in folder")
        self.reveal.setToolTip("Opens the folder of the file")
        self.reveal.hide()
        self.dismiss = QToolButton()
        self.dismiss.setAutoRaise(True)
        self.dismiss.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.dismiss.setToolTip("Hides this message (Esc)")
        self.dismiss.setAccessibleName("Hide the message")
        wear(self.dismiss, "cross")
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP, GAP, HALF, GAP)
        row.setSpacing(GAP)
        top = Qt.AlignmentFlag.AlignTop
        row.addWidget(self.icon, 0, top)
        row.addWidget(self.text, 1)
        row.addWidget(self.line, 1)
        row.addWidget(self.recover)
        row.addWidget(self.why)
        row.addWidget(self.reveal)
        row.addWidget(self.dismiss, 0, top)
        self._fading = QTimer(self)
        self._fading.setSingleShot(True)
        self._fading.setInterval(_INFO_MS)
        self._fading.timeout.connect(self._fade)
        self.recover.clicked.connect(lambda _: model.recover())
        self.why.clicked.connect(lambda _: model.trouble.show(self._message()))
        self.reveal.clicked.connect(lambda _: self._open_folder())
        self.dismiss.clicked.connect(lambda _: self.hide())
        bind(self, model.state.notices.changed, self._show)
        bind(self, model.link.health_changed, self._show)
        bind(self, model.link.state_changed, self._show_recover)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.isVisible():
            self._show()

    def _fade(self) -> None:
        # somebody reads it
        if self.underMouse() or self.text.hasFocus() or self.dismiss.hasFocus():
            self._fading.start()
        else:
            self.hide()

    def _open_folder(self) -> None:
        path = self._model.state.notices[-1].reveal
        if path is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))

    def _show_recover(self) -> None:
        model = self._model
        self.recover.setVisible(model.can_recover)
        can_resume = model.state.bake.checkpoint_step is not None
        self.recover.setText("&Resume" if can_resume else "Start a &new worker")

    def _message(self) -> str:
        """What the banner is about, in full."""
        if self._model.link.health.state in (GONE, SILENT):
            return self._model.link.health.reason
        return self._model.state.notices[-1].text

    def _is_on_card(self) -> bool:
        """Whether the last message is why the material cannot be baked, which a card shows."""
        report, last = self._model.state.report, self._model.state.notices[-1]
        return report is not None and report.get("problem") == last.text

    def _show(self) -> None:
        model, colours = self._model, colours_for(self)
        is_lost = model.link.health.state in (GONE, SILENT)
        self._show_recover()
        self.reveal.hide()
        severity = ERROR
        if is_lost:
            text = model.link.health.reason
            if model.state.bake.checkpoint_step is not None:
                text += f" There is a checkpoint of step {model.state.bake.checkpoint_step:,}."
        elif model.state.notices and not self._is_on_card():
            last = model.state.notices[-1]
            text, severity = last.short, last.severity
            if last.reveal is not None:
                self.reveal.setToolTip(f"Opens the folder of {last.reveal}")
                self.reveal.show()
        else:
            self.hide()
            return
        title = find_trouble(self._message()) if severity != INFO else ""
        self.why.setVisible(bool(title))
        self.why.setToolTip(f"Shows the entry of the page Troubleshooting: {title}")
        colour = {ERROR: colours.bad, INFO: colours.good}.get(severity, colours.middling)
        self.icon.show_icon(_ICONS.get(severity, "info"), colour)
        self.text.show_message(text, colour)
        self.line.setText(text.replace("\n", " · "))
        self.line.setStyleSheet(f"color: {colour.name()}")
        # good news is one line, which covers little of a docked viewport
        is_slim = severity == INFO
        self.text.setVisible(not is_slim)
        self.line.setVisible(is_slim)
        edge = HALF if is_slim else GAP
        self.layout().setContentsMargins(GAP, edge, HALF, edge)
        for each in (self.text, self.line):
            each.setToolTip("\n".join(each.text for each in model.state.notices[-8:]))
        wear_card(self, "banner", colour)
        self._fading.stop()
        if severity == INFO:
            self._fading.start()
        self.show()
