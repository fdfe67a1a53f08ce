"""Pictures to show: what the viewport shows, or a sheet of all parts, as a file or a copy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.outputs import check_output, write_file
from verdigris.core.pictures.moving_files import check_moving_path, has_mp4
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.signals import ERROR, INFO
from verdigris.ui.style.icons import wear
from verdigris.ui.viewport.picture_area import PARTS, SIDE_BY_SIDE
from verdigris.ui.viewport.shown_picture import is_drawn, picture_of, sheet_of
from verdigris.ui.viewport.turntable import PICTURES, RATE, Turntable
from verdigris.ui.viewport.viewport import Viewport

_PICTURES, _WEBP, _MP4 = "Pictures (*.png)", "WebP (*.webp)", "MP4 (*.mp4)"
SHEET = "sheet"
# Milliseconds for which a sheet waits for pictures without grain.
_PATIENCE = 20_000


class CameraButton(QToolButton):
    """A button with a menu that saves and copies."""

    def __init__(self, model: PanelModel, viewport: Viewport) -> None:
        super().__init__()
        self._model, self._viewport = model, viewport
        self._folder = Path()
        self._waiting: Callable[[], None] | None = None
        self.turntable = Turntable(model, viewport)
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
        self.turn = self.choices.addAction("Save a turntable…")
        also = "" if has_mp4() else ". With ffmpeg installed, also as MP4"
        self.turn.setToolTip(f"One turn of the shape in {PICTURES / RATE:.0f} s, as WebP{also}")
        self.turn.triggered.connect(lambda _: self.save_turntable())
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
        self.turn.setEnabled(self.turntable.can_start)

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

    def save_turntable(self) -> None:
        """Saves a turn of what the viewport shows, where the artist chooses."""
        kinds = f"{_WEBP};;{_MP4}" if has_mp4() else _WEBP
        path = self._choose("turn", ".webp", kinds) if self.turntable.can_start else None
        if path is not None:
            try:
                self.turntable.start(check_moving_path(path))
            except VerdigrisError as failure:
                self._model.state.notices.add(ERROR, str(failure))

    def _follow(self) -> None:
        if self._waiting is not None and is_drawn(self._model, PARTS, self._patience.isActive()):
            write, self._waiting = self._waiting, None
            write()

    def _write_sheet(self, path: Path) -> None:
        image = sheet_of(self._viewport)
        self._viewport.need_all(is_needed=False)
        self._write(image, path)

    def _choose(self, kind: str, suffix: str = ".png", kinds: str = _PICTURES) -> Path | None:
        state = self._model.state
        name = state.current.name if state.current is not None else "material"
        folder = self._folder
        if folder == Path() and state.history.bundle is not None:
            folder = state.history.bundle.parent
            folder = folder if folder.is_dir() else folder.parent
        proposed = str(folder / f"{_file_name(name)}_{kind}{suffix}")
        found, chosen = QFileDialog.getSaveFileName(self, "Save the picture", proposed, kinds)
        if not found:
            return None
        path = Path(found)
        path = path if path.suffix else path.with_suffix(".mp4" if chosen == _MP4 else suffix)
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
