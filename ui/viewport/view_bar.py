"""The controls of the viewport: layout, shape, mip level, exposure."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QFileDialog, QMenu, QSizePolicy, QToolButton, QWidget

from verdigris.core.geometry.shapes import SHAPES
from verdigris.core.lighting.environment import ENVIRONMENTS
from verdigris.core.pictures.tone import ACES, CLIP, FILM, NEUTRAL
from verdigris.core.pictures.view import GREY, SOFT, View
from verdigris.core.worker.protocol.commands import FIELDS_OF_VIEW, LARGEST_LEVEL
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind, blocked_signals
from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.qt.scrub import RealBox, WholeBox
from verdigris.ui.style.combo import Combo
from verdigris.ui.viewport.light_box import LightButton, LightPictures
from verdigris.ui.viewport.snapshot import CameraButton
from verdigris.ui.viewport.viewport import MODES, NAMES, SIDE_BY_SIDE, WIPE, Viewport
from verdigris.ui.widgets.wording import field_docs

_MESHES = "Meshes (*.obj *.usd *.usda *.usdc *.usdz)"
_MESH_FILE, _SCENE_MESH = "mesh", "scene"
_LIGHTS = "Environments (*.hdr *.exr)"
_SHAPE_NAMES = {"ball": "Shader ball", "cloth": "Cloth", "tile": "Tile"}
_LIGHT_NAMES = {"studio": "Studio", "sky": "Clear sky", "overcast": "Overcast", "sunset": "Sunset"}
_TONES = (
    (FILM, "Film", "Compresses highlights, and leaves everything else"),
    (CLIP, "Clipped", "Cuts highlights off"),
    (ACES, "ACES", "More contrast, as in many engines (Narkowicz's fit)"),
    (NEUTRAL, "Khronos neutral", "Keeps the colours of products, as web viewers do"),
)
_MODE_NAMES = {WIPE: "Wipe", SIDE_BY_SIDE: "Side by side", **NAMES}
_DOCS = field_docs(View)
# What a reset takes back.
_PLAIN = vars(View())
_RESET = (
    *("turn", "pitch", "zoom", "x", "y", "field_of_view", "rotate", "blur", "exposure", "level"),
    *("backdrop", "ground", "tone", "light"),
)


class ViewBar(QWidget):
    """A row of controls that wraps if there is little room."""

    def __init__(self, model: PanelModel, viewport: Viewport) -> None:
        super().__init__()
        self._model, self._viewport = model, viewport
        # files that were chosen
        self._file = self._hdri = ""
        self._make_choices()
        self._make_buttons()
        row = FlowLayout(self)
        for widget in (
            self.mode,
            self.shape,
            self.light,
            self.dial,
            self.exposure,
            self.level,
            self.field,
            self.all,
            self.worst,
            self.more,
            self.camera,
        ):
            widget.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            row.addWidget(widget)
        self._list_lights()
        self._bind()

    def _make_choices(self) -> None:
        self.mode = Combo()
        for mode in MODES:
            self.mode.addItem(_MODE_NAMES[mode], mode)
        self.mode.setToolTip("The layout of reference, neural material and difference")
        self.mode.setAccessibleName("Layout of the pictures")
        self.shape = Combo()
        self.shape.setAccessibleName("Shape")
        self.shape.setToolTip(
            "The shape that shows the material. A mesh of the scene is read when you choose it."
        )
        self.light = Combo()
        # names of files may be long
        for box, letters in ((self.shape, 9), (self.light, 8)):
            box.setSizeAdjustPolicy(Combo.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(letters)
        self.light.setAccessibleName("Light")
        self.light.setToolTip(
            "The light around the shape. Shift + drag in the picture turns it. Drop an .hdr or "
            ".exr file on the picture to light by it."
        )
        self.lights = LightPictures(self._model)
        self.dial = LightButton(self._model, self.lights)
        self.field = RealBox()
        self.field.setPrefix("FOV ")
        self.field.setSuffix("°")
        self.field.setRange(*FIELDS_OF_VIEW)
        self.field.setDecimals(0)
        self.field.setAccessibleName("Field of view")
        self.field.setToolTip(
            "Field of view in degrees. The shape keeps its size: wide is near, with a strong "
            "perspective, and narrow is far away."
        )
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

    def _make_buttons(self) -> None:
        self.all = QToolButton(text="See all")
        self.all.setToolTip("Shows the whole shape from the front (Home)")
        self.worst = QToolButton(text="Worst")
        self.worst.setToolTip(
            "Looks closely at the place with the largest difference, and from there at the next (W)"
        )
        self.more = QToolButton(text="Show")
        self.more.setToolTip("Backdrop, tone mapping and the scale of the difference")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.more)
        menu.setToolTipsVisible(True)
        self.backdrop, self.ground, self.locked = (
            _toggle(menu, text, tip)
            for text, tip in (
                ("Light as backdrop", "Shows the light, out of focus, behind the shape"),
                (
                    "Ground with shadow",
                    "Puts the shape on a grey ground that receives its shadow; the same for both",
                ),
                ("Same scale for all", "The difference ends at 10% in every picture"),
            )
        )
        self.tones = self._add_tones(menu)
        menu.addSeparator()
        self.reset = menu.addAction("Reset the view")
        self.reset.setToolTip("Takes back everything but the shape and the light's name")
        self.more.setMenu(menu)
        self.camera = CameraButton(self._model, self._viewport)

    def _add_tones(self, menu: QMenu) -> dict[str, QAction]:
        """One of them is chosen."""
        inner = menu.addMenu("Tone mapping")
        inner.setToolTipsVisible(True)
        group = QActionGroup(inner)
        tones = {tone: _toggle(inner, text, tip) for tone, text, tip in _TONES}
        for action in tones.values():
            group.addAction(action)
        return tones

    def _bind(self) -> None:
        model, viewport = self._model, self._viewport
        self.mode.activated.connect(lambda index: viewport.set_mode(self.mode.itemData(index)))
        self.shape.activated.connect(self._choose_shape)
        self.level.valueChanged.connect(lambda value: model.set_view(level=value))
        self.exposure.valueChanged.connect(lambda value: model.set_view(exposure=value))
        self.field.valueChanged.connect(lambda value: model.set_view(field_of_view=value))
        self.reset.triggered.connect(lambda _: model.set_view(**{n: _PLAIN[n] for n in _RESET}))
        self.all.clicked.connect(lambda _: viewport.see_all())
        self.worst.clicked.connect(lambda _: viewport.fly_to_worst())
        self.light.activated.connect(self._choose_light)
        self.backdrop.triggered.connect(lambda on: model.set_view(backdrop=SOFT if on else GREY))
        for tone, action in self.tones.items():
            action.triggered.connect(lambda _, tone=tone: model.set_view(tone=tone))
        self.ground.triggered.connect(lambda on: model.set_view(ground=on))
        self.locked.triggered.connect(viewport.set_scale_locked)
        viewport.mode_changed.connect(self._show)
        bind(self, model.state.meshes.changed, self._list_shapes)
        bind(self, model.state.view_changed, self._show)
        bind(self, model.state.pictures.changed, self._show_new_light)

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Reserves the height of wrapped rows, which Qt's layouts ignore."""
        super().resizeEvent(event)
        self.setMinimumHeight(self.layout().heightForWidth(self.width()))

    def _list_shapes(self) -> None:
        with blocked_signals(self.shape):
            self.shape.clear()
            for name, shape in (("Sphere", "sphere"), ("Plane", "plane")):
                self.shape.addItem(name, (shape, ""))
            for shape in SHAPES:
                self.shape.addItem(_SHAPE_NAMES[shape], (shape, ""))
            for mesh in self._model.state.meshes.names:
                self.shape.addItem(_short(mesh), (_SCENE_MESH, mesh))
                self.shape.setItemData(self.shape.count() - 1, mesh, Qt.ItemDataRole.ToolTipRole)
            if self._file:
                self.shape.addItem(_short(self._file), (_MESH_FILE, self._file))
                self.shape.setItemData(
                    self.shape.count() - 1, self._file, Qt.ItemDataRole.ToolTipRole
                )
            self.shape.addItem("Mesh file…", (_MESH_FILE, ""))
        self._show()

    def _list_lights(self) -> None:
        """Lists the environments, and the file that lights."""
        name = self._model.state.view.lit_by
        if name and name not in ENVIRONMENTS:
            self._hdri = name
        wanted = [(_LIGHT_NAMES[each], each) for each in ENVIRONMENTS]
        wanted += [(_short(self._hdri), self._hdri)] if self._hdri else []
        wanted.append(("HDRI file…", ""))
        listed = [self.light.itemData(index) for index in range(self.light.count())]
        if listed != [data for _, data in wanted]:
            self.light.clear()
            for text, data in wanted:
                self.light.addItem(self.lights.icon_of(data), text, data)

    def _show_new_light(self) -> None:
        """Shows the picture of a file that was read now."""
        if self.lights.follow():
            name = self._model.state.view.lit_by
            self.light.setItemIcon(self.light.findData(name), self.lights.icon_of(name))
            self.dial.box.follow()

    def _choose_light(self, index: int) -> None:
        name = self.light.itemData(index)
        if not name:
            name, _ = QFileDialog.getOpenFileName(self, "Choose an environment", "", _LIGHTS)
        if name:
            self._viewport.light_by(name)
        self._show()

    def _list_mesh(self, path: str) -> None:
        """Lists a file that was chosen or dropped."""
        if path != self._file:
            self._file = path
            self._list_shapes()

    def _choose_shape(self, index: int) -> None:
        shape, mesh = self.shape.itemData(index)
        if shape == _SCENE_MESH:
            self._model.show_mesh(mesh)
        elif shape != _MESH_FILE:
            self._model.set_view(shape=shape)
        else:
            path = mesh
            if not path:
                path, _ = QFileDialog.getOpenFileName(self, "Choose a mesh", "", _MESHES)
            if path:
                self._file = path
                # it is framed by itself: the zoom to another shape does not fit it
                self._model.set_view(shape=_MESH_FILE, mesh=path, zoom=1.0, x=0.0, y=0.0)
                self._list_shapes()
        self._show()

    def _shape_index(self) -> int:
        view = self._model.state.view
        if view.shape == _MESH_FILE and view.mesh not in self._model.state.meshes.names:
            self._list_mesh(view.mesh)
        candidates = [(view.shape, ""), (_SCENE_MESH, view.mesh), (_MESH_FILE, view.mesh)]
        if view.shape == _MESH_FILE:
            candidates.reverse()
        shown = [self.shape.itemData(index) for index in range(self.shape.count())]
        return next(shown.index(each) for each in candidates if each in shown)

    def _show(self) -> None:
        view = self._model.state.view
        boxes = self.shape, self.level, self.exposure, self.mode, self.light, self.field
        self.lights.follow()
        with blocked_signals(*boxes):
            self.shape.setCurrentIndex(self._shape_index())
            self.level.setValue(view.level)
            self.exposure.setValue(view.exposure)
            self.field.setValue(view.field_of_view)
            self.mode.setCurrentIndex(self.mode.findData(self._viewport.mode))
            self._list_lights()
            self.light.setCurrentIndex(max(0, self.light.findData(view.lit_by)))
        self.backdrop.setChecked(view.backdrop == SOFT)
        self.tones[view.tone].setChecked(True)
        self.ground.setChecked(view.ground)
        self.locked.setChecked(self._viewport.is_scale_locked)


def _toggle(menu: QMenu, text: str, tip: str) -> QAction:
    action = QAction(text, menu)
    action.setCheckable(True)
    action.setToolTip(tip)
    menu.addAction(action)
    return action


def _short(mesh: str) -> str:
    """The last part of a path in a scene or on a disk."""
    return mesh.replace("\\", "/").replace("|", "/").rstrip("/").rsplit("/", 1)[-1] or mesh
