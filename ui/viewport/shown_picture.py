"""What the viewport shows as one picture, with the pixels that were drawn."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QImage, QPainter, QPalette

from verdigris.core.worker.protocol.worker_events import TRAINING
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.viewport.picture_area import NAMES, PARTS, SIDE_BY_SIDE, WIPE
from verdigris.ui.viewport.scale_bar import draw_bar
from verdigris.ui.viewport.viewport import Viewport

# The gap between pictures, and letters, as shares of a picture's height.
_GAP, _LETTERS = 0.02, 0.04
_LEAST_LETTERS = 11
_SMOOTH = Qt.TransformationMode.SmoothTransformation
_WHITE = Qt.GlobalColor.white


def is_drawn(model: PanelModel, parts: Sequence[str], waits: bool) -> bool:
    """Whether the parts belong to the present view, and, with `waits`, have no grain."""
    number, is_live = model.state.view.number, model.link.state == TRAINING
    found = [model.state.pictures.parts.get(part) for part in parts]
    return all(
        each is not None
        and each.view == number
        and (is_live or (each.sharp == 1 and (each.refined == 1 or not waits)))
        for each in found
    )


def parts_of(viewport: Viewport) -> tuple[str, ...]:
    """The parts that the viewport shows, as far as there are pictures of them."""
    wanted = {SIDE_BY_SIDE: PARTS, WIPE: PARTS[:2]}.get(viewport.mode, (viewport.mode,))
    found = tuple(part for part in wanted if viewport.image_of(part) is not None)
    return found or ("reference",)


def picture_of(viewport: Viewport) -> QImage | None:
    """What the viewport shows, with the pixels that were drawn; None before there are any."""
    if viewport.mode == SIDE_BY_SIDE:
        return sheet_of(viewport) if viewport.image_of("reference") is not None else None
    part = "reference" if viewport.mode == WIPE else viewport.mode
    image = viewport.image_of(part)
    neural = viewport.image_of("neural") if viewport.mode == WIPE else None
    if image is None or neural is None:
        return image
    size = image if image.height() >= neural.height() else neural
    wiped = image.scaled(size.size(), mode=_SMOOTH).convertToFormat(QImage.Format.Format_RGB888)
    line = round(viewport.wipe * wiped.width())
    painter = QPainter(wiped)
    painter.drawImage(
        QRectF(line, 0, wiped.width() - line, wiped.height()),
        neural.scaled(size.size(), mode=_SMOOTH),
        QRectF(line, 0, wiped.width() - line, wiped.height()),
    )
    painter.fillRect(QRectF(line, 0, max(1, wiped.width() // 512), wiped.height()), _WHITE)
    painter.end()
    return wiped


def sheet_of(viewport: Viewport) -> QImage:
    """Reference, neural material and difference beside each other, each with its name."""
    found = [(part, image) for part in PARTS if (image := viewport.image_of(part)) is not None]
    width = max(image.width() for _, image in found)
    height = max(image.height() for _, image in found)
    gap = max(2, round(_GAP * height))
    font = QFont(viewport.font())
    font.setPixelSize(max(_LEAST_LETTERS, round(_LETTERS * height)))
    head = 2 * font.pixelSize()
    sheet = QImage(
        len(found) * width + (len(found) - 1) * gap, height + head, QImage.Format.Format_RGB888
    )
    palette = viewport.palette()
    sheet.fill(palette.color(QPalette.ColorRole.Window))
    painter = QPainter(sheet)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.setFont(font)
    for number, (part, image) in enumerate(found):
        place = QRectF(number * (width + gap), head, width, height)
        painter.drawImage(place, image)
        name = viewport.name_of(part)
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        row = QRectF(place.left(), 0, width, head)
        sides = Qt.AlignmentFlag.AlignCenter
        painter.drawText(row, sides, name if name == NAMES[part] else f"{NAMES[part]}: {name}")
        if part == "heat":
            draw_bar(painter, place, viewport.top, palette, None)
    painter.end()
    return sheet
