"""The strip with the buttons of a bake, its progress and a small chart. Its height is fixed, so
that nothing below it moves."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.status.progress_view import ProgressView
from verdigris.ui.status.sparkline import Sparkline
from verdigris.ui.status.transport import Transport
from verdigris.ui.style.metrics import BUTTON, GAP
from verdigris.ui.style.sheet import STRIP


class StatusStrip(QWidget):
    """The buttons above the progress."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self.setObjectName(STRIP)
        self.transport = Transport(model)
        self.progress = ProgressView(model)
        self.sparkline = Sparkline(model)
        top = QHBoxLayout()
        top.setSpacing(GAP)
        top.addWidget(self.transport)
        top.addWidget(self.sparkline, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addLayout(top)
        column.addWidget(self.progress)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._fix_height()

    def changeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() == event.Type.FontChange:
            self._fix_height()

    def _fix_height(self) -> None:
        letters = self.fontMetrics().height()
        self.setFixedHeight(-(-(BUTTON + GAP + GAP + letters) // GAP) * GAP)
