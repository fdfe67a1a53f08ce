"""Brush, fill, undo and files of painted weights, around the texture view."""

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

from verdigris.core.hosts.host import NORMAL_WEIGHT
from verdigris.core.worker.protocol.commands import EVERYWHERE, IN_VIEW, PAINTED
from verdigris.ui.binding import follow, quietly
from verdigris.ui.docs import field_docs
from verdigris.ui.keys import Keys
from verdigris.ui.model import PanelModel
from verdigris.ui.notices import WARNING
from verdigris.ui.weights import LARGEST_WEIGHT, Brush
from verdigris.ui.widgets.flow_layout import FlowLayout
from verdigris.ui.widgets.texture_view import ERRORS, WEIGHTS, TextureView
from verdigris.ui.widgets.told_text import Line
from verdigris.ui.widgets.viewport import Viewport

_IMAGES = "Images (*.exr *.png *.tif *.tiff *.jpg *.hdr *.npy)"
_DOCS = field_docs(Brush)
_FOCUS = (
    ("Train everywhere", EVERYWHERE),
    ("Train only what is painted", PAINTED),
    ("Train most what is in view", IN_VIEW),
)


class PaintPage(QWidget):
    """Paint what matters; see where the error is."""

    def __init__(self, model: PanelModel, viewport: Viewport) -> None:
        super().__init__()
        self._model, self._viewport = model, viewport
        self.texture = TextureView(model)
        self.layer = QComboBox()
        self.layer.addItem("Painted weights", WEIGHTS)
        self.layer.addItem("Error by place", ERRORS)
        self.layer.setToolTip("What is drawn over the texture")
        self.focus = QComboBox()
        for name, where in _FOCUS:
            self.focus.addItem(name, where)
        self.focus.setToolTip("Where the training looks; it may change while it trains")
        self.legend = Line()
        self.in_view = self._button("Paint in view", "The brush paints on the viewport, too")
        self.in_view.setCheckable(True)
        self.erase = self._button("Erase", _DOCS.get("erases", ""))
        self.erase.setCheckable(True)
        self.fill = self._button("Fill", "The brush's weight everywhere")
        self.clear = self._button("Clear", "Every place matters the same")
        self.invert = self._button("Invert", "What mattered most matters least")
        self.undo = self._button("Undo", "Takes the last stroke back (Ctrl+Z)")
        self.redo = self._button("Redo", "Does it again (Ctrl+Shift+Z)")
        application = model.host.name.split()[0] if model.host.name else "scene"
        self.scene_brush = self._button(
            f"Paint in {application}",
            "Starts the application's own brush on the mesh that is shown, or on the material's "
            "first",
        )
        self.take = self._button(
            "Take weights", "Takes what is painted on the material's meshes; one step of undo"
        )
        self.load = self._button("Import…", "Weights from an image")
        self.save = self._button("Export…", "Weights to an EXR file")
        self.size = self._slider(1, 50, "radius")
        self.weight = self._slider(0, 10 * int(LARGEST_WEIGHT), "weight")
        self.strength = self._slider(1, 100, "strength")
        self._layout()
        self._bind()
        follow(self, model.meshes.changed, self._offer_scene)
        follow(self, model.weights.changed, self._show)
        follow(self, model.focus_changed, self._show)
        follow(self, model.pictures.error_map_changed, self._show_legend)

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(text=text)
        button.setToolTip(tip)
        return button

    def _slider(self, low: int, high: int, field: str) -> QSlider:
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(low, high)
        # as high as its name, and in the middle of that
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
            *(self.undo, self.redo, self.scene_brush, self.take, self.load, self.save),
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
        """Rows that break are higher than Qt's layouts expect."""
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
            slider.valueChanged.connect(lambda _: self._take_brush())
        self.erase.toggled.connect(lambda _: self._take_brush())
        self.layer.activated.connect(self._choose_layer)
        self.focus.activated.connect(lambda index: model.set_focus(self.focus.itemData(index)))
        self.fill.clicked.connect(lambda _: weights.fill(self.texture.brush.weight))
        self.clear.clicked.connect(lambda _: weights.fill(NORMAL_WEIGHT))
        self.invert.clicked.connect(lambda _: weights.invert())
        self.undo.clicked.connect(lambda _: weights.undo())
        self.redo.clicked.connect(lambda _: weights.redo())
        self.scene_brush.clicked.connect(lambda _: model.paint_in_scene())
        self.take.clicked.connect(lambda _: model.take_scene_paint())
        self.load.clicked.connect(lambda _: self._import())
        self.save.clicked.connect(lambda _: self._export())
        self.in_view.toggled.connect(self._paint_in_view)
        self._viewport.painted.connect(self._paint_on_view)
        self._viewport.stroke_ended.connect(weights.end_stroke)
        keys = Keys(self)
        keys.add(QKeySequence.StandardKey.Undo, weights.undo)
        keys.add(QKeySequence.StandardKey.Redo, weights.redo)
        self._take_brush()

    def _offer_scene(self) -> None:
        """What needs a mesh of the scene, or its brush, is there where these are."""
        has_meshes = bool(self._model.meshes.names)
        self.scene_brush.setVisible(self._model.host.can_paint)
        self.scene_brush.setEnabled(has_meshes)
        self.take.setVisible(has_meshes or self._model.host.can_paint)
        self.take.setEnabled(has_meshes)
        self._fit_rows()

    def _take_brush(self) -> None:
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
        self._model.look(wants_places=paints)

    def _paint_on_view(self, x: float, y: float) -> None:
        found = self._model.pictures.place_at(x, y)
        if found is not None:
            self._model.weights.begin_stroke()
            self._model.weights.dab(*found, self.texture.brush)

    def _import(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Image of weights", "", _IMAGES)
        if path:
            self._model.read_map(path)

    def _export(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Weights", "weights.exr", "OpenEXR (*.exr)")
        if not path:
            return
        whole = path if path.lower().endswith(".exr") else f"{path}.exr"
        if whole != path and Path(whole).exists():
            # the dialog has asked about another name
            what = f"{whole} is there already: choose that very name to replace it."
            self._model.notices.tell(WARNING, what)
        else:
            self._model.write_map(whole)

    def _show(self) -> None:
        model, weights = self._model, self._model.weights
        self.undo.setEnabled(weights.can_undo)
        self.redo.setEnabled(weights.can_redo)
        with quietly(self.focus):
            self.focus.setCurrentIndex(self.focus.findData(model.focus.where))
        self._show_legend()

    def _show_legend(self) -> None:
        if self.texture.shows == ERRORS:
            top = self.texture.largest_error
            text = f"Bright: log error of {top:.3g} or more" if top else "Bright: large error"
        else:
            left_out = self._model.weights.left_out
            text = "Green: trained more than the rest. Violet: less" + (
                f"; {100 * left_out:.0f}% not at all." if left_out else "."
            )
        self.legend.setText(text)
