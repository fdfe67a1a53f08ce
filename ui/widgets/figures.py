"""Figures: how large the error is, what the result will weigh and cost, and whether to bake it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFormLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from verdigris.core.pictures.metrics import SampleMetrics
from verdigris.ui.binding import follow
from verdigris.ui.docs import field_docs
from verdigris.ui.look import colours_for
from verdigris.ui.model import PanelModel
from verdigris.ui.widgets.loss_plot import LossPlot
from verdigris.ui.widgets.told_text import Line
from verdigris.ui.words import nanoseconds, size_of

_DOCS = field_docs(SampleMetrics)


class Figures(QWidget):
    """A few lines under the plot."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.error = self._line(
            "On samples that were not trained, less is better. " + _DOCS.get("log_mae", "")
        )
        self.others = self._line(
            "SMAPE: the mean relative error, from 0 to 2. Wrong light: the share of the reflected "
            "light that is too much or too little. Less of both is better.\n"
            "Of the picture of a sphere: its likeness in dB, where more is better and 40 is hardly "
            "told apart; and FLIP, the difference that is seen, from 0 to 1."
        )
        self.size = self._line("What the game loads: the latent texture and the decoder")
        self.verdict = self._line("Whether it is worth baking")
        form = QFormLayout(self)
        form.setContentsMargins(4, 0, 4, 0)
        form.setVerticalSpacing(2)
        form.addRow("Error", self.error)
        form.addRow(self.others)
        form.addRow("Result", self.size)
        form.addRow(self.verdict)
        self.ask = QPushButton("Should I &bake this?")
        self.ask.setToolTip("Measures what the material costs on this device, baked and not")
        self.ask.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.ask.clicked.connect(lambda _: model.ask_forecast())
        form.addRow(self.ask)
        self._form = form
        follow(self, model.bake.history_changed, self._show_errors)
        follow(self, model.bake.errors_changed, self._show_errors)
        follow(self, model.choices_changed, self._show_errors)
        follow(self, model.forecast_changed, self._show_forecast)
        follow(self, model.state_changed, self._enable)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's names, here and below
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_form"):
            self._show_errors()

    def resizeEvent(self, event: object) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Lines that break are higher than Qt's splitters expect."""
        # what was shown or hidden just now counts
        self._form.invalidate()
        self.setMinimumHeight(self._form.heightForWidth(self.width()))

    def _line(self, tip: str) -> Line:
        label = Line()
        label.setText("-")
        label.setToolTip(tip)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    def _show_errors(self) -> None:
        errors, target = self._model.bake.errors, self._model.choices.target_error
        error = errors.get("log_mae")
        text = "-" if error is None else f"{error:.4f}"
        if target > 0:
            text += f"  (stops at {target:g})"
        reached = error is not None and target > 0 and error <= target
        self.error.setText(text)
        self.error.setStyleSheet(f"color: {colours_for(self).good.name()}" if reached else "")
        parts = []
        if errors.get("smape") is not None:
            parts.append(f"SMAPE {errors['smape']:.3f}")
        if errors.get("relative_l1") is not None:
            parts.append(f"wrong light {100 * errors['relative_l1']:.1f}%")
        if errors.get("psnr") is not None:
            parts.append(f"sphere {errors['psnr']:.1f} dB")
        if errors.get("ldr_flip") is not None:
            parts.append(f"FLIP {errors['ldr_flip']:.3f}")
        self.others.setText(", ".join(parts))
        self.others.setVisible(bool(parts))
        self._fit()

    def _show_forecast(self) -> None:
        forecast = self._model.forecast
        if not forecast:
            self.size.setText("-")
            self.verdict.hide()
            self._fit()
            return
        text = (
            f"{size_of(forecast.get('texture_bytes', 0))} texture, "
            f"{size_of(forecast.get('decoder_bytes', 0))} decoder"
        )
        self.size.setText(text)
        lines = []
        if forecast.get("source_texture_bytes"):
            lines.append(f"Its images have {size_of(forecast['source_texture_bytes'])}.")
        if forecast.get("nanoseconds") and forecast.get("source_nanoseconds"):
            neural, graph = forecast["nanoseconds"], forecast["source_nanoseconds"]
            lines.append(f"Baked {nanoseconds(neural)} a sample, its graph {nanoseconds(graph)}.")
        if forecast.get("verdict"):
            verdict = str(forecast["verdict"])
            lines.append(verdict[:1].upper() + verdict[1:] + ".")
        self.verdict.setText(" ".join(lines))
        self.verdict.setVisible(bool(lines))
        self._fit()

    def _enable(self) -> None:
        self.ask.setEnabled(self._model.can_forecast)


class Learning(QWidget):
    """Plot over figures."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self.plot = LossPlot(model)
        self.figures = Figures(model)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.plot, 1)
        column.addWidget(self.figures)
