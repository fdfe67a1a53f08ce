"""Pictures to show: what the viewport shows, or a sheet of all parts, as a file or a copy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QRectF, Qt, QTimer
from PySide6.QtGui import QFont, QGuiApplication, QImage, QPainter, QPalette
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.outputs import check_output, write_file
from verdigris.core.worker.protocol.worker_events import TRAINING
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.signals import ERROR, INFO
from verdigris.ui.style.icons import wear
from verdigris.ui.viewport.picture_area import NAMES, PARTS, SIDE_BY_SIDE, WIPE
from verdigris.ui.viewport.scale_bar import draw_bar
from verdigris.ui.viewport.viewport import Viewport

_PICTURES = "Pictures (*.png)"
SHEET = "sheet"
# Milliseconds for which a sheet waits for pictures without grain.
_PATIENCE = 20_000
# The gap between pictures, and letters, as shares of a picture's height.
_GAP, _LETTERS = 0.02, 0.04
_LEAST_LETTERS = 11


class CameraButton(QToolButton):
    """A button with a menu that saves and copies."""

    def __init__(self, model: PanelModel, viewport: Viewport) -> None:
        super().__init__()
        self._model, self._viewport = model, viewport
        self._folder = Path()
        self._waiting: Callable[[], None] | None = None
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE)
        self._patience.timeout.connect(self._follow)
        wear(self, "camera")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip("Saves or copies the pictures, in full size and without labels")
        self.setAccessibleName("Camera")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.choices = QMenu(self)
        self.choices.setToolTipsVisible(True)
        self.save = self.choices.addAction("Save the picture…")
        self.save.setToolTip("What the viewport shows: one picture, the wipe, or all three (P)")
        self.copy = self.choices.addAction("Copy the picture")
        self.copy.setToolTip("To paste it into a message or a document (Ctrl+C)")
        self.sheet = self.choices.addAction("Save all three…")
        self.sheet.setToolTip("Reference, neural material and difference beside each other")
        self.save.triggered.connect(lambda _: self.save_picture())
        self.copy.triggered.connect(lambda _: self.copy_picture())
        self.sheet.triggered.connect(lambda _: self.save_sheet())
        self.choices.aboutToShow.connect(self._show)
        self.setMenu(self.choices)
        viewport.saves.connect(self.save_picture)
        viewport.copies.connect(self.copy_picture)
        bind(self, model.state.pictures.changed, self._follow)

    def _show(self) -> None:
        parts = self._model.state.pictures.parts
        self.save.setEnabled("reference" in parts)
        self.copy.setEnabled("reference" in parts)
        self.sheet.setEnabled("neural" in parts)

    @property
    def _kind(self) -> str:
        mode = self._viewport.mode
        return SHEET if mode == SIDE_BY_SIDE else mode

    def save_picture(self) -> None:
        """Saves what the viewport shows, where the artist chooses."""
        if self._kind == SHEET:
            self.save_sheet()
            return
        image = picture_of(self._viewport)
        path = self._choose(self._kind) if image is not None else None
        if image is not None and path is not None:
            self._write(image, path)

    def copy_picture(self) -> None:
        image = picture_of(self._viewport)
        if image is not None:
            QGuiApplication.clipboard().setImage(image)
            self._model.state.notices.add(INFO, f"Copied: {image.width()} x {image.height()}")

    def save_sheet(self) -> None:
        """Saves all three pictures as soon as the difference is drawn."""
        if "neural" not in self._model.state.pictures.parts:
            return
        path = self._choose(SHEET)
        if path is not None:
            self._waiting = lambda: self._write_sheet(path)
            self._viewport.need_all(is_needed=True)
            self._patience.start()
            self._follow()
            if self._waiting is not None:
                text = f"{path.name} is saved when all three pictures are drawn."
                self._model.state.notices.add(INFO, text)

    def _follow(self) -> None:
        if self._waiting is not None and self._is_ready():
            write, self._waiting = self._waiting, None
            write()

    def _is_ready(self) -> bool:
        """Whether the parts belong together, and are as smooth as they get in a moment."""
        found = [self._model.state.pictures.parts.get(part) for part in PARTS]
        number = self._model.state.view.number
        is_live = self._model.link.state == TRAINING
        waits = self._patience.isActive()
        return all(
            each is not None
            and each.view == number
            and (is_live or (each.sharp == 1 and (each.refined == 1 or not waits)))
            for each in found
        )

    def _write_sheet(self, path: Path) -> None:
        image = sheet_of(self._viewport)
        self._viewport.need_all(is_needed=False)
        self._write(image, path)

    def _choose(self, kind: str) -> Path | None:
        state = self._model.state
        name = state.current.name if state.current is not None else "material"
        folder = self._folder
        if folder == Path() and state.history.bundle is not None:
            folder = state.history.bundle.parent
            folder = folder if folder.is_dir() else folder.parent
        proposed = str(folder / f"{_file_name(name)}_{kind}.png")
        found, _ = QFileDialog.getSaveFileName(self, "Save the picture", proposed, _PICTURES)
        if not found:
            return None
        path = Path(found)
        path = path if path.suffix else path.with_suffix(".png")
        self._folder = path.parent
        return path

    def _write(self, image: QImage, path: Path) -> None:
        notices = self._model.state.notices
        try:
            if path.suffix.lower() != ".png":
                raise VerdigrisError(f"{path}: pictures are saved as .png: change the suffix")
            write_file(check_output(path), png_of(image))
        except VerdigrisError as failure:
            notices.add(ERROR, str(failure))
        else:
            notices.add(INFO, f"Saved: {path.name}", reveal=path)


def _file_name(name: str) -> str:
    """A material's name without what a file's name cannot contain."""
    return "".join(each if each.isalnum() or each in "-_." else "_" for each in name)


def png_of(image: QImage) -> bytes:
    """The bytes of a PNG file."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(data.data())


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


_SMOOTH = Qt.TransformationMode.SmoothTransformation
_WHITE = Qt.GlobalColor.white
