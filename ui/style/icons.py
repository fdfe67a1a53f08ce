"""Icons, drawn on a grid of 16 units in the colours of the palette.

An icon is a line of commands: `M x y` moves, `L x y` draws a line, `O x y r` a circle, `A x y r
from span` an arc in degrees, counter-clockwise from the right, and `Z` closes and fills.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPalette, QPen, QPixmap
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from verdigris.ui.style.colours import dim_text
from verdigris.ui.style.metrics import ICON

PATHS = {
    "bake": "M 4.5 2.5 L 13 8 L 4.5 13.5 Z",
    "pause": "M 4 3 L 6.5 3 L 6.5 13 L 4 13 Z M 9.5 3 L 12 3 L 12 13 L 9.5 13 Z",
    "keep": "M 3 8.5 L 6.5 12 L 13 4",
    "cross": "M 4 4 L 12 12 M 12 4 L 4 12",
    "reload": "A 8 8 5 40 280 M 12.5 1.5 L 12 5 L 8.5 4.8",
    "help": "A 8 5.8 3 160 -250 M 8 8.8 L 8 10 M 8 12.8 L 8 13.2",
    "right": "M 6 4 L 10 8 L 6 12",
    "down": "M 4 6 L 8 10 L 12 6",
    "up": "M 4 10 L 8 6 L 12 10",
    "brush": "M 13.5 2.5 L 7.5 8.5 M 6.5 9 L 7.5 10 L 5.5 13 L 2.5 13.5 L 4 10.5 Z",
    "erase": "M 9 3 L 13.5 7.5 L 8 13 L 5.5 13 L 3 10.5 L 9 3 M 5.8 7.2 L 10.2 10.8",
    "fill": "M 3 3 L 13 3 L 13 13 L 3 13 Z",
    "clear": "M 3 3 L 13 3 L 13 13 L 3 13 L 3 3",
    "invert": "O 8 8 5.5 M 8 2.5 L 8 13.5 Z A 8 8 5.5 90 -180 Z",
    "undo": "M 6.5 3 L 3 6.5 L 6.5 10 M 3 6.5 L 10 6.5 A 10 9.75 3.25 90 -180 M 10 13 L 6 13",
    "redo": "M 9.5 3 L 13 6.5 L 9.5 10 M 13 6.5 L 6 6.5 A 6 9.75 3.25 90 180 M 6 13 L 10 13",
    "mirror": "M 8 2 L 8 14 M 6 4.5 L 2 11.5 L 6 11.5 Z M 10 4.5 L 14 11.5 L 10 11.5 L 10 4.5",
    "target": "O 8 8 5 O 8 8 1.5 M 8 1 L 8 4 M 8 12 L 8 15 M 1 8 L 4 8 M 12 8 L 15 8",
    "document": "M 9.5 2 L 3.5 2 L 3.5 14 L 12.5 14 L 12.5 5 L 9.5 2 M 9.5 2 L 9.5 5 L 12.5 5",
    "folder": "M 2 4 L 6 4 L 7.5 5.5 L 14 5.5 L 14 12.5 L 2 12.5 L 2 4",
    "import": "M 8 2.5 L 8 10 M 5 7 L 8 10 L 11 7 M 3 13 L 13 13",
    "export": "M 8 10 L 8 2.5 M 5 5.5 L 8 2.5 L 11 5.5 M 3 13 L 13 13",
    "sun": "O 8 8 3 M 8 1 L 8 3 M 8 13 L 8 15 M 1 8 L 3 8 M 13 8 L 15 8 M 3 3 L 4.4 4.4 "
    "M 11.6 11.6 L 13 13 M 3 13 L 4.4 11.6 M 11.6 4.4 L 13 3",
    "camera": "M 2 5 L 5 5 L 6 3 L 10 3 L 11 5 L 14 5 L 14 13 L 2 13 L 2 5 O 8 9 2.5",
    "link": "M 6.5 9.5 L 9.5 6.5 A 11 5 2.6 -100 280 M 9.2 7.4 L 9 7.6 A 5 11 2.6 80 280",
    "error": "O 8 8 6 M 8 4.5 L 8 8.8 M 8 11.2 L 8 11.5",
    "warning": "M 8 2 L 14.5 13.5 L 1.5 13.5 L 8 2 M 8 6 L 8 9.3 M 8 11.4 L 8 11.7",
    "info": "O 8 8 6 M 8 7.3 L 8 11.5 M 8 4.6 L 8 4.9",
    "check": "O 8 8 6 M 5 8.2 L 7.2 10.4 L 11 5.8",
}
_LINE = 1.5
_SCALES = (1.0, 2.0)


def icon(name: str, colour: QColor, disabled: QColor | None = None) -> QIcon:
    """An icon in one colour, sharp on screens with one or two pixels per point."""
    return _drawn(name, colour.rgba(), None if disabled is None else disabled.rgba())


# A panel has 160 icons of 40 kinds, and gets its palette several times.
@lru_cache(maxsize=256)
def _drawn(name: str, colour: int, disabled: int | None) -> QIcon:
    made = QIcon()
    for mode, shade in ((QIcon.Mode.Normal, colour), (QIcon.Mode.Disabled, disabled)):
        for scale in _SCALES if shade is not None else ():
            made.addPixmap(_pixmap(name, QColor.fromRgba(shade), scale), mode)
    return made


def paint_icon(painter: QPainter, name: str, area: QRectF, colour: QColor) -> None:
    """Draws an icon into an area."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(area.topLeft())
    painter.scale(area.width() / ICON, area.height() / ICON)
    cap, join = Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
    painter.setPen(QPen(colour, _LINE, Qt.PenStyle.SolidLine, cap, join))
    for path, is_filled in _paths(name):
        painter.setBrush(colour if is_filled else Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
    painter.restore()


def wear(button: QAbstractButton, name: str, role: QPalette.ColorRole | None = None) -> None:
    """Gives a button an icon, which follows its palette. A second call changes the icon."""
    found = button.findChild(_Wearing, options=Qt.FindChildOption.FindDirectChildrenOnly)
    worn = found if found is not None else _Wearing(button)
    worn.show(name, role or QPalette.ColorRole.ButtonText)


class _Wearing(QObject):
    """Makes the icon of a button again when its palette changes."""

    def __init__(self, button: QAbstractButton) -> None:
        super().__init__(button)
        self._button = button
        self._shown: QIcon | None = None
        button.setIconSize(QSize(ICON, ICON))
        button.installEventFilter(self)

    def show(self, name: str, role: QPalette.ColorRole) -> None:
        self._name, self._role = name, role
        # not the button's own: a style sheet gives it the colours of its present state
        palette = QApplication.palette()
        found = icon(name, palette.color(role), dim_text(palette))
        if found is not self._shown:
            self._shown = found
            self._button.setIcon(found)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() == QEvent.Type.PaletteChange:
            self.show(self._name, self._role)
        return False


def _pixmap(name: str, colour: QColor, scale: float) -> QPixmap:
    pixels = QPixmap(round(ICON * scale), round(ICON * scale))
    pixels.setDevicePixelRatio(scale)
    pixels.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixels)
    paint_icon(painter, name, QRectF(0, 0, ICON, ICON), colour)
    painter.end()
    return pixels


