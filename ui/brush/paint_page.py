"""The page for painted weights: the texture, the brush and its tools."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFileDialog, QFormLayout, QVBoxLayout, QWidget

from verdigris.core.hosts.host import BRUSH_WEIGHT, LARGEST_WEIGHT, NORMAL_WEIGHT
from verdigris.core.importance.maps import weights_from_error
from verdigris.ui.brush.paint_controls import (
    COMPARE,
    FOCUS,
    IMAGES,
    LAYERS,
    MIRRORS,
    PENS,
    SPACES,
    Dial,
    button,
    choice,
    flow_of,
)
from verdigris.ui.brush.paint_layer import PaintLayer, Pen
from verdigris.ui.brush.texture_view import ERRORS, TextureView
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.paint.brush_space import OBJECT
from verdigris.ui.paint.brush_tools import BrushTools
from verdigris.ui.paint.weight_map import SIZE
from verdigris.ui.qt.binding import bind, blocked_signals
from verdigris.ui.qt.keys import Keys
from verdigris.ui.qt.scrub import Scrub, label_of
from verdigris.ui.qt.text_widgets import Line
from verdigris.ui.signals import WARNING, capitalise
from verdigris.ui.style.metrics import GAP, HALF
from verdigris.ui.viewport.viewport import Viewport


class PaintPage(QWidget):
    """Paints weights, and shows the error by place."""

    def __init__(self, model: PanelModel, viewport: Viewport) -> None:
        super().__init__()
        self._model, self._viewport = model, viewport
        self.tools = BrushTools(
            model.state.weights,
            lambda: model.state.meshes.in_view(model.state.view),
            # the shape in the view, and the uv of its pixels
            lambda: (model.state.view.shape, model.state.pictures.places),
        )
        self.overlay = PaintLayer(model, viewport, self.tools)
        self._pen = Pen(viewport, self.tools)
        self.texture = TextureView(model, self.tools)
        self.legend, self.effect = Line(), Line()
        self._make_choices()
        self._make_buttons(model.host.name)
        self._make_dials()
        self._layout()
        self._bind()

    def _make_choices(self) -> None:
        self.layer = choice(LAYERS, "Layer", "The layer over the texture")
        self.focus = choice(
            FOCUS, "Trained places", "The places that are trained. You can change this in a bake."
        )
        self.space = choice(
            SPACES,
            "Size of the brush in",
            "What the size of the brush is measured in: the texture, the object, or the view",
        )
        self.mirror = choice(MIRRORS, "Mirror", "Paints on the other side, too")
        self.pen = choice(PENS, "Pressure of the pen", "What the pressure of a pen changes")

    def _make_buttons(self, host: str) -> None:
        self.in_view = button("Paint in view", "brush", "The brush also paints in the viewport")
        self.in_view.setCheckable(True)
        self.erase = button("Erase", "erase", "Paints the normal weight, 1")
        self.erase.setCheckable(True)
        self.undo = button("Undo", "undo", "Undoes the last stroke (Ctrl+Z)")
        self.redo = button("Redo", "redo", "Repeats the undone stroke (Ctrl+Shift+Z)")
        self.from_error = button(
            "Paint from error", "target", "Raises the weights where the error is large"
        )
        self.fill = button("Fill", "fill", "Sets the weight of the brush everywhere")
        self.clear = button("Clear", "clear", "Sets the normal weight, 1, everywhere")
        self.invert = button("Invert", "invert", "Swaps high and low weights")
        application = host.split()[0] if host else "scene"
        self.scene_brush = button(
            f"Paint in {application}",
            "brush",
            "Opens the application's own brush on the mesh in the viewport, or on the first mesh "
            "of the material",
        )
        self.stop_brush = button(
            f"Stop in {application}", "cross", "Ends the brush and displays the materials again"
        )
        self.take = button(
            "Take weights", "import", "Reads the weights that are painted on the material's meshes"
        )
        self.load = button("Import…", "import", "Reads weights from an image")
        self.save = button("Export…", "export", "Writes weights to an EXR file")

    def _make_dials(self) -> None:
        change = self.tools.set
        self.size = Dial(
            "Size",
            1,
            50,
            1,
            "%",
            "The radius of the brush ([ and ])",
            lambda value: change(radius=value / 100),
        )
        self.weight = Dial(
            "Weight",
            0,
            LARGEST_WEIGHT,
            0.1,
            "",
            "1 is normal, 4 is four times as important, 0 is not trained",
            lambda value: change(weight=value),
        )
        self.strength = Dial(
            "Strength",
            1,
            100,
            1,
            "%",
            "How much of the weight one touch applies",
            lambda value: change(strength=value / 100),
        )
        self.opacity = Dial(
            "Overlay",
            10,
            100,
            1,
            "%",
            "How much the paint covers the pictures",
            lambda value: change(opacity=value / 100),
        )

    def _layout(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        rows = (
            (self.in_view, self.erase, self.undo, self.redo),
            (self.layer, self.focus),
            (self.from_error, self.fill, self.clear, self.invert),
            (self.scene_brush, self.stop_brush, self.take, self.load, self.save),
        )
        self._rows = [flow_of(*widgets) for widgets in rows]
        dials = QFormLayout()
        dials.setHorizontalSpacing(GAP)
        dials.setVerticalSpacing(HALF)
        for name, dial in (
            ("Size", self.size),
            ("Weight", self.weight),
            ("Strength", self.strength),
        ):
            dials.addRow(name, dial)
            Scrub(label_of(dials, dial), dial.box)
            if dial is self.size:
                dials.addRow("Size in", self.space)
        more = QFormLayout()
        more.setHorizontalSpacing(GAP)
        more.setVerticalSpacing(HALF)
        more.addRow("Overlay", self.opacity)
        Scrub(label_of(more, self.opacity), self.opacity.box)
        more.addRow("Mirror", self.mirror)
        more.addRow("Pen", self.pen)
        top, choices, tools, files = self._rows
        # what is used in the viewport comes first
        column.addWidget(self.effect)
        column.addWidget(top)
        column.addLayout(dials)
        column.addWidget(tools)
        column.addWidget(self.legend)
        column.addWidget(choices)
        column.addWidget(self.texture)
        column.addLayout(more)
        column.addWidget(files)

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Reserves the height of wrapped rows, which Qt's layouts ignore."""
        super().resizeEvent(event)
        self._fit_rows()

    def _fit_rows(self) -> None:
        for row in self._rows:
            row.setMinimumHeight(row.layout().heightForWidth(self.width()))

    def _bind(self) -> None:
        model, weights = self._model, self._model.state.weights
        self.erase.toggled.connect(lambda is_on: self.tools.set(erases=is_on))
        self.layer.activated.connect(self._choose_layer)
        self.focus.activated.connect(lambda index: model.set_focus(self.focus.itemData(index)))
        self.mirror.activated.connect(
            lambda index: self.tools.set(mirror=self.mirror.itemData(index))
        )
        self.space.activated.connect(lambda index: self.tools.set(space=self.space.itemData(index)))
        self.pen.activated.connect(
            lambda index: self.tools.set(pen_changes=self.pen.itemData(index))
        )
        self.fill.clicked.connect(lambda _: weights.fill(self.tools.brush.weight))
        self.clear.clicked.connect(lambda _: weights.fill(NORMAL_WEIGHT))
        self.invert.clicked.connect(lambda _: weights.invert())
        self.from_error.clicked.connect(lambda _: self._paint_from_error())
        self.undo.clicked.connect(lambda _: weights.undo())
        self.redo.clicked.connect(lambda _: weights.redo())
        self.scene_brush.clicked.connect(lambda _: model.scene.start_painting())
        self.stop_brush.clicked.connect(lambda _: model.scene.stop_painting())
        self.take.clicked.connect(lambda _: model.scene.take_paint())
        self.load.clicked.connect(lambda _: self._import())
        self.save.clicked.connect(lambda _: self._export())
        self.in_view.toggled.connect(self._paint_in_view)
        self._viewport.painted.connect(self._paint_on_view)
        self._viewport.stroke_ended.connect(weights.end_stroke)
        # an application has its own undo while nothing is painted in the view
        for widget, holds in ((self, lambda: True), (self._viewport, self.in_view.isChecked)):
            keys = Keys(widget)
            keys.add(QKeySequence.StandardKey.Undo, weights.undo, holds)
            keys.add(QKeySequence.StandardKey.Redo, weights.redo, holds)
        bind(self, self.tools.changed, self._show_tools)
        bind(self, model.state.view_changed, self._show_tools)
        bind(self, model.state.meshes.changed, self._show_scene_tools)
        for signal in (
            weights.changed,
            model.state.focus_changed,
            model.state.pictures.error_map_changed,
            model.state.pictures.changed,
            model.state.choices_changed,
            model.link.state_changed,
        ):
            bind(self, signal, self._show)

    def _show_tools(self) -> None:
        tools = self.tools
        if tools.space == OBJECT:
            # in units of the scene, which an artist knows
            self.size.show_unit(tools.surface.extent / 100, " units")
        else:
            self.size.show_unit(1.0, "%")
        self.size.show_value(100 * tools.brush.radius)
        self.weight.show_value(tools.brush.weight)
        self.strength.show_value(100 * tools.brush.strength)
        self.opacity.show_value(100 * tools.opacity)

    def _show_scene_tools(self) -> None:
        """Shows the tools for the meshes and the brush of the application, if there are any."""
        has_meshes = bool(self._model.state.meshes.names)
        self.scene_brush.setVisible(self._model.host.can_paint)
        self.scene_brush.setEnabled(has_meshes)
        self.stop_brush.setVisible(self._model.host.can_stop_painting)
        self.take.setVisible(has_meshes or self._model.host.can_paint)
        self.take.setEnabled(has_meshes)
        self._fit_rows()

    def _choose_layer(self, index: int) -> None:
        self.texture.show_layer(self.layer.itemData(index))
        self._show()

    def _paint_in_view(self, paints: bool) -> None:
        self._viewport.paints = paints
        self._viewport.update()
        self._model.set_view(wants_places=paints)

    def _paint_on_view(self, x: float, y: float) -> None:
        found = self._model.state.pictures.uv_at(x, y)
        if found is not None:
            self._model.state.weights.begin_stroke()
            self.tools.dab(*found, self._pen.pressure, self._pen.erases)

    def _paint_from_error(self) -> None:
        errors = self._model.state.pictures.error_map
        if errors is not None:
            weights = weights_from_error(errors, SIZE, NORMAL_WEIGHT, BRUSH_WEIGHT)
            self._model.state.weights.replace(weights)

    def _import(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Import", "", IMAGES)
        if path:
            self._model.read_map(path)

    def _export(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Export", "weights.exr", "OpenEXR (*.exr)")
        if not path:
            return
        file = path if path.lower().endswith(".exr") else f"{path}.exr"
        if file != path and Path(file).exists():
            # the dialog has confirmed the name without .exr
            text = f"{file} exists already. Choose that name in the dialog to replace it."
            self._model.state.notices.add(WARNING, text)
        else:
            self._model.write_map(file)

    def _show(self) -> None:
        model, weights = self._model, self._model.state.weights
        self.undo.setEnabled(weights.can_undo)
        self.redo.setEnabled(weights.can_redo)
        self.from_error.setEnabled(model.state.pictures.error_map is not None)
        with blocked_signals(self.focus):
            self.focus.setCurrentIndex(self.focus.findData(model.state.focus.where))
        self.legend.setText(self._legend())
        effect, is_painted = model.state.effects.found, not weights.is_constant
        text = effect.text if effect is not None else ""
        if not text and is_painted and not model.state.effects.can_compare(model.state.bake_key):
            text = COMPARE
        self.effect.setText(text)
        self.effect.setVisible(bool(text))

    def _legend(self) -> str:
        if self.texture.shows == ERRORS:
            top = self.texture.largest_error
            return f"Bright: an error of {top:.3g} or more" if top else "Bright: a large error"
        more, less = (ink.name for ink in self.texture.inks)
        excluded = self._model.state.weights.excluded
        return f"{capitalise(more)} ///: trained more. {capitalise(less)} \\\\\\: trained less" + (
            f"; {100 * excluded:.0f}% not trained." if excluded else "."
        )
