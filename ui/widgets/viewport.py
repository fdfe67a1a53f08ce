"""The viewport: reference, neural material and difference, wiped, side by side, or one alone."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from verdigris.core.worker.protocol.commands import PIXELATED_FROM
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.colours import is_dark
from verdigris.ui.qt.drawing import image_of, points_between

WIPE, SIDE_BY_SIDE = "wipe", "side by side"
PARTS = ("reference", "neural", "heat")
MODES = (WIPE, SIDE_BY_SIDE, *PARTS)
NAMES = {"reference": "Reference", "neural": "Neural", "heat": "Difference"}
_GAP = 4
_GRIP = 10.0
# Pixels between the edge of a picture and its label.
_LABEL_MARGIN = 10
# The largest distance between two dabs, in pixels.
_BRUSH_STEP = 6.0
_DEGREES_PER_PIXEL = 0.5
_KEY_DEGREES = 10.0
_ZOOM_STEP = 1.25
_MAX_ZOOM = 256.0
_MIN_SIZE, _MAX_SIZE, _MAX_SIZE_ON_GPU = 96, 192, 512


class Viewport(QWidget):
    """Drag turns the shape, right drag or Shift turns the light, the wheel zooms, middle drag
    moves."""

    painted = Signal(float, float)
    """The brush touches the picture at this point, 0 to 1 to the right and downwards."""
    stroke_ended = Signal()
    mode_changed = Signal()

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self._images: dict[str, tuple[int, QImage]] = {}
        self._drag: str = ""
        self._last = QPointF()
        self._pointer: QPointF | None = None
        self.mode = WIPE
        self.wipe = 0.5
        self.paints = False
        self.layers: list[Callable[[QPainter, str, QRectF], None]] = []
        """Drawn over each picture, below its label: the painter, the part, and its place."""
        self._max_size = _MAX_SIZE
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(200, 160)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Viewport")
        self.setToolTip(
            "Drag: turn the shape (arrow keys). Right drag: turn the light (Shift + arrow keys). "
            "Wheel: zoom, down to single texels (+ and -). Middle drag: move. Double click: see "
            "all (Home). Drag the line in the middle to wipe (comma and full stop)."
        )
        bind(self, model.pictures.changed, self._show_pictures)
        bind(self, model.view_changed, self.update)
        bind(self, model.report_changed, self._check_device)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(640, 420)

    def set_mode(self, mode: str) -> None:
        self.mode = mode
        self._fit()
        self.update()
        self.mode_changed.emit()

    # pictures

    def _show_pictures(self) -> None:
        self._images = {
            part: (id(picture), image_of(picture.pixels))
            if self._images.get(part, (0,))[0] != id(picture)
            else self._images[part]
            for part, picture in self._model.pictures.parts.items()
        }
        self.update()

    def _cells(self) -> list[tuple[str, QRectF]]:
        """The parts to draw and their places."""
        area = QRectF(self.rect())
        if self.mode != SIDE_BY_SIDE:
            side = min(area.width(), area.height())
            square = QRectF(0, 0, side, side)
            square.moveCenter(area.center())
            return [("reference" if self.mode == WIPE else self.mode, square)]
        across = area.width() >= area.height()
        long, short = max(area.width(), area.height()), min(area.width(), area.height())
        side = max(1.0, min((long - 2 * _GAP) / 3, short))
        start = (long - 3 * side - 2 * _GAP) / 2
        cells = []
        for number, part in enumerate(PARTS):
            along, beside = start + number * (side + _GAP), (short - side) / 2
            place = (along, beside) if across else (beside, along)
            cells.append((part, QRectF(*place, side, side)))
        return cells

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        ground = self.palette().color(QPalette.ColorRole.Base)
        painter.fillRect(self.rect(), ground if is_dark(self) else ground.darker(112))
        pixelated = self._model.view.zoom >= PIXELATED_FROM
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, not pixelated)
        for part, cell in self._cells():
            self._draw(painter, part, cell)
            if self.mode == WIPE:
                self._draw_wiped(painter, cell)
            self._draw_layers(painter, part, cell)
            if self.mode == WIPE:
                self._label_wiped(painter, cell)
            else:
                self._label(painter, part, cell, Qt.AlignmentFlag.AlignLeft)
        self._draw_texel(painter)
        if self.hasFocus():
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def _draw(self, painter: QPainter, part: str, cell: QRectF) -> None:
        found = self._images.get(part)
        if found is not None:
            painter.drawImage(cell, found[1])
            return
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(cell, flags, f"{NAMES[part]}\n{self.placeholder(part)}")

    def placeholder(self, part: str) -> str:
        """The text in place of a missing picture."""
        if self._model.is_refused:
            return "cannot be drawn"
        return "not drawn yet" if part == "reference" else "appears during training"

    def _draw_layers(self, painter: QPainter, part: str, cell: QRectF) -> None:
        for draw in self.layers:
            painter.save()
            painter.setClipRect(cell)
            draw(painter, part, cell)
            painter.restore()

    def pointer_at(self) -> tuple[float, float] | None:
        """The pointer in the picture below it, 0 to 1 to the right and downwards."""
        place = self._pointer
        for _, cell in self._cells() if place is not None else ():
            if cell.contains(place):
                across, down = place.x() - cell.left(), place.y() - cell.top()
                return across / cell.width(), down / cell.height()
        return None

    def _draw_wiped(self, painter: QPainter, cell: QRectF) -> None:
        if "neural" not in self._images:
            return
        line = cell.left() + self.wipe * cell.width()
        painter.save()
        painter.setClipRect(QRectF(line, cell.top(), cell.right() - line, cell.height()))
        self._draw(painter, "neural", cell)
        painter.restore()
        painter.setPen(QPen(Qt.GlobalColor.white, 1.5))
        painter.drawLine(QPointF(line, cell.top()), QPointF(line, cell.bottom()))
        painter.setBrush(Qt.GlobalColor.white)
        painter.drawEllipse(QPointF(line, cell.center().y()), 4, 4)

    def _label_wiped(self, painter: QPainter, cell: QRectF) -> None:
        if "neural" not in self._images:
            self._label(painter, "reference", cell, Qt.AlignmentFlag.AlignLeft)
            return
        self._label(painter, "reference", cell, Qt.AlignmentFlag.AlignLeft)
        names = (self._name("reference"), self._name("neural"))
        widths = [self.fontMetrics().horizontalAdvance(name) + 2 * _LABEL_MARGIN for name in names]
        # the labels would overlap
        is_narrow = sum(widths) > cell.width()
        low = Qt.AlignmentFlag.AlignBottom if is_narrow else Qt.AlignmentFlag.AlignTop
        self._label(painter, "neural", cell, Qt.AlignmentFlag.AlignRight, low)

    def _name(self, part: str) -> str:
        """The name of a picture: a version may have its place."""
        return self._model.history.name_of(part) or NAMES[part]

    def _label(
        self,
        painter: QPainter,
        part: str,
        cell: QRectF,
        side: Qt.AlignmentFlag,
        height: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignTop,
    ) -> None:
        text = self._name(part)
        picture = self._model.pictures.parts.get(part)
        if part == "heat" and picture is not None:
            text += f", bright = {100 * picture.top:g}% or more"
        # pictures and labels do not follow the reading direction; a picture may be narrower than
        # its label
        sides = side | Qt.AlignmentFlag.AlignAbsolute | height
        self._write(painter, text, cell, sides | Qt.TextFlag.TextWordWrap)

    def _draw_texel(self, painter: QPainter) -> None:
        """Labels the texel under the pointer, or the one in the middle."""
        text = self.texel_text()
        if text:
            sides = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
            # a picture may be narrower than the line
            wraps = Qt.TextFlag.TextWordWrap
            self._write(painter, text, QRectF(self.rect()), sides | wraps)

    def texel_text(self) -> str:
        """The position and the colours of that texel. Empty unless texels are drawn as squares."""
        cells = [cell for _, cell in self._cells()]
        pointer = self._pointer
        cell = next((each for each in cells if pointer and each.contains(pointer)), None)
        if cell is None or pointer is None:
            cell = cells[0]
            pointer = cell.center()
        texel = self._model.texel_at(
            (pointer.x() - cell.left()) / cell.width(), (pointer.y() - cell.top()) / cell.height()
        )
        if texel is None:
            return ""
        place = "texel {} {} of {},  u {:.4f}  v {:.4f}".format(
            texel.column, texel.row, texel.across, *texel.uv
        )
        colours = [
            f"{NAMES[part]} {red} {green} {blue}"
            for part, (red, green, blue) in texel.colours.items()
        ]
        return "\n".join([place, ",  ".join(colours)])

    def _write(self, painter: QPainter, text: str, cell: QRectF, flags: Qt.AlignmentFlag) -> None:
        room = cell.adjusted(_LABEL_MARGIN, 8, -_LABEL_MARGIN, -8)
        box = painter.boundingRect(room, flags, text).adjusted(-5, -2, 5, 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.palette().color(QPalette.ColorRole.Window))
        painter.setOpacity(0.8)
        painter.drawRoundedRect(box, 3, 3)
        painter.setOpacity(1.0)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        painter.drawText(room, flags, text)

    # mouse and keyboard

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Requests pictures of the size of the viewport, limited by the speed of the device."""
        side = self._cells()[0][1].width() * self.devicePixelRatioF()
        size = int(min(self._max_size, max(_MIN_SIZE, side))) // 16 * 16
        self._model.set_view(size=size)

    def _check_device(self) -> None:
        """Allows larger pictures on a graphics card, which is known when a material is open."""
        largest = _MAX_SIZE_ON_GPU if self._model.trainer == "tensor" else _MAX_SIZE
        if largest != self._max_size:
            self._max_size = largest
            self._fit()
        self.update()

    def _cell_at(self, place: QPointF) -> QRectF:
        cells = [cell for _, cell in self._cells()]
        return next((cell for cell in cells if cell.contains(place)), cells[0])

    def _is_on_wipe(self, place: QPointF) -> bool:
        cell = self._cells()[0][1]
        line = cell.left() + self.wipe * cell.width()
        is_there = "neural" in self._images and cell.top() <= place.y() <= cell.bottom()
        return self.mode == WIPE and is_there and abs(place.x() - line) < _GRIP

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
        if self._model.view.zoom >= PIXELATED_FROM or self.paints:
            self.update()
        if not self._drag:
            shape = Qt.CursorShape.SplitHCursor if self._is_on_wipe(place) else None
            shape = shape or (Qt.CursorShape.CrossCursor if self.paints else None)
            self.setCursor(shape or Qt.CursorShape.ArrowCursor)
        elif self._drag == "wipe":
            cell = self._cells()[0][1]
            self.wipe = min(1.0, max(0.0, (place.x() - cell.left()) / cell.width()))
            self.update()
        elif self._drag == "paint":
            for touched in points_between(place - step, place, _BRUSH_STEP):
                self._touch(touched)
        elif self._drag == "turn":
            self._turn(step.x() * _DEGREES_PER_PIXEL, step.y() * _DEGREES_PER_PIXEL)
        elif self._drag == "light":
            self._turn_light(step.x() * _DEGREES_PER_PIXEL, step.y() * _DEGREES_PER_PIXEL)
        elif self._drag == "move":
            side = self._cell_at(place).width()
            view = self._model.view
            scale = 2 / side / view.zoom
            self._model.set_view(x=view.x - step.x() * scale, y=view.y + step.y() * scale)

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
        self._zoom(_ZOOM_STEP**notches, event.position())

    def keyPressEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        key, keys = event.key(), Qt.Key
        steps = {
            keys.Key_Left: (-1, 0),
            keys.Key_Right: (1, 0),
            keys.Key_Up: (0, -1),
            keys.Key_Down: (0, 1),
        }
        if key in steps:
            across, down = (_KEY_DEGREES * each for each in steps[key])
            is_light = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self._turn_light(across, down) if is_light else self._turn(across, down)
        elif key in (keys.Key_Plus, keys.Key_Equal):
            self._zoom(_ZOOM_STEP)
        elif key == keys.Key_Minus:
            self._zoom(1 / _ZOOM_STEP)
        elif key == keys.Key_Home:
            self.see_all()
        elif key in (keys.Key_Comma, keys.Key_Period):
            self.wipe += -0.05 if key == keys.Key_Comma else 0.05
            self.wipe = min(1.0, max(0.0, self.wipe))
            self.update()
        else:
            super().keyPressEvent(event)

    def see_all(self) -> None:
        self._model.set_view(turn=0.0, pitch=0.0, zoom=1.0, x=0.0, y=0.0)

    def _touch(self, place: QPointF) -> None:
        cell = self._cell_at(place)
        self.painted.emit(
            (place.x() - cell.left()) / cell.width(), (place.y() - cell.top()) / cell.height()
        )

    def _turn(self, across: float, down: float) -> None:
        view = self._model.view
        pitch = min(90.0, max(-90.0, view.pitch + down))
        self._model.set_view(turn=(view.turn + across + 180) % 360 - 180, pitch=pitch)

    def _turn_light(self, across: float, down: float) -> None:
        x, y, z = self._model.view.light
        length = math.sqrt(x * x + y * y + z * z)
        height = math.asin(max(-1.0, min(1.0, y / length))) - math.radians(down)
        height = min(math.radians(89), max(math.radians(-89), height))
        turn = math.atan2(x, z) + math.radians(across)
        level = math.cos(height)
        light = (level * math.sin(turn), math.sin(height), level * math.cos(turn))
        self._model.set_view(light=light)

    def _zoom(self, factor: float, place: QPointF | None = None) -> None:
        """Zooms around the pointer."""
        view = self._model.view
        zoom = min(_MAX_ZOOM, max(1.0, view.zoom * factor))
        x, y = view.x, view.y
        if place is not None:
            cell = self._cell_at(place)
            away_x = 2 * (place.x() - cell.center().x()) / cell.width()
            away_y = -2 * (place.y() - cell.center().y()) / cell.height()
            x += away_x * (1 / view.zoom - 1 / zoom)
            y += away_y * (1 / view.zoom - 1 / zoom)
        limit = 1 - 1 / zoom
        self._model.set_view(zoom=zoom, x=min(limit, max(-limit, x)), y=min(limit, max(-limit, y)))
