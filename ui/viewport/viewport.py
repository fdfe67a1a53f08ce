"""The viewport: reference, neural material and difference, wiped, side by side, or one alone."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QMouseEvent
from PySide6.QtWidgets import QSizePolicy

from verdigris.core.pictures.view import ALL, PIXELATED_FROM, SHOWS
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.commands import LARGEST_PICTURE
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.parts.worker_pictures import Picture
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.drawing import points_between
from verdigris.ui.viewport.camera import ZOOM_STEP, CameraControl
from verdigris.ui.viewport.picture_area import MODES, NAMES, PARTS, SIDE_BY_SIDE, WIPE, PictureArea
from verdigris.ui.viewport.scale_bar import worst_spots
from verdigris.ui.viewport.worst_place import worst_of

__all__ = ["MODES", "NAMES", "PARTS", "SIDE_BY_SIDE", "WIPE", "Viewport"]

_GRIP = 10.0
# The largest distance between two dabs, in pixels.
_BRUSH_STEP = 6.0
_DEGREES_PER_PIXEL = 0.5
_KEY_DEGREES = 10.0
_ARROWS = {
    Qt.Key.Key_Left: (-_KEY_DEGREES, 0.0),
    Qt.Key.Key_Right: (_KEY_DEGREES, 0.0),
    Qt.Key.Key_Up: (0.0, -_KEY_DEGREES),
    Qt.Key.Key_Down: (0.0, _KEY_DEGREES),
}
_KEY_WIPE = 0.05
# Share of the width between a spot and the wipe.
_BESIDE_SPOT = 0.2
_LEAST_SIZE = 128
# Milliseconds between reports of a moving wipe.
_WIPE_INTERVAL = 120
# Milliseconds for each side: both are seen twice a second.
_FLICKER_INTERVAL = 250


class Viewport(PictureArea):
    """A drag turns the shape, a right drag or Shift turns the light, the wheel zooms, and a middle
    drag moves."""

    painted = Signal(float, float)
    """The brush touches the picture at this point, 0 to 1 to the right and downwards."""
    stroke_ended = Signal()
    mode_changed = Signal()
    saves = Signal()
    """The picture is to be saved, or copied."""
    copies = Signal()

    def __init__(self, model: PanelModel) -> None:
        super().__init__(model)
        self.camera = CameraControl(model)
        self._flies = self._needs_all = self._has_wiped = False
        self._tour: list[tuple[float, float]] = []
        """The worst places of the view that was flown from, the one in sight first."""
        self._flown: tuple[object, ...] = ()
        self._pressed_at: tuple[object, ...] = ()
        """Where the camera was when a flight to an unknown place was requested."""
        self._drag: str = ""
        self._last = QPointF()
        self.paints = False
        self._keys = {
            Qt.Key.Key_Plus: lambda: self._zoom(ZOOM_STEP),
            Qt.Key.Key_Equal: lambda: self._zoom(ZOOM_STEP),
            Qt.Key.Key_Minus: lambda: self._zoom(1 / ZOOM_STEP),
            Qt.Key.Key_Home: self.see_all,
            Qt.Key.Key_Comma: lambda: self._set_wipe(self.wipe - _KEY_WIPE),
            Qt.Key.Key_Period: lambda: self._set_wipe(self.wipe + _KEY_WIPE),
            Qt.Key.Key_W: self.fly_to_worst,
            Qt.Key.Key_P: self.saves.emit,
        }
        self._flicker_timer = QTimer(self)
        self._flicker_timer.setInterval(_FLICKER_INTERVAL)
        self._flicker_timer.timeout.connect(self._flick)
        self._wipe_timer = QTimer(self)
        self._wipe_timer.setSingleShot(True)
        self._wipe_timer.setInterval(_WIPE_INTERVAL)
        self._wipe_timer.timeout.connect(self._fit)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(200, 160)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Viewport")
        self.setToolTip(
            "Drag: turn the shape (arrow keys). Shift + drag: turn the light (Shift + arrow keys). "
            "Wheel: zoom out, and in to single texels (+ and -). Middle drag: move. Double click: "
            "see all (Home). Drag the line in the middle to wipe (comma and full stop). Hold D: "
            "reference and neural in turn. W: the worst spots, one after the other. P: save the "
            "picture. Ctrl+C: copy it. Drop an .hdr or .exr file to light by it."
        )
        bind(self, model.state.pictures.changed, self._fly_if_known)
        bind(self, model.state.pictures.changed, self._free_worst)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(640, 420)

    def set_mode(self, mode: str) -> None:
        self.mode = mode
        self._fit()
        self.update()
        self.mode_changed.emit()

    def need_all(self, is_needed: bool) -> None:
        """Whether all parts are to be drawn, also those that are not in sight."""
        self._needs_all = is_needed
        self._fit()

    # the difference

    def set_scale_locked(self, is_locked: bool) -> None:
        """Whether all differences have one scale, or each picture the scale that fits it."""
        self.is_scale_locked = is_locked
        self.show_pictures()
        self.mode_changed.emit()

    @property
    def heat(self) -> Picture | None:
        """The difference in the present view."""
        found = self._model.state.pictures.parts.get("heat")
        return found if found is not None and found.view == self._model.state.view.number else None

    def _fly_if_known(self) -> None:
        if self._flies and self._pose != self._pressed_at:
            # the artist looks at something else by now
            self._flies = False
        if self._flies and self.heat is not None:
            self.fly_to_worst()

    def fly_to_worst(self) -> None:
        """Looks closely at the place with the largest difference, as soon as it is known; from
        there at the next one."""
        if self._tour and self._flown == self._pose:
            self._tour.append(self._tour.pop(0))
        elif self.heat is None:
            # it is drawn only while it is in sight
            self._flies, self._pressed_at = True, self._pose
            self._fit()
            self.update()
            return
        else:
            cell = self.cells()[0][1]
            found = worst_spots(self.heat.pixels)
            self._tour = [self.camera.point_at(*each, cell) for each in found]
        self._flies = False
        if self._tour:
            self.camera.fly_to(*self._tour[0])
            self._flown = self._pose
            # the spot is in the middle, and beside the line it is seen undivided
            if abs(self.wipe - 0.5) < _BESIDE_SPOT:
                self.wipe = 0.5 - _BESIDE_SPOT
        self._fit()

    @property
    def _pose(self) -> tuple[object, ...]:
        """Where the camera is."""
        view = self._model.state.view
        return view.shape, view.mesh, view.turn, view.pitch, view.zoom, view.x, view.y

    # mouse and keyboard

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Requests pictures that fill their places, pixel by pixel, and only what is in sight."""
        cell = self.cells()[0][1]
        ratio = self.devicePixelRatioF()
        short = min(cell.width(), cell.height()) * ratio
        aspect = max(1.0, cell.width()) / max(1.0, cell.height())
        most = commands.MOST_ASPECT
        shows = self.mode if self.mode in SHOWS else ALL
        self._model.set_view(
            size=int(min(LARGEST_PICTURE, max(_LEAST_SIZE, short))),
            aspect=round(min(most, max(1 / most, aspect)), 4),
            shows=ALL if self._flies or self._needs_all or self.flicker else shows,
            wipe=round(self.wipe, 3),
        )

    def set_footer(self, height: int) -> None:
        """The height of the messages at the lower edge, which the pictures leave free."""
        if height != self._footer:
            self._footer = height
            self._fit()
            self.update()

    def _set_wipe(self, wipe: float) -> None:
        self.wipe, self._has_wiped = min(1.0, max(0.0, wipe)), True
        if not self._wipe_timer.isActive():
            self._wipe_timer.start()
        self.update()

    def _free_worst(self) -> None:
        """Keeps the line off the worst place of a result, until the artist moves the line."""
        if self._has_wiped or self.mode != WIPE or self._model.link.is_busy:
            return
        place = worst_of(self._model.state.pictures.parts)
        if place is not None and abs(self.wipe - place[0]) < _BESIDE_SPOT / 2:
            side = -_BESIDE_SPOT if place[0] > 2 * _BESIDE_SPOT else _BESIDE_SPOT
            self.wipe = place[0] + side
            self._fit()

    def _cell_at(self, place: QPointF) -> QRectF:
        cells = [cell for _, cell in self.cells()]
        return next((cell for cell in cells if cell.contains(place)), cells[0])

    def _is_on_wipe(self, place: QPointF) -> bool:
        cell = self.cells()[0][1]
        line = cell.left() + self.wipe * cell.width()
        is_there = "neural" in self._images and cell.top() <= place.y() <= cell.bottom()
        return self.is_wiped and is_there and abs(place.x() - line) < _GRIP

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        self.setFocus()
        self._last = event.position()
        has_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.button() == Qt.MouseButton.LeftButton:
            if self._is_on_wipe(self._last):
                self._drag = "wipe"
            elif self.paints:
                self._drag = "paint"
                self._touch(self._last)
            else:
                self._drag = "light" if has_shift else "turn"
        elif event.button() == Qt.MouseButton.RightButton:
            self._drag = "turn" if self.paints and not has_shift else "light"
        elif event.button() == Qt.MouseButton.MiddleButton:
            self._drag = "move"

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        place = event.position()
        step, self._last = place - self._last, place
        self._pointer = place
        if self._model.state.view.zoom >= PIXELATED_FROM or self.paints:
            self.update()
        if not self._drag:
            shape = Qt.CursorShape.SplitHCursor if self._is_on_wipe(place) else None
            shape = shape or (Qt.CursorShape.CrossCursor if self.paints else None)
            self.setCursor(shape or Qt.CursorShape.ArrowCursor)
        elif self._drag == "wipe":
            cell = self.cells()[0][1]
            self._set_wipe((place.x() - cell.left()) / cell.width())
        elif self._drag == "paint":
            for touched in points_between(place - step, place, _BRUSH_STEP):
                self._touch(touched)
        elif self._drag == "turn":
            self.camera.turn(step.x() * _DEGREES_PER_PIXEL, step.y() * _DEGREES_PER_PIXEL)
        elif self._drag == "light":
            self.camera.turn_light(step.x() * _DEGREES_PER_PIXEL, step.y() * _DEGREES_PER_PIXEL)
        elif self._drag == "move":
            self.camera.move(step, self._cell_at(place))

    def leaveEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        super().leaveEvent(event)
        self._pointer = None
        self.update()

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        if self._drag == "paint":
            self.stroke_ended.emit()
        self._drag = ""

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        if self.paints:
            self.mousePressEvent(event)
        else:
            self.see_all()

    def wheelEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        notches = event.angleDelta().y() / 120
        self._zoom(ZOOM_STEP**notches, event.position())

    def keyPressEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        key = event.key()
        if key in _ARROWS:
            is_light = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            (self.camera.turn_light if is_light else self.camera.turn)(*_ARROWS[key])
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copies.emit()
        elif key in self._keys:
            self._keys[key]()
        elif key != Qt.Key.Key_D:
            super().keyPressEvent(event)
        elif not event.isAutoRepeat():
            self._begin_flicker()

    def keyReleaseEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_D and not event.isAutoRepeat():
            self._end_flicker()
        else:
            super().keyReleaseEvent(event)

    def focusOutEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        # the release of a key would go elsewhere
        self._end_flicker()
        super().focusOutEvent(event)

    def _begin_flicker(self) -> None:
        """Shows reference and neural material in turn, in the same place."""
        if "neural" in self._images and not self.flicker:
            self.flicker = "reference"
            self._flicker_timer.start()
            self._fit()
            self.update()

    def _flick(self) -> None:
        self.flicker = "neural" if self.flicker == "reference" else "reference"
        self.update()

    def _end_flicker(self) -> None:
        if self.flicker:
            self.flicker = ""
            self._flicker_timer.stop()
            self._fit()
            self.update()

    def light_by(self, name: str) -> None:
        """Lights the pictures with an environment: a name, or a file."""
        self._model.set_view(lit_by=name, rotate=0.0)

    def see_all(self) -> None:
        self._flies = False
        self.camera.see_all()

    def badge(self) -> str:
        found = super().badge()
        return f"finding the worst place, {found}".rstrip(", ") if self._flies else found

    def _touch(self, place: QPointF) -> None:
        cell = self._cell_at(place)
        self.painted.emit(
            (place.x() - cell.left()) / cell.width(), (place.y() - cell.top()) / cell.height()
        )

    def _zoom(self, factor: float, place: QPointF | None = None) -> None:
        cell = self._cell_at(place) if place is not None else self.cells()[0][1]
        self.camera.zoom(factor, cell, place)
