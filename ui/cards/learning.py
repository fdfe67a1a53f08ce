"""The presets before a bake; its chart, the verdict and the figures from then on."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from verdigris.ui.cards.verdict_box import VerdictBox
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.widgets.figures import Figures
from verdigris.ui.widgets.loss_plot import LossPlot
from verdigris.ui.widgets.preset_cards import PresetCards

_LEAST_HEIGHT = 90


class Shrinking(QScrollArea):
    """As high as its contents where there is room, and scrolled where there is none. A window must
    not grow because figures come."""

    def __init__(self, inside: QWidget) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.setWidget(inside)
        inside.installEventFilter(self)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        return QSize(self.widget().sizeHint().width(), self._height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(0, min(_LEAST_HEIGHT, self._height()))

    def _height(self) -> int:
        return self.widget().minimumSizeHint().height()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


class Learning(QWidget):
    """The chart keeps its place: the presets are shown in it until there is something to draw."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.plot = LossPlot(model)
        self.verdict = VerdictBox(model)
        self.figures = Figures(model)
        self.before = QWidget()
        self.before.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.presets = PresetCards(model)
        inside = QVBoxLayout(self.before)
        inside.setContentsMargins(4, 4, 4, 4)
        inside.setSpacing(8)
        inside.addWidget(QLabel("What is it for?"))
        inside.addWidget(self.presets)
        inside.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.before, 1)
        column.addWidget(self.plot, 1)
        below = QWidget()
        lines = QVBoxLayout(below)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(4)
        lines.addWidget(self.verdict)
        lines.addWidget(self.figures)
        self.below = Shrinking(below)
        column.addWidget(self.below)
        bind(self, model.state_changed, self._show)
        bind(self, model.bake.history_changed, self._show)

    @property
    def has_chart(self) -> bool:
        """Whether a bake is drawn, and not the presets."""
        return self._model.is_busy or len(self._model.bake.history.losses()[0]) > 0

    def _show(self) -> None:
        has_chart = self.has_chart
        self.plot.setVisible(has_chart)
        self.before.setVisible(not has_chart)
