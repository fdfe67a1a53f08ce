"""The light around the shape: a dial that turns it, its blur, and pictures of it."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QIcon,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPalette,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSlider,
    QToolButton,
    QWidget,
)

from verdigris.core.lighting.environment import ENVIRONMENTS
from verdigris.core.pictures.light_maps import from_above, mirror_ball, named_map
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind, blocked_signals
from verdigris.ui.qt.drawing import image_of
from verdigris.ui.qt.scrub import RealBox
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import GAP, ICON

_SIDE, _RING = 132, 8.0
# Pixels of the pictures, for screens with two of them per point.
_DIAL_PIXELS, _BALL_PIXELS = 2 * _SIDE, 2 * ICON
_KEY_DEGREES = 5.0
_MOST_BLUR = 60


class LightPictures:
    """The small maps of environments that have been in use."""

    def __init__(self, model: PanelModel) -> None:
        self._model = model
        self._of_files: dict[str, Any] = {}
        self._icons: dict[str, QIcon] = {}
        # the light, and the first view that has it
        self._since = ("", 0)

    def follow(self) -> bool:
        """Takes the map of the file that lights. Returns whether it is new."""
        view = self._model.state.view
        if view.lit_by != self._since[0]:
            self._since = view.lit_by, view.number
        found = self._model.state.pictures.parts.get("light")
        is_of_view = found is not None and found.view >= self._since[1]
        if not is_of_view or view.lit_by in ENVIRONMENTS:
            return False
        if self._of_files.get(view.lit_by) is found.pixels:
            return False
        self._of_files[view.lit_by] = found.pixels
        self._icons.pop(view.lit_by, None)
        return True

    def map_of(self, name: str) -> Any:
        """The map of an environment; None for a file that was not read yet."""
        return named_map(name) if name in ENVIRONMENTS else self._of_files.get(name)

    def icon_of(self, name: str) -> QIcon:
        light = self.map_of(name)
        if light is None:
            return QIcon()
        if name not in self._icons:
            self._icons[name] = QIcon(_round(QPixmap(image_of(mirror_ball(light, _BALL_PIXELS)))))
        return self._icons[name]


def _round(square: QPixmap) -> QPixmap:
    made = QPixmap(square.size())
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    path = QPainterPath()
    path.addEllipse(QRectF(made.rect()))
    painter.setClipPath(path)
    painter.drawPixmap(0, 0, square)
    painter.end()
    return made


class LightDial(QWidget):
    """The light from above, with the viewer below. A drag turns it; the wheel does not."""

    turned = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self.degrees = 0.0
        self._picture: QPixmap | None = None
        self._at = 0.0
        self.setFixedSize(_SIDE, _SIDE)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Turn of the light")
        self.setToolTip(
            "The light from above, with you below. Drag to turn it (arrow keys). Double click: "
            "as it was (Home)."
        )

    def show_light(self, light: Any, degrees: float) -> None:
        self._picture = (
            None if light is None else _round(QPixmap(image_of(from_above(light, _DIAL_PIXELS))))
        )
        self.degrees = degrees
        self.update()

    def _angle(self, place: QPointF) -> float:
        """Degrees of a point around the middle, counter-clockwise, as light turns from above."""
        away = place - QPointF(self.width() / 2, self.height() / 2)
        return math.degrees(math.atan2(-away.y(), away.x()))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's names, as below
        self._at = self._angle(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        at = self._angle(event.position())
        self._turn(at - self._at)
        self._at = at

    def mouseDoubleClickEvent(self, _event: QMouseEvent) -> None:  # noqa: N802
        self._turn(-self.degrees)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        keys = Qt.Key
        step = {keys.Key_Left: -1, keys.Key_Down: -1, keys.Key_Right: 1, keys.Key_Up: 1}
        if event.key() in step:
            self._turn(step[event.key()] * _KEY_DEGREES)
        elif event.key() == keys.Key_Home:
            self._turn(-self.degrees)
        else:
            super().keyPressEvent(event)

    def _turn(self, degrees: float) -> None:
        self.degrees = (self.degrees + degrees + 180) % 360 - 180
        self.update()
        self.turned.emit(self.degrees)

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        palette = self.palette()
        painter.translate(self.width() / 2, self.height() / 2)
        radius = min(self.width(), self.height()) / 2 - _RING
        disc = QRectF(-radius, -radius, 2 * radius, 2 * radius)
        painter.save()
        painter.rotate(-self.degrees)
        if self._picture is not None:
            painter.drawPixmap(disc, self._picture, QRectF(self._picture.rect()))
        accent = palette.color(QPalette.ColorRole.Highlight)
        role = QPalette.ColorRole.WindowText
        painter.setPen(QPen(accent if self.hasFocus() else palette.color(role), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(disc)
        # the mark that turns with the light
        painter.setBrush(accent)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(QPointF(0, radius), 5, 5)
        painter.restore()
        # the shape
        painter.setPen(QPen(palette.color(role), 1))
        painter.setBrush(palette.color(QPalette.ColorRole.Window))
        painter.drawEllipse(QPointF(0, 0), 5, 5)
        painter.end()


class LightBox(QFrame):
    """A small window with the dial and the blur."""

    def __init__(self, model: PanelModel, pictures: LightPictures, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._model, self._pictures = model, pictures
        self._shown: object = None
        self.dial = LightDial()
        self.turn, self.blur = RealBox(), RealBox()
        for box, name, low, high in (
            (self.turn, "Turn of the light in degrees", -180.0, 180.0),
            (self.blur, "Blur of the light in degrees", 0.0, float(_MOST_BLUR)),
        ):
            box.setRange(low, high)
            box.setDecimals(0)
            box.setSuffix("°")
            box.setAccessibleName(name)
        self.turn.setWrapping(True)
        self.turn.setToolTip("Turns the light, counter-clockwise as seen from above")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, _MOST_BLUR)
        self.slider.setAccessibleName("Blur of the light")
        tip = "Makes the light soft, for both sides alike: a lamp becomes a large soft box"
        for each in (self.slider, self.blur):
            each.setToolTip(tip)
        self.reset = QPushButton("Reset")
        self.reset.setToolTip("Takes the turn and the blur back")
        grid = QGridLayout(self)
        grid.setSpacing(GAP)
        grid.addWidget(self.dial, 0, 0, 1, 3, Qt.AlignmentFlag.AlignHCenter)
        grid.addWidget(QLabel("Turn"), 1, 0)
        grid.addWidget(self.turn, 1, 2)
        grid.addWidget(QLabel("Blur"), 2, 0)
        grid.addWidget(self.slider, 2, 1)
        grid.addWidget(self.blur, 2, 2)
        grid.addWidget(self.reset, 3, 0, 1, 3)
        self.dial.turned.connect(lambda degrees: model.set_view(rotate=degrees))
        self.turn.valueChanged.connect(lambda degrees: model.set_view(rotate=degrees))
        self.blur.valueChanged.connect(lambda degrees: model.set_view(blur=degrees))
        self.slider.valueChanged.connect(lambda degrees: model.set_view(blur=float(degrees)))
        self.reset.clicked.connect(lambda _: model.set_view(rotate=0.0, blur=0.0))
        bind(self, model.state.view_changed, self.follow)

    def follow(self) -> None:
        view = self._model.state.view
        light = self._pictures.map_of(view.lit_by)
        key = view.lit_by, id(light)
        if key != self._shown:
            self._shown = key
            self.dial.show_light(light, view.rotate)
        if self.dial.degrees != view.rotate:
            self.dial.degrees = view.rotate
            self.dial.update()
        with blocked_signals(self.turn, self.blur, self.slider):
            self.turn.setValue(view.rotate)
            self.blur.setValue(view.blur)
            self.slider.setValue(round(view.blur))


class LightButton(QToolButton):
    """Opens the small window."""

    def __init__(self, model: PanelModel, pictures: LightPictures) -> None:
        super().__init__()
        wear(self, "sun")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Turn and blur the light")
        self.setToolTip("Turns the light with a dial, and makes it soft")
        self.box = LightBox(model, pictures, self)
        self.clicked.connect(lambda _: self._open())

    def _open(self) -> None:
        self.box.adjustSize()
        size, screen = self.box.size(), self.screen().availableGeometry()
        place = self.mapToGlobal(QPoint(0, -size.height()))
        left = max(screen.left(), min(place.x(), screen.right() - size.width()))
        self.box.move(left, max(screen.top(), place.y()))
        self.box.show()
        self.box.dial.setFocus()
