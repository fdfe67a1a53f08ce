"""The page of a bake: presets before it, then its chart and figures, and the verdict at the end."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from verdigris.ui.cards.verdict_box import VerdictBox
from verdigris.ui.charts.figures import Figures
from verdigris.ui.charts.filmstrip import Filmstrip
from verdigris.ui.charts.loss_plot import LossPlot
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.settings.preset_cards import PresetCards
from verdigris.ui.style.metrics import GAP

_CHART_HEIGHT = 184


class BakePage(QWidget):
    """The chart keeps its place: the presets are shown in it until there is something to draw."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.plot = LossPlot(model)
        self.verdict = VerdictBox(model)
        self.figures = Figures(model)
        self.before = QWidget()
        self.presets = PresetCards(model)
        inside = QVBoxLayout(self.before)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(GAP)
        inside.addWidget(QLabel("What is it for?"))
        inside.addWidget(self.presets)
        self.plot.setFixedHeight(_CHART_HEIGHT)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        self.film = Filmstrip(model)
        for each in (self.before, self.verdict, self.plot, self.film, self.figures):
            column.addWidget(each)
        bind(self, model.link.state_changed, self._show)
        bind(self, model.state.bake.history_changed, self._show)
        bind(self, model.state.report_changed, self._show)

    @property
    def has_chart(self) -> bool:
        """Whether a bake is drawn, and not the presets."""
        return self._model.link.is_busy or len(self._model.state.bake.history.losses()[0]) > 0

    def _show(self) -> None:
        has_chart = self.has_chart
        self.plot.setVisible(has_chart)
        # what cannot be baked has no time, size or quality
        self.before.setVisible(not has_chart and not self._model.state.is_refused)
