"""The controls of the viewport: layout, shape, mip level, exposure."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from verdigris.core.worker.protocol.commands import LARGEST_LEVEL, View
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind, blocked_signals
from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.qt.number_boxes import RealBox, WholeBox
from verdigris.ui.widgets.field_docs import field_docs
from verdigris.ui.widgets.viewport import MODES, NAMES, SIDE_BY_SIDE, WIPE, Viewport

_MESHES = "Meshes (*.obj *.usd *.usda *.usdc *.usdz)"
_MESH_FILE, _SCENE_MESH = "mesh", "scene"
_MODE_NAMES = {WIPE: "Wipe", SIDE_BY_SIDE: "Side by side", **NAMES}
_DOCS = field_docs(View)


class ViewBar(QWidget):
    """A row of controls that wraps if there is little room."""

    def __init__(self, model: PanelModel, viewport: Viewport) -> None:
        super().__init__()
        self._model, self._viewport = model, viewport
        self.mode = QComboBox()
        for mode in MODES:
            self.mode.addItem(_MODE_NAMES[mode], mode)
        self.mode.setToolTip("The layout of reference, neural material and difference")
        self.mode.setAccessibleName("Layout of the pictures")
        self.shape = QComboBox()
        self.shape.setAccessibleName("Shape")
        self.shape.setToolTip(
            "The shape that shows the material. A mesh of the scene is read when you choose it."
        )
        self.shape.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.shape.setMinimumContentsLength(10)
        self.level = WholeBox()
        self.level.setPrefix("Mip ")
        self.level.setMaximum(LARGEST_LEVEL)
        self.level.setAccessibleName("Mip level")
        self.level.setToolTip(_DOCS.get("level", "The mip level"))
        self.exposure = RealBox()
        self.exposure.setPrefix("Exp ")
        self.exposure.setRange(-10.0, 10.0)
        self.exposure.setAccessibleName("Exposure")
        self.exposure.setSingleStep(0.5)
        self.exposure.setDecimals(1)
        self.exposure.setToolTip("Exposure, in stops")
        self.all = QToolButton(text="See all")
        self.all.setToolTip("Shows the whole shape from the front (Home)")
        row = FlowLayout(self)
        for widget in (self.mode, self.shape, self.level, self.exposure, self.all):
            widget.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            row.addWidget(widget)
        self.mode.activated.connect(lambda index: viewport.set_mode(self.mode.itemData(index)))
        self.shape.activated.connect(self._choose_shape)
        self.level.valueChanged.connect(lambda value: model.set_view(level=value))
        self.exposure.valueChanged.connect(lambda value: model.set_view(exposure=value))
        self.all.clicked.connect(lambda _: viewport.see_all())
        viewport.mode_changed.connect(self._show)
        bind(self, model.meshes.changed, self._list_shapes)
        bind(self, model.view_changed, self._show)

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Reserves the height of wrapped rows, which Qt's layouts ignore."""
        super().resizeEvent(event)
        self.setMinimumHeight(self.layout().heightForWidth(self.width()))

    def _list_shapes(self) -> None:
        with blocked_signals(self.shape):
            self.shape.clear()
            for name, shape in (("Sphere", "sphere"), ("Plane", "plane")):
                self.shape.addItem(name, (shape, ""))
            for mesh in self._model.meshes.names:
                self.shape.addItem(_short(mesh), (_SCENE_MESH, mesh))
                self.shape.setItemData(self.shape.count() - 1, mesh, Qt.ItemDataRole.ToolTipRole)
            self.shape.addItem("Mesh file…", (_MESH_FILE, ""))
        self._show()

    def _choose_shape(self, index: int) -> None:
        shape, mesh = self.shape.itemData(index)
        if shape == _SCENE_MESH:
            self._model.show_mesh(mesh)
        elif shape != _MESH_FILE:
            self._model.set_view(shape=shape)
        else:
            path, _ = QFileDialog.getOpenFileName(self, "Choose a mesh", "", _MESHES)
            if path:
                self._model.set_view(shape=_MESH_FILE, mesh=path)
        self._show()

    def _shape_index(self) -> int:
        view = self._model.view
        candidates = [(view.shape, ""), (_SCENE_MESH, view.mesh)]
        if view.shape == _MESH_FILE:
            candidates.reverse()
        shown = [self.shape.itemData(index) for index in range(self.shape.count())]
        return next(shown.index(each) for each in candidates if each in shown)

    def _show(self) -> None:
        view = self._model.view
        with blocked_signals(self.shape, self.level, self.exposure, self.mode):
            self.shape.setCurrentIndex(self._shape_index())
            self.level.setValue(view.level)
            self.exposure.setValue(view.exposure)
            self.mode.setCurrentIndex(self.mode.findData(self._viewport.mode))


def _short(mesh: str) -> str:
    """The last part of a path in a scene or on a disk."""
    return mesh.replace("\\", "/").replace("|", "/").rstrip("/").rsplit("/", 1)[-1] or mesh
