"""Draws the pictures of the viewport side by side, with their labels, scale and badge."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QImage, QLinearGradient, QPainter, QPalette, QPen
from PySide6.QtWidgets import QWidget

from verdigris.core.pictures.view import NEURAL, PIXELATED_FROM, REFERENCE
from verdigris.core.worker.protocol.worker_events import TRAINING
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.drawing import image_of
from verdigris.ui.style.colours import is_dark
from verdigris.ui.viewport.scale_bar import (
    LOCKED,
    draw_bar,
    draw_rings,
    heat_image,
    scale_top,
    value_at,
    worst_spots,
)

WIPE, SIDE_BY_SIDE = "wipe", "side by side"
PARTS = ("reference", "neural", "heat")
MODES = (WIPE, SIDE_BY_SIDE, *PARTS)
_GAP = 4
NAMES = {"reference": "Reference", "neural": "Neural", "heat": "Difference"}
# Milliseconds between pictures of the shimmer, and the number of them from edge to edge.
_SHIMMER_INTERVAL, _SHIMMER_STEPS = 100, 20
_LEARNING = "Learning: the neural material appears in a few seconds"
# Pixels below the pictures for one line of messages. They are kept while there is none, so that the
# pictures stay when a message comes or goes: another size would draw them anew.
FOOTER = 44
# Pixels between the edge of a picture and its label.
_LABEL_MARGIN = 10


def cells_of(mode: str, area: QRectF) -> list[tuple[str, QRectF]]:
    """The parts to draw and their places: those with the largest shapes."""
    if mode != SIDE_BY_SIDE:
        return [("reference" if mode == WIPE else mode, area)]
    grids = [_grid(area, across) for across in range(1, len(PARTS) + 1)]
    best = max(grids, key=lambda cells: min(cells[0].width(), cells[0].height()))
    return list(zip(PARTS, best, strict=True))


def _grid(area: QRectF, across: int) -> list[QRectF]:
    """A place of the same size for each part, so many in a row. The last row is in the middle."""
    rows = -(-len(PARTS) // across)
    width = max(1.0, (area.width() - (across - 1) * _GAP) / across)
    height = max(1.0, (area.height() - (rows - 1) * _GAP) / rows)
    cells = []
    for number in range(len(PARTS)):
        row, column = divmod(number, across)
        indent = (across - min(across, len(PARTS) - row * across)) * (width + _GAP) / 2
        left = area.left() + indent + column * (width + _GAP)
        cells.append(QRectF(left, area.top() + row * (height + _GAP), width, height))
    return cells


class PictureArea(QWidget):
    """The latest pictures of a model."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self._images: dict[str, tuple[object, QImage]] = {}
        self._spots: list[tuple[float, float]] = []
        self._pointer: QPointF | None = None
        self._footer = 0
        self.mode = WIPE
        self.wipe = 0.5
        self.flicker = ""
        """The part that is shown alone for a moment."""
        self.is_scale_locked = True
        self.top = LOCKED
        """The difference at the end of the scale."""
        self.layers: list[Callable[[QPainter, str, QRectF], None]] = []
        """Drawn over each picture, below its label: the painter, the part, and its place."""
        self._shimmer = 0
        self._shimmer_timer = QTimer(self)
        self._shimmer_timer.setInterval(_SHIMMER_INTERVAL)
        self._shimmer_timer.timeout.connect(self._move_shimmer)
        bind(self, model.state.pictures.changed, self.show_pictures)
        for signal in (model.state.view_changed, model.state.report_changed):
            bind(self, signal, self.update)
        bind(self, model.state.film.shown_changed, self.update)
        bind(self, model.link.state_changed, self._follow_state)

    def show_pictures(self) -> None:
        images = {}
        parts = self._model.state.pictures.parts
        for part, picture in parts.items():
            is_heat = picture.pixels.shape[2] == 1
            below = parts.get("reference") if is_heat else None
            if below is not None and below.view != picture.view:
                below = None
            key: object = picture
            if is_heat:
                self.top = scale_top(picture.pixels, self.is_scale_locked)
                key = (picture, self.top, below)
            found = self._images.get(part)
            if found is None or found[0] != key:
                if is_heat:
                    shape = None if below is None else below.pixels
                    found = (key, heat_image(picture.pixels, self.top, shape))
                    self._spots = worst_spots(picture.pixels)
                else:
                    found = (key, image_of(picture.pixels))
            images[part] = found
        self._images = images
        self._follow_state()

    def image_of(self, part: str) -> QImage | None:
        """The picture of a part in its own size."""
        found = self._images.get(part)
        return found[1] if found is not None else None

    def area(self) -> QRectF:
        """The place of the pictures, above the messages."""
        footer = min(max(self._footer, FOOTER), self.height() / 2)
        return QRectF(self.rect()).adjusted(0, 0, 0, -footer)

    @property
    def _frame(self) -> QRectF:
        """What belongs to the pictures. Before the first one, messages lie on it."""
        return self.area() if self._images else QRectF(self.rect())

    def cells(self) -> list[tuple[str, QRectF]]:
        """The parts to draw and their places."""
        found = cells_of(self.mode, self.area())
        return [(self.flicker or part, cell) for part, cell in found]

    @property
    def is_wiped(self) -> bool:
        return self.mode == WIPE and not self.flicker

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        ground = self.palette().color(QPalette.ColorRole.Base)
        # what is kept for messages belongs to the window
        painter.fillRect(self.rect(), self.palette().color(QPalette.ColorRole.Window))
        painter.fillRect(self._frame, ground if is_dark(self) else ground.darker(112))
        if self._model.state.film.shown is not None:
            self._draw_film(painter)
            return
        pixelated = self._model.state.view.zoom >= PIXELATED_FROM
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, not pixelated)
        for part, cell in self.cells():
            self._draw(painter, part, cell)
            if self.is_wiped:
                self._draw_wiped(painter, cell)
            if self.is_learning:
                self._draw_shimmer(painter, part, cell)
            self._draw_layers(painter, part, cell)
            if self.is_wiped:
                self._label_wiped(painter, cell)
            else:
                self._label(painter, part, cell, Qt.AlignmentFlag.AlignLeft)
            if part == "heat" and part in self._images:
                value = self.value_below()
                draw_rings(painter, _covering(cell, self._images[part][1]), self._spots)
                draw_bar(painter, cell, self.top, self.palette(), value)
        self._draw_texel(painter)
        self._draw_badge(painter)
        if self.hasFocus():
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self._frame.adjusted(0.5, 0.5, -0.5, -0.5))

    def _draw_film(self, painter: QPainter) -> None:
        """A picture of the film of the bake, in place of all others."""
        frame = self._model.state.film.shown
        assert frame is not None
        image, area = image_of(frame.pixels), self.area()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(_covering(area, image), image)
        self._write(painter, f"Neural at step {frame.step:,}", area, Qt.AlignmentFlag.AlignLeft)

    def value_below(self) -> float | None:
        """The difference under the pointer."""
        place, heat = self.pointer_at(), self._model.state.pictures.parts.get("heat")
        return value_at(heat.pixels, *place) if place is not None and heat is not None else None

    def badge(self) -> str:
        """What is shown while it is not final."""
        pictures = self._model.state.pictures.parts
        neural, reference = pictures.get("neural"), pictures.get("reference")
        if self._model.link.state == TRAINING and neural is not None:
            size = min(neural.pixels.shape[:2])
            return f"live {size} px" + (", refining" if neural.sharp < 1 else "")
        if reference is None:
            return ""
        shown = {REFERENCE: [reference], NEURAL: [neural]}
        parts = shown.get(self._model.state.view.shows, [reference, neural])
        found = [each for each in parts if each is not None]
        if any(each.sharp < 1 for each in found):
            return f"refining, {min(each.sharp for each in found):.0%}"
        refined = min((each.refined for each in found), default=1.0)
        return f"smoothing, {refined:.0%}" if refined < 1 else ""

    @property
    def is_learning(self) -> bool:
        """Whether a network trains that has not learnt anything to look at yet."""
        return self._model.link.state == TRAINING and not self._has_neural

    @property
    def _has_neural(self) -> bool:
        return "neural" in self._images

    def _follow_state(self) -> None:
        if self.is_learning != self._shimmer_timer.isActive():
            self._shimmer = 0
            (self._shimmer_timer.start if self.is_learning else self._shimmer_timer.stop)()
        self.update()

    def _move_shimmer(self) -> None:
        self._shimmer = (self._shimmer + 1) % _SHIMMER_STEPS
        self.update()

    def _draw_shimmer(self, painter: QPainter, part: str, cell: QRectF) -> None:
        """A light that moves over the reference, where the neural material will be."""
        if part == "reference" and not self.is_wiped:
            return
        found = self._images.get("reference")
        # a copy: the left edge is moved
        place = QRectF(cell if found is None else _covering(cell, found[1]))
        if self.is_wiped:
            place.setLeft(max(place.left(), cell.left() + self.wipe * cell.width()))
        place = place.intersected(cell)
        if part != "reference" and "reference" in self._images:
            self._draw(painter, "reference", cell)
        painter.fillRect(place, QColor(0, 0, 0, 70))
        middle = place.left() + (self._shimmer / _SHIMMER_STEPS * 1.6 - 0.3) * place.width()
        band = QLinearGradient(middle - 0.3 * place.width(), 0, middle + 0.3 * place.width(), 0)
        for at, strength in ((0.0, 0), (0.5, 70), (1.0, 0)):
            band.setColorAt(at, QColor(255, 255, 255, strength))
        painter.fillRect(place, band)
        if part != "heat":
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            self._write(painter, _LEARNING, place, flags)

    def _draw_badge(self, painter: QPainter) -> None:
        text = self.badge()
        if text:
            sides = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
            sides |= Qt.AlignmentFlag.AlignAbsolute
            self._write(painter, text, self.area(), sides)

    def _draw(self, painter: QPainter, part: str, cell: QRectF) -> None:
        found = self._images.get(part)
        if found is not None:
            painter.save()
            painter.setClipRect(cell, Qt.ClipOperation.IntersectClip)
            painter.drawImage(_covering(cell, found[1]), found[1])
            painter.restore()
            return
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(cell, flags, f"{NAMES[part]}\n{self.placeholder(part)}")

    def placeholder(self, part: str) -> str:
        """The text in place of a missing picture."""
        if self._model.state.is_refused:
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
        for _, cell in self.cells() if place is not None else ():
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
        names = (self.name_of("reference"), self.name_of("neural"))
        widths = [self.fontMetrics().horizontalAdvance(name) + 2 * _LABEL_MARGIN for name in names]
        # the labels would overlap
        is_narrow = sum(widths) > cell.width()
        low = Qt.AlignmentFlag.AlignBottom if is_narrow else Qt.AlignmentFlag.AlignTop
        self._label(painter, "neural", cell, Qt.AlignmentFlag.AlignRight, low)

    def name_of(self, part: str) -> str:
        """The name of a picture. A version may be in its place."""
        return self._model.state.history.name_of(part) or NAMES[part]

    def _label(
        self,
        painter: QPainter,
        part: str,
        cell: QRectF,
        side: Qt.AlignmentFlag,
        height: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignTop,
    ) -> None:
        text = self.name_of(part)
        picture = self._model.state.pictures.parts.get(part)
        if part == "heat" and picture is not None:
            value = self.value_below()
            is_open = value is None and self.pointer_at() is not None
            text += "  not compared yet" if is_open else "" if value is None else f"  {value:.1%}"
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
            self._write(painter, text, self.area(), sides | wraps)

    def texel_text(self) -> str:
        """The position and the colours of that texel. Empty unless texels are drawn as squares."""
        cells = [cell for _, cell in self.cells()]
        pointer = self._pointer
        cell = next((each for each in cells if pointer and each.contains(pointer)), None)
        if cell is None or pointer is None:
            cell = cells[0]
            pointer = cell.center()
        state = self._model.state
        x = (pointer.x() - cell.left()) / cell.width()
        y = (pointer.y() - cell.top()) / cell.height()
        texel = state.pictures.texel_at(x, y, state.view.number)
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


def _covering(cell: QRectF, image: QImage) -> QRectF:
    """The place of a picture whose shorter side fits the shorter side of its cell. While a window
    is resized, the two have different proportions."""
    scale = min(cell.width(), cell.height()) / max(1, min(image.width(), image.height()))
    place = QRectF(0, 0, image.width() * scale, image.height() * scale)
    if abs(place.width() - cell.width()) < 2 and abs(place.height() - cell.height()) < 2:
        return cell
    place.moveCenter(cell.center())
    return place
