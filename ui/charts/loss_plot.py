"""The chart of a bake: the error on held-out samples, the loss, phases, and earlier bakes."""

from __future__ import annotations

import numpy as np
import pyqtgraph
from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from verdigris.core.progress import ROUNDING, STARTS
from verdigris.ui.charts.phase_ruler import PhaseRuler, Span
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.parts.bake_log import Part
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.text_widgets import Note
from verdigris.ui.style.colours import colours_for, quiet_text
from verdigris.ui.style.metrics import small_font
from verdigris.ui.widgets.wording import PHASES

_LABEL_HEIGHT, _LEAST_LABELS = 22, 3
_BAND_ALPHA, _GHOST_ALPHA = 22, 110
# The band of the phase in which the error rises.
_RISE_ALPHA = 50
_RISE = "Compressing packs the texture for engines. A small rise of the error there is normal."
_MOST_GHOSTS = 5
# The most dots of the error: more would hide the line.
_DOT, _SMALL_DOT, _MANY = 6, 3, 25
# The smallest part of all steps that is shown, and the room to the right of the last step.
_LEAST_PART, _ROOM = 1 / 32, 1.25


class DecadeAxis(pyqtgraph.AxisItem):
    """A log scale that labels 1, 2 and 5 of each decade, or fewer if there is little room."""

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N802
        if not self.logMode:
            return super().tickValues(low, high, size)
        first, last = int(np.floor(low)), int(np.ceil(high))
        for marks in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,)):
            values = [
                float(np.log10(mark) + decade)
                for decade in range(first, last + 1)
                for mark in marks
                if low <= np.log10(mark) + decade <= high
            ]
            if len(values) * _LABEL_HEIGHT <= size:
                break
        if len(values) < _LEAST_LABELS:
            values = _even_steps(10**low, 10**high, size)
        return [(1.0, values)]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:  # noqa: N802
        if not self.logMode:
            return super().tickStrings(values, scale, spacing)
        return [f"{10**value:.3g}" for value in values]


class StepAxis(pyqtgraph.AxisItem):
    """Steps with commas between thousands, and the word for them at the first."""

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:  # noqa: N802
        return [f"{value:,.0f}" if value else "step 0" for value in values]


def _even_steps(low: float, high: float, size: float) -> list[float]:
    """The logarithms of round values in a range that holds hardly any mark of a decade."""
    least = (high - low) / max(2.0, size / _LABEL_HEIGHT)
    unit = 10 ** np.floor(np.log10(least))
    step = next(mark * unit for mark in (1, 2, 5, 10) if mark * unit >= least)
    values = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    return [float(np.log10(value)) for value in values if value > 0]


