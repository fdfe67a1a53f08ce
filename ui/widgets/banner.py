"""What the artist should know now: a worker that is gone, an error, a warning, a result."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton

from verdigris.core.worker.client.client import GONE, SILENT
from verdigris.ui.binding import follow
from verdigris.ui.look import colours_for
from verdigris.ui.model import PanelModel
from verdigris.ui.notices import ERROR, INFO
from verdigris.ui.widgets.told_text import ToldText


class Banner(QFrame):
    """One line or two, with a way out where there is one."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.text = ToldText()
        self.recover = QPushButton("&Resume with a new worker")
        self.recover.setToolTip("Goes on from the last checkpoint")
        self.dismiss = QToolButton(text="✕")
        self.dismiss.setToolTip("Hide this (Esc)")
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 3, 3, 3)
        row.addWidget(self.text, 1)
        row.addWidget(self.recover)
        row.addWidget(self.dismiss, 0, Qt.AlignmentFlag.AlignTop)
        self.recover.clicked.connect(lambda _: model.recover())
        self.dismiss.clicked.connect(lambda _: self.hide())
        follow(self, model.notices.changed, self._show)
        follow(self, model.health_changed, self._show)
        follow(self, model.state_changed, self._show_way_out)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.isVisible():
            self._show()

    def _show_way_out(self) -> None:
        model = self._model
        self.recover.setVisible(model.can_recover)
        goes_on = model.bake.checkpoint_step is not None
        self.recover.setText("&Resume" if goes_on else "Start a &new worker")

    def _show(self) -> None:
        model, colours = self._model, colours_for(self)
        is_lost = model.health.state in (GONE, SILENT)
        self._show_way_out()
        if is_lost:
            text, colour = model.health.reason, colours.bad
            if model.bake.checkpoint_step is not None:
                text += f" The checkpoint at step {model.bake.checkpoint_step:,} is whole."
        elif model.notices:
            notice = model.notices[-1]
            text = notice.text
            colour = {ERROR: colours.bad, INFO: colours.good}.get(notice.severity, colours.middling)
        else:
            self.hide()
            return
        self.text.tell(text, colour)
        self.text.setToolTip("\n".join(each.text for each in model.notices[-8:]))
        self.show()
