"""The message bar: a lost worker, an error, a warning or a result."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton

from verdigris.core.worker.client.client import GONE, SILENT
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.colours import colours_for
from verdigris.ui.qt.text_widgets import MessageText
from verdigris.ui.signals.notices import ERROR, INFO


class Banner(QFrame):
    """A message, with a button to replace a lost worker."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.text = MessageText()
        self.recover = QPushButton("&Resume")
        self.recover.setToolTip("Starts a new worker. The bake continues from its last checkpoint.")
        self.dismiss = QToolButton(text="✕")
        self.dismiss.setToolTip("Hides this message (Esc)")
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 3, 3, 3)
        row.addWidget(self.text, 1)
        row.addWidget(self.recover)
        row.addWidget(self.dismiss, 0, Qt.AlignmentFlag.AlignTop)
        self.recover.clicked.connect(lambda _: model.recover())
        self.dismiss.clicked.connect(lambda _: self.hide())
        bind(self, model.notices.changed, self._show)
        bind(self, model.health_changed, self._show)
        bind(self, model.state_changed, self._show_recover)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.isVisible():
            self._show()

    def _show_recover(self) -> None:
        model = self._model
        self.recover.setVisible(model.can_recover)
        can_resume = model.bake.checkpoint_step is not None
        self.recover.setText("&Resume" if can_resume else "Start a &new worker")

    def _show(self) -> None:
        model, colours = self._model, colours_for(self)
        is_lost = model.health.state in (GONE, SILENT)
        self._show_recover()
        if is_lost:
            text, colour = model.health.reason, colours.bad
            if model.bake.checkpoint_step is not None:
                text += f" There is a checkpoint of step {model.bake.checkpoint_step:,}."
        elif model.notices:
            notice = model.notices[-1]
            text = notice.text
            colour = {ERROR: colours.bad, INFO: colours.good}.get(notice.severity, colours.middling)
        else:
            self.hide()
            return
        self.text.show_message(text, colour)
        self.text.setToolTip("\n".join(each.text for each in model.notices[-8:]))
        self.show()
