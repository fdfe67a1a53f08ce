"""The page for painted weights: the texture, the brush and its tools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QLabel,
    QSizePolicy,
    QSlider,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from verdigris.core.hosts.host import LARGEST_WEIGHT, NORMAL_WEIGHT, StopsPainting
from verdigris.core.worker.protocol.commands import EVERYWHERE, IN_VIEW, PAINTED
from verdigris.ui.brush.texture_view import ERRORS, WEIGHTS, TextureView
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.paint.weight_map import Brush
from verdigris.ui.qt.binding import bind, blocked_signals
from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.qt.keys import Keys
from verdigris.ui.qt.text_widgets import Line
from verdigris.ui.signals.notices import WARNING
from verdigris.ui.widgets.field_docs import field_docs
from verdigris.ui.widgets.viewport import Viewport

_IMAGES = "Images (*.exr *.png *.tif *.tiff *.jpg *.hdr *.npy)"
_DOCS = field_docs(Brush)
_FOCUS = (
    ("Train everywhere", EVERYWHERE),
    ("Train painted places only", PAINTED),
    ("Train visible places more", IN_VIEW),
)


class PaintPage(QWidget):
    """Paints weights, and shows the error by place."""

    def __init__(self, model: PanelModel, viewport: Viewport) -> None:
        super().__init__()
        self._model, self._viewport = model, viewport
        self.texture = TextureView(model)
        self.layer = QComboBox()
        self.layer.addItem("Painted weights", WEIGHTS)
        self.layer.addItem("Error by place", ERRORS)
        self.layer.setToolTip("The layer over the texture")
        self.focus = QComboBox()
        for name, where in _FOCUS:
            self.focus.addItem(name, where)
        self.focus.setToolTip("The places that are trained. You can change this during a bake.")
        self.legend = Line()
        self.in_view = self._button("Paint in view", "The brush also paints in the viewport")
        self.in_view.setCheckable(True)
        self.erase = self._button("Erase", _DOCS.get("erases", ""))
        self.erase.setCheckable(True)
        self.fill = self._button("Fill", "Sets the weight of the brush everywhere")
        self.clear = self._button("Clear", "Sets the normal weight, 1, everywhere")
        self.invert = self._button("Invert", "Swaps high and low weights")
        self.undo = self._button("Undo", "Undoes the last stroke (Ctrl+Z)")
        self.redo = self._button("Redo", "Repeats the undone stroke (Ctrl+Shift+Z)")
        application = model.host.name.split()[0] if model.host.name else "scene"
        self.scene_brush = self._button(
            f"Paint in {application}",
            "Starts the application's own brush on the mesh in the viewport, or on the first mesh "
            "of the material",
        )
        self.stop_brush = self._button(
            f"Stop in {application}", "Ends the brush and displays the materials again"
        )
        self.take = self._button(
            "Take weights", "Reads the weights that are painted on the meshes of the material"
        )
        self.load = self._button("Import…", "Reads weights from an image")
        self.save = self._button("Export…", "Writes weights to an EXR file")
        self.size = self._slider(1, 50, "radius")
        self.weight = self._slider(0, 10 * int(LARGEST_WEIGHT), "weight")
        self.strength = self._slider(1, 100, "strength")
        self._layout()
        self._bind()
        bind(self, model.meshes.changed, self._show_scene_tools)
        bind(self, model.weights.changed, self._show)
        bind(self, model.focus_changed, self._show)
        bind(self, model.pictures.error_map_changed, self._show_legend)

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(text=text)
        button.setToolTip(tip)
        return button

    def _slider(self, low: int, high: int, field: str) -> QSlider:
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(low, high)
        # aligned with its label
        slider.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        slider.setToolTip(_DOCS.get(field, ""))
        slider.setAccessibleName(field)
        return slider

    def _layout(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        choices, tools = QWidget(), QWidget()
        row = FlowLayout(choices)
        for widget in (self.layer, self.focus):
            row.addWidget(widget)
        row = FlowLayout(tools)
        for tool in (
            *(self.in_view, self.erase, self.fill, self.clear, self.invert),
            *(self.undo, self.redo, self.scene_brush, self.stop_brush),
            *(self.take, self.load, self.save),
        ):
            row.addWidget(tool)
        sliders = QFormLayout()
        sliders.setVerticalSpacing(2)
        self.weight_label = QLabel()
        sliders.addRow("Size", self.size)
        sliders.addRow(self.weight_label, self.weight)
        sliders.addRow("Strength", self.strength)
        self.weight_label.setMinimumWidth(self.fontMetrics().horizontalAdvance("Weight 8.0 "))
        column.addWidget(choices)
        column.addWidget(self.texture, 1)
        column.addWidget(self.legend)
        column.addLayout(sliders)
        column.addWidget(tools)
        self._rows = (choices, tools)

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Reserves the height of wrapped rows, which Qt's layouts ignore."""
        super().resizeEvent(event)
        self._fit_rows()

    def _fit_rows(self) -> None:
        for row in self._rows:
            margins = self.layout().contentsMargins()
            room = self.width() - margins.left() - margins.right()
            row.setMinimumHeight(row.layout().heightForWidth(room))

    def _bind(self) -> None:
        model, weights = self._model, self._model.weights
        brush = self.texture.brush
        self.size.setValue(round(100 * brush.radius))
        self.weight.setValue(round(10 * brush.weight))
        self.strength.setValue(round(100 * brush.strength))
        for slider in (self.size, self.weight, self.strength):
            slider.valueChanged.connect(lambda _: self._set_brush())
        self.erase.toggled.connect(lambda _: self._set_brush())
        self.layer.activated.connect(self._choose_layer)
        self.focus.activated.connect(lambda index: model.set_focus(self.focus.itemData(index)))
        self.fill.clicked.connect(lambda _: weights.fill(self.texture.brush.weight))
        self.clear.clicked.connect(lambda _: weights.fill(NORMAL_WEIGHT))
        self.invert.clicked.connect(lambda _: weights.invert())
        self.undo.clicked.connect(lambda _: weights.undo())
        self.redo.clicked.connect(lambda _: weights.redo())
        self.scene_brush.clicked.connect(lambda _: model.paint_in_scene())
        self.stop_brush.clicked.connect(lambda _: model.stop_painting_in_scene())
        self.take.clicked.connect(lambda _: model.take_scene_paint())
        self.load.clicked.connect(lambda _: self._import())
        self.save.clicked.connect(lambda _: self._export())
        self.in_view.toggled.connect(self._paint_in_view)
        self._viewport.painted.connect(self._paint_on_view)
        self._viewport.stroke_ended.connect(weights.end_stroke)
        keys = Keys(self)
        keys.add(QKeySequence.StandardKey.Undo, weights.undo)
        keys.add(QKeySequence.StandardKey.Redo, weights.redo)
        self._set_brush()

    def _show_scene_tools(self) -> None:
        """Shows the tools for the meshes and the brush of the application, if there are any."""
        has_meshes = bool(self._model.meshes.names)
        self.scene_brush.setVisible(self._model.host.can_paint)
        self.scene_brush.setEnabled(has_meshes)
        self.stop_brush.setVisible(isinstance(self._model.host, StopsPainting))
        self.take.setVisible(has_meshes or self._model.host.can_paint)
        self.take.setEnabled(has_meshes)
        self._fit_rows()

    def _set_brush(self) -> None:
        self.texture.brush = replace(
            self.texture.brush,
            radius=self.size.value() / 100,
            weight=self.weight.value() / 10,
            strength=self.strength.value() / 100,
            erases=self.erase.isChecked(),
        )
        self.weight_label.setText(f"Weight {self.texture.brush.weight:.1f}")
        self.texture.update()

    def _choose_layer(self, index: int) -> None:
        self.texture.show_layer(self.layer.itemData(index))
        self._show_legend()

    def _paint_in_view(self, paints: bool) -> None:
        self._viewport.paints = paints
        self._model.set_view(wants_places=paints)

    def _paint_on_view(self, x: float, y: float) -> None:
        found = self._model.pictures.uv_at(x, y)
        if found is not None:
            self._model.weights.begin_stroke()
            self._model.weights.dab(*found, self.texture.brush)

    def _import(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Import", "", _IMAGES)
        if path:
            self._model.read_map(path)

    def _export(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Export", "weights.exr", "OpenEXR (*.exr)")
        if not path:
            return
        file = path if path.lower().endswith(".exr") else f"{path}.exr"
        if file != path and Path(file).exists():
            # the dialog has asked about the name without .exr
            text = f"{file} exists already. Choose that name in the dialog to replace it."
            self._model.notices.add(WARNING, text)
        else:
            self._model.write_map(file)

    def _show(self) -> None:
        model, weights = self._model, self._model.weights
        self.undo.setEnabled(weights.can_undo)
        self.redo.setEnabled(weights.can_redo)
        with blocked_signals(self.focus):
            self.focus.setCurrentIndex(self.focus.findData(model.focus.where))
        self._show_legend()

    def _show_legend(self) -> None:
        if self.texture.shows == ERRORS:
            top = self.texture.largest_error
            text = f"Bright: a log error of {top:.3g} or more" if top else "Bright: a large error"
        else:
            excluded = self._model.weights.excluded
            text = "Green: trained more. Violet: trained less" + (
                f"; {100 * excluded:.0f}% not trained." if excluded else "."
            )
        self.legend.setText(text)
