"""The figures under the loss plot: errors, the size of the result, and its cost."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFormLayout, QPushButton, QSizePolicy, QWidget

from verdigris.core.base.text import format_bytes
from verdigris.core.bundle.cost.source_bytes import describe_larger
from verdigris.core.material.analyse.features import has_heights
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.text_widgets import Line
from verdigris.ui.signals import capitalise
from verdigris.ui.style.colours import colours_for
from verdigris.ui.style.metrics import GAP, HALF, small_font
from verdigris.ui.style.section import Fold
from verdigris.ui.widgets.wording import format_nanoseconds

_ERROR = (
    "The difference between the neural material and the material, at places and directions that "
    "were not trained. Lower is better; 0.0003 is invisible."
)


class Figures(QWidget):
    """Lines of text and the button for a forecast."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.error = self._line(_ERROR)
        self.others = self._line(
            "Sphere: how alike two pictures of a sphere are, in dB. Higher is better; from 55 dB "
            "on, they look the same.\n"
            "Visible difference: what an eye sees of the sphere when the pictures alternate, 0 to "
            "1. Lower is better.\n"
            "Sky: the error of the light that a median place reflects from a sky with a sun, and "
            "the share of all light that is gained or lost. Nearer to 0 is better."
        )
        self.size = self._line("The size of the neural material: its texture and its small network")
        self.answer = self._line("Whether a bake makes the material faster")
        self.verdict = self._line("Times to shade the material, and bytes of its images")
        self.fold = Fold("Times and bytes")
        self.fold.toggled.connect(lambda _: self._show_forecast())
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(GAP)
        form.setVerticalSpacing(HALF)
        form.addRow("Error", self.error)
        form.addRow(self.others)
        form.addRow("Result", self.size)
        self.measure = QPushButton("&Should I bake this?")
        self.measure.setToolTip(
            "Measures how long this device takes to shade the material, and its neural material"
        )
        self.measure.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.measure.clicked.connect(lambda _: model.request_forecast())
        form.addRow(self.measure)
        for each in (self.answer, self.fold, self.verdict):
            form.addRow(each)
        self._form = form
        for each in (self.others, self.verdict):
            each.setFont(small_font(each))
        bind(self, model.state.bake.history_changed, self._show_errors)
        bind(self, model.state.bake.errors_changed, self._show_errors)
        bind(self, model.state.choices_changed, self._show_errors)
        bind(self, model.state.forecast_changed, self._show_forecast)
        bind(self, model.link.state_changed, self._enable)
        bind(self, model.state.report_changed, self._enable)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's names, here and below
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_form"):
            self._show_errors()

    def resizeEvent(self, event: object) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Reserves the height of wrapped lines, which Qt's splitters ignore."""
        # accounts for lines that were just shown or hidden
        self._form.invalidate()
        self.setMinimumHeight(max(0, self._form.heightForWidth(self.width())))

    def _line(self, tip: str) -> Line:
        label = Line()
        label.setText("-")
        label.setToolTip(tip)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return label

    def _show_errors(self) -> None:
        state = self._model.state
        errors, target = state.bake.errors, state.choices.target_error or 0.0
        error = errors.get("log_mae")
        text = "-" if error is None else f"{error:.4f}"
        # most of a large share is in places that are almost black: it says little at first sight
        share = errors.get("relative_l1")
        also = f" It is {share:.1%} of the light." if share is not None else ""
        self.error.setToolTip(_ERROR + also)
        reached = error is not None and target > 0 and error <= target
        if target > 0:
            text += f"  (stops at {target:g})"
        # not by its colour alone
        self.error.setText(f"{text} ✓" if reached else text)
        self.error.setStyleSheet(f"color: {colours_for(self).good.name()}" if reached else "")
        parts = []
        if errors.get("psnr") is not None:
            parts.append(f"sphere {errors['psnr']:.1f} dB")
        if errors.get("ldr_flip") is not None:
            parts.append(f"visible difference {errors['ldr_flip']:.3f}")
        if None not in (errors.get("sky_median"), errors.get("sky_bias")):
            parts.append(f"sky {errors['sky_median']:.1%} (light {errors['sky_bias']:+.1%})")
        self.others.setText(capitalise(", ".join(parts)))
        # before a bake there is nothing to show, and the verdict shows the others with their bands
        self._form.setRowVisible(self.error, error is not None or target > 0)
        self.others.setVisible(bool(parts) and not self._model.state.bake.measured)
        self._fit()

    def _show_forecast(self) -> None:
        forecast = self._model.state.forecast
        self._form.setRowVisible(self.size, bool(forecast))
        if not forecast:
            self.size.setText("-")
            for each in (self.answer, self.fold, self.verdict):
                each.hide()
            self._fit()
            return
        texture, decoder = forecast.get("texture_bytes", 0), forecast.get("decoder_bytes", 0)
        most = "at most " if forecast.get("may_be_smaller") else ""
        size = f" ({forecast['width']} x {forecast['height']})" if forecast.get("width") else ""
        text = f"{most}{format_bytes(texture)} texture{size}, {format_bytes(decoder)} network"
        parts = (self._model.state.report or {}).get("parts", ())
        # a bake chooses its size, and counts it then
        text += ", and a height map" if has_heights(parts) and not size else ""
        self.size.setText(text)
        lines = []
        if forecast.get("source_texture_bytes"):
            compressed = forecast.get("source_compressed_bytes") or 0
            lines.append(
                f"Source images: {format_bytes(compressed)} compressed, "
                f"{format_bytes(forecast['source_texture_bytes'])} as they are."
            )
            if not most and (excess := describe_larger(texture + decoder, compressed)):
                lines.append(capitalise(excess) + ".")
        if forecast.get("nanoseconds") and forecast.get("source_nanoseconds"):
            neural = format_nanoseconds(forecast["nanoseconds"])
            graph = format_nanoseconds(forecast["source_nanoseconds"])
            lines.append(f"Time to shade a sample: neural {neural}, material {graph}.")
        if forecast.get("verdict"):
            lines.append(capitalise(str(forecast["verdict"])) + ".")
        self.verdict.setText(" ".join(lines))
        answer = str(forecast.get("answer") or "")
        self.answer.setText(answer)
        self.answer.setVisible(bool(answer))
        # the figures are behind a click, once there is an answer
        self.fold.setVisible(bool(answer))
        self.verdict.setVisible(bool(lines) and (self.fold.isChecked() or not answer))
        self._fit()

    def _enable(self) -> None:
        self.measure.setEnabled(self._model.can_forecast)
        self.measure.setHidden(self._model.state.is_refused)
