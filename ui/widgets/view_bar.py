"""What the viewport shows: layout, shape, mip level, exposure."""

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
from verdigris.ui.binding import follow, quietly
from verdigris.ui.docs import field_docs
from verdigris.ui.model import PanelModel
from verdigris.ui.widgets.flow_layout import FlowLayout
from verdigris.ui.widgets.number_boxes import RealBox, WholeBox
from verdigris.ui.widgets.viewport import MODES, NAMES, SIDE_BY_SIDE, WIPE, Viewport

_MESHES = "Meshes (*.obj *.usd *.usda *.usdc *.usdz)"
_OWN_MESH, _OF_SCENE = "mesh", "scene"
_MODE_NAMES = {WIPE: "Wipe", SIDE_BY_SIDE: "Side by side", **NAMES}
_DOCS = field_docs(View)


class ViewBar(QWidget):
    """A row of small controls, in two rows where there is little room."""

    def __init__(self, model: PanelModel, viewport: Viewport) -> None:
        super().__init__()
        self._model, self._viewport = model, viewport
        self.mode = QComboBox()
        for mode in MODES:
            self.mode.addItem(_MODE_NAMES[mode], mode)
        self.mode.setToolTip("How reference, neural material and their difference are laid out")
        self.shape = QComboBox()
        self.shape.setToolTip(
            "The shape that the material is shown on: a mesh of the scene that has it, as it is "
            "when it is chosen, or with 'Mesh file…' one from a file"
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
        self.all.setToolTip("The whole shape from its front (Home)")
        row = FlowLayout(self)
        for widget in (self.mode, self.shape, self.level, self.exposure, self.all):
            widget.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            row.addWidget(widget)
        self.mode.activated.connect(lambda index: viewport.set_mode(self.mode.itemData(index)))
        self.shape.activated.connect(self._choose_shape)
        self.level.valueChanged.connect(lambda value: model.look(level=value))
        self.exposure.valueChanged.connect(lambda value: model.look(exposure=value))
        self.all.clicked.connect(lambda _: viewport.see_all())
        viewport.mode_changed.connect(self._show)
        follow(self, model.meshes.changed, self._list_shapes)
        follow(self, model.view_changed, self._show)

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Rows that break are higher than Qt's layouts expect."""
        super().resizeEvent(event)
        self.setMinimumHeight(self.layout().heightForWidth(self.width()))

    def _list_shapes(self) -> None:
        with quietly(self.shape):
            self.shape.clear()
            for name, shape in (("Sphere", "sphere"), ("Plane", "plane")):
                self.shape.addItem(name, (shape, ""))
            for mesh in self._model.meshes.names:
                self.shape.addItem(_short(mesh), (_OF_SCENE, mesh))
                self.shape.setItemData(self.shape.count() - 1, mesh, Qt.ItemDataRole.ToolTipRole)
            self.shape.addItem("Mesh file…", (_OWN_MESH, ""))
        self._show()

    def _choose_shape(self, index: int) -> None:
        shape, mesh = self.shape.itemData(index)
        if shape == _OF_SCENE:
            self._model.show_mesh(mesh)
        elif shape != _OWN_MESH:
            self._model.look(shape=shape)
        else:
            path, _ = QFileDialog.getOpenFileName(self, "Mesh to show the material on", "", _MESHES)
            if path:
                self._model.look(shape=_OWN_MESH, mesh=path)
        self._show()

    def _shape_index(self) -> int:
        view = self._model.view
        wanted = [(view.shape, ""), (_OF_SCENE, view.mesh)]
        if view.shape == _OWN_MESH:
            wanted.reverse()
        shown = [self.shape.itemData(index) for index in range(self.shape.count())]
        return next(shown.index(each) for each in wanted if each in shown)

    def _show(self) -> None:
        view = self._model.view
        with quietly(self.shape, self.level, self.exposure, self.mode):
            self.shape.setCurrentIndex(self._shape_index())
            self.level.setValue(view.level)
            self.exposure.setValue(view.exposure)
            self.mode.setCurrentIndex(self.mode.findData(self._viewport.mode))


def _short(mesh: str) -> str:
    """The last part of a path in a scene or on a disk."""
    return mesh.replace("\\", "/").replace("|", "/").rstrip("/").rsplit("/", 1)[-1] or mesh