def _paths(name: str) -> list[tuple[QPainterPath, bool]]:
    """The parts of an icon, and whether each is filled."""
    words = PATHS[name].split()
    parts: list[tuple[QPainterPath, bool]] = []
    path, at = QPainterPath(), 0

    def numbers(count: int) -> list[float]:
        return [float(each) for each in words[at + 1 : at + 1 + count]]

    while at < len(words):
        word = words[at]
        if word == "Z":
            path.closeSubpath()
            parts.append((path, True))
            path, at = QPainterPath(), at + 1
            continue
        count = {"M": 2, "L": 2, "O": 3, "A": 5}[word]
        found = numbers(count)
        if word == "M":
            path.moveTo(*found)
        elif word == "L":
            path.lineTo(*found)
        else:
            x, y, radius = found[:3]
            box = QRectF(x - radius, y - radius, 2 * radius, 2 * radius)
            if word == "O":
                path.addEllipse(box)
            else:
                path.arcMoveTo(box, found[3])
                path.arcTo(box, *found[3:])
        at += 1 + count
    return [*parts, (path, False)]


class IconLabel(QWidget):
    """One icon in one colour."""

    def __init__(self, height: int = ICON) -> None:
        super().__init__()
        self.name, self._colour = "info", QColor()
        self.setFixedSize(ICON, height)

    def show_icon(self, name: str, colour: QColor) -> None:
        self.name, self._colour = name, colour
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        top = (self.height() - ICON) / 2
        paint_icon(painter, self.name, QRectF(0, top, ICON, ICON), self._colour)
        painter.end()