class LossPlot(QWidget):
    """The error is the main curve: a bake is judged by it. The loss is a different quantity, and
    has a scale of its own."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self._bands: list[pyqtgraph.GraphicsObject] = []
        self._ghosts: list[pyqtgraph.PlotDataItem] = []
        self._parts: list[Part] = []
        """The phases of the plan that the chart shows."""
        self._seen_plan: object = None
        self.plot = pyqtgraph.PlotWidget(
            axisItems={"left": DecadeAxis("left"), "bottom": StepAxis("bottom")}
        )
        self.plot.setMenuEnabled(False)
        self.plot.hideButtons()
        self.plot.setMouseEnabled(x=False, y=False)
        self.plot.setMinimumHeight(110)
        # it handles no keys
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.viewport().setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.setAccessibleName("Chart of the error by step")
        self.setToolTip(
            "Dots: the error on places and directions that were not trained on. A bake is judged "
            "by it. The axis below counts steps. Faint line: the error in training, on a scale of "
            "its own. Dashed: the error at which training stops. Crosses: earlier bakes."
        )
        item = self.plot.getPlotItem()
        # a second scale, without numbers
        self._loss_view = pyqtgraph.ViewBox(enableMenu=False)
        self._loss_view.setMouseEnabled(x=False, y=False)
        item.scene().addItem(self._loss_view)
        self._loss_view.setXLink(item.vb)
        item.vb.sigResized.connect(self._place_loss)
        item.vb.sigResized.connect(self._place_names)
        item.vb.sigXRangeChanged.connect(self._place_names)
        self.smooth = pyqtgraph.PlotDataItem()
        self._loss_view.addItem(self.smooth)
        self.dots = self.plot.plot(symbol="o", symbolSize=_DOT)
        self.target = pyqtgraph.InfiniteLine(angle=0)
        self.plot.addItem(self.target, ignoreBounds=True)
        self.cross = pyqtgraph.InfiniteLine(angle=90)
        self.cross.hide()
        self.plot.addItem(self.cross, ignoreBounds=True)
        self.plot.viewport().installEventFilter(self)
        self.legend = QLabel()
        self.legend.setFont(small_font(self.legend))
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.ruler = PhaseRuler()
        self.rise = Note(_RISE)
        self.rise.hide()
        self.log = QToolButton(text="Log", checkable=True, checked=True)
        self.log.setAutoRaise(True)
        self.log.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.log.setToolTip("Each halving of the error is the same distance")
        self.log.setAccessibleName("Log scale")
        self.log.toggled.connect(self._set_log)
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.addWidget(self.legend, 1)
        head.addWidget(self.log)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.ruler)
        layout.addWidget(self.plot)
        layout.addWidget(self.rise)
        self._set_log(True)
        self._apply_palette()
        bind(self, model.state.bake.history_changed, self._show)
        bind(self, model.state.choices_changed, self._show)
        bind(self, model.state.bake.progress_changed, self._show_phases)
        bind(self, model.state.history.changed, self._show_ghosts)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "legend"):
            self._apply_palette()
            self._show_phases()

    def _set_log(self, is_log: bool) -> None:
        self.plot.setLogMode(x=False, y=is_log)
        self.smooth.setLogMode(False, is_log)
        for ghost in self._ghosts:
            ghost.setLogMode(False, is_log)
        self._show()

    def _apply_palette(self) -> None:
        """Takes the colours from the palette."""
        colours, palette = colours_for(self), self.palette()
        self.plot.setBackground(palette.color(QPalette.ColorRole.Base))
        text = palette.color(QPalette.ColorRole.Text)
        font = small_font(self)
        letters, quiet = QFontMetrics(font), quiet_text(palette)
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setPen(quiet)
            axis.setTextPen(quiet)
            axis.setStyle(tickFont=font)
            # pyqtgraph would write 1k
            axis.enableAutoSIPrefix(False)
        self.plot.getAxis("left").setWidth(letters.horizontalAdvance("0.00005") + 8)
        self.plot.getAxis("bottom").setHeight(letters.height() + 8)
        self.plot.getPlotItem().setContentsMargins(0, letters.height() // 2, 8, 0)
        self.smooth.setPen(pyqtgraph.mkPen(colours.raw, width=1.5))
        self.dots.setPen(pyqtgraph.mkPen(colours.error, width=2))
        self.dots.setSymbolBrush(colours.error)
        self.dots.setSymbolPen(colours.error)
        dash = Qt.PenStyle.DashLine
        self.target.setPen(pyqtgraph.mkPen(colours.target, width=1, style=dash))
        self.cross.setPen(pyqtgraph.mkPen(text, width=1))
        self._show_legend()

    def _place_loss(self) -> None:
        self._loss_view.setGeometry(self.plot.getPlotItem().vb.sceneBoundingRect())

    def _show(self) -> None:
        model = self._model
        steps, _losses, smooth = model.state.bake.history.losses()
        self.smooth.setData(steps, smooth)
        errors = model.state.bake.history.errors()
        self.dots.setData(*errors, symbolSize=_DOT if len(errors[0]) < _MANY else _SMALL_DOT)
        self._fit_steps()
        begins = [part.first for part in model.state.bake.progress.plan if part.name == ROUNDING]
        self.rise.setVisible(bool(begins and len(errors[0]) and errors[0][-1] > begins[-1]))
        if not len(steps):
            # the axes of another material mean nothing here
            self.plot.getPlotItem().enableAutoRange()
        # without a curve, the numbers would mean nothing
        self.plot.getAxis("left").setStyle(showValues=bool(len(errors[0]) or self._ghosts))
        target = model.state.choices.target_error or 0.0
        self.target.setVisible(target > 0)
        if target > 0:
            self.target.setValue(np.log10(target) if self.log.isChecked() else target)
        self._show_legend()

    def _show_phases(self) -> None:
        """A band for each phase of the plan."""
        plan = self._model.state.bake.progress.plan
        seen = plan, self.palette().color(QPalette.ColorRole.Text).name()
        if seen == self._seen_plan:
            return
        self._seen_plan = seen
        for item in self._bands:
            self.plot.removeItem(item)
        self._bands = []
        colour = QColor(self.palette().color(QPalette.ColorRole.Text))
        parts = [part for part in plan if part.steps and part.name != STARTS]
        for number, part in enumerate(parts):
            shade = QColor(colour)
            shade.setAlpha(_BAND_ALPHA if number % 2 else 0)
            if part.name == ROUNDING:
                shade = QColor(colours_for(self).middling)
                shade.setAlpha(_RISE_ALPHA)
            band = pyqtgraph.LinearRegionItem(
                (part.first, part.last), movable=False, brush=shade, pen=pyqtgraph.mkPen(None)
            )
            band.setZValue(-10)
            self.plot.addItem(band, ignoreBounds=True)
            self._bands.append(band)
        self._parts = parts
        self._fit_steps()
        self._place_names()

    def _place_names(self) -> None:
        """Puts the names of phases above them."""
        view, ruler = self.plot.getPlotItem().vb, self.ruler
        low, high = view.viewRange()[0]
        left, width = view.sceneBoundingRect().left(), view.width()
        offset = self.plot.mapTo(self, self.plot.viewport().pos()).x() - ruler.x() + left
        scale = width / max(high - low, 1e-9)
        ruler.show_spans(
            [
                Span(
                    PHASES.get(part.name, part.name),
                    offset + (max(part.first, low) - low) * scale,
                    offset + (min(part.last, high) - low) * scale,
                )
                for part in self._parts
                if part.first < high
            ]
        )

    def _fit_steps(self) -> None:
        """Shows all steps of the plan, or half of them, a quarter, …, as long as the bake is in the
        first part. So the range changes a few times, and does not wander."""
        plan, (steps, *_) = (
            self._model.state.bake.progress.plan,
            self._model.state.bake.history.losses(),
        )
        whole = max((part.last for part in plan if part.name != STARTS), default=0)
        if not whole:
            return
        end, latest = float(whole), float(steps[-1]) if len(steps) else 0.0
        while end / 2 > max(_LEAST_PART * whole, _ROOM * latest):
            end /= 2
        self.plot.setXRange(0, end, padding=0.01)

    def _show_ghosts(self) -> None:
        """The ends of earlier bakes of this material, and the curves of those that ran here."""
        for item in self._ghosts:
            self.plot.removeItem(item)
        colour = QColor(self.palette().color(QPalette.ColorRole.Text))
        colour.setAlpha(_GHOST_ALPHA)
        self._ghosts = []
        for version in self._model.state.history.versions[:_MOST_GHOSTS]:
            steps, errors = self._model.state.history.curves.get(version.key, ((), ()))
            if not len(steps) and version.steps and version.error:
                steps, errors = (version.steps,), (version.error,)
            ghost = pyqtgraph.PlotDataItem(
                np.array(steps, float),
                np.array(errors, float),
                pen=pyqtgraph.mkPen(colour, width=1),
                symbol="x" if len(steps) == 1 else None,
                symbolPen=colour,
                symbolBrush=None,
                symbolSize=8,
            )
            ghost.setZValue(-5)
            ghost.setLogMode(False, self.log.isChecked())
            self.plot.addItem(ghost)
            self._ghosts.append(ghost)
        self._show_legend()

    def _show_legend(self) -> None:
        colours = colours_for(self)
        entries = [("●", colours.error, "error"), ("━", colours.raw, "in training")]
        if self._model.state.choices.target_error:
            entries.append(("╌", colours.target, "target"))
        if self._ghosts:
            entries.append(("✕", quiet_text(self.palette()), "earlier bakes"))
        self.legend.setText(
            "&nbsp;&nbsp; ".join(
                f"<span style='color:{colour.name()}'>{mark}</span>&nbsp;{name}"
                for mark, colour, name in entries
            )
        )

    # the crosshair

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() == QEvent.Type.MouseMove:
            self._point_at(event.position())
        elif event.type() == QEvent.Type.Leave:
            self.cross.hide()
            self._show_legend()
        return False

    def _point_at(self, place: QPointF) -> None:
        """Shows the values at a step in place of the legend."""
        view = self.plot.getPlotItem().vb
        step = view.mapSceneToView(self.plot.mapToScene(place.toPoint())).x()
        errors, losses = (
            self._model.state.bake.history.errors(),
            self._model.state.bake.history.losses(),
        )
        if not len(losses[0]):
            return
        parts = []
        for name, (steps, values) in (("error", errors), ("training", losses[::2])):
            if len(steps):
                nearest = int(np.abs(steps - step).argmin())
                parts.append(f"{name} {values[nearest]:.4f}")
        nearest = float(losses[0][int(np.abs(losses[0] - step).argmin())])
        self.cross.setValue(nearest)
        self.cross.show()
        self.legend.setText(f"Step {nearest:,.0f}: {', '.join(parts)}")
