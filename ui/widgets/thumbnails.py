"""Small pictures of bakes, for lists of files and materials."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QImageReader, QPainter, QPen, QPixmap

from verdigris.ui.style.icons import paint_icon

_PREVIEW = "preview.png"
# Pixels of a picture in a list of materials, and the share of a badge in it.
PICTURE = 32
_BADGE = 0.38
# It lies on a picture, in every theme.
_BADGE_COLOUR = QColor(250, 190, 60)


def picture_of(bundle: Path | None, size: int) -> QPixmap | None:
    """The picture of a bundle; None if it is missing."""
    if bundle is None:
        return None
    path = bundle / _PREVIEW
    try:
        written = path.stat().st_mtime_ns
    except OSError:
        return None
    return _kept(path, written, size)


@lru_cache(maxsize=512)
def _kept(path: Path, _written: int, size: int) -> QPixmap:
    """Lists are built again at each change, and may be long."""
    return thumbnail(path, size)


def blank(size: int) -> QPixmap:
    """The picture of a page, in place of a missing one."""
    made = QPixmap(size, size)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    edge = size / 4
    area = QRectF(made.rect()).adjusted(edge, edge, -edge, -edge)
    # seen on light and on dark
    paint_icon(painter, "document", area, QColor(128, 128, 128))
    painter.end()
    return made


def icon_of(bundle: Path | None, size: int, has_badge: bool = False) -> QIcon:
    """The picture of a bundle as an icon, which is empty for a missing bundle. `has_badge`: with a
    dot in its corner."""
    found = picture_of(bundle, size)
    if found is None:
        return QIcon()
    if has_badge:
        found = found.copy()
        painter = QPainter(found)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(0, 0, 0, 200), 1.5))
        painter.setBrush(_BADGE_COLOUR)
        edge = size * _BADGE
        painter.drawEllipse(QRectF(found.width() - edge - 1, 1, edge, edge))
        painter.end()
    return QIcon(found)


def thumbnail(preview: Path, size: int) -> QPixmap:
    """The neural part of a preview, which contains reference, neural material and heat map in a
    row."""
    reader = QImageReader(str(preview))
    whole = reader.size()
    if whole.isValid() and whole.width() > 2 * whole.height():
        third = whole.width() // 3
        reader.setClipRect(QRect(third, 0, third, whole.height()))
    reader.setScaledSize(QSize())
    image = reader.read()
    if image.isNull():
        empty = QPixmap(size, size)
        empty.fill(Qt.GlobalColor.transparent)
        return empty
    smooth = Qt.TransformationMode.SmoothTransformation
    return QPixmap.fromImage(
        image.scaled(size, size, Qt.AspectRatioMode.KeepAspectRatioByExpanding, smooth)
    )
