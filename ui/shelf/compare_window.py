"""A window with two to four materials side by side: one camera, one light, one tone mapping."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QImage, QMouseEvent, QPainter, QPalette, QWheelEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.text_widgets import Elided
from verdigris.ui.shelf.comparison import Comparison
from verdigris.ui.shelf.entries import Entry
from verdigris.ui.signals import ERROR, INFO
from verdigris.ui.style.colours import quiet_text
from verdigris.ui.style.metrics import GAP, HALF, bold
from verdigris.ui.style.sheet import wear_sheet
from verdigris.ui.style.tick import Tick
from verdigris.ui.viewport.camera import ZOOM_STEP, CameraControl
from verdigris.ui.widgets.dots import paint_dots

_SIZE = 900, 560
_POLL_MS = 40
_DEGREES_PER_PIXEL = 0.5
_LINES = 2


class CompareGrid(QWidget):
    """The pictures, each above its name and figures. The mouse moves the camera of all."""

    def __init__(self, model: PanelModel, comparison: Comparison) -> None:
        super().__init__()
        self._comparison = comparison
        self.camera = CameraControl(model)
        self._images: dict[int, QImage] = {}
        self._last, self._drag = QPointF(), ""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(240, 200)
        self.setAccessibleName("Comparison: " + ", ".join(e.name for e in comparison.entries))
        self.setToolTip(
            "Drag: turn the shape. Shift + drag: turn the light. Wheel: zoom. Middle drag: move. "
            "Double click: see all. The panel shows the same view."
        )
        bind(self, comparison.changed, self._show)

    def cells(self) -> list[QRectF]:
        """The places of the pictures: as large as possible."""
        count = len(self._comparison.entries)
        words = self._words

        def side(columns: int) -> float:
            rows = -(-count // columns)
            return min(self.width() / columns, self.height() / rows - words)

        columns = max(range(1, count + 1), key=side)
        rows = -(-count // columns)
        width = (self.width() - GAP * (columns - 1)) / columns
        height = (self.height() - GAP * (rows - 1)) / rows
        return [
            QRectF(
                at % columns * (width + GAP), at // columns * (height + GAP), width, height - words
            )
            for at in range(count)
        ]

    @property
    def _words(self) -> int:
        return _LINES * (self.fontMetrics().lineSpacing() + 2) + HALF

    def resizeEvent(self, event: object) -> None:  # noqa: N802 - Qt's names, here and below
        super().resizeEvent(event)
        self.refit()

    def refit(self) -> None:
        """Requests pictures for the present number of places."""
        self._images = {n: i for n, i in self._images.items() if n in self._comparison.pictures}
        cell, ratio = self.cells()[0], self.devicePixelRatioF()
        short = max(1.0, min(cell.width(), cell.height()))
        self._comparison.fit(round(short * ratio), max(1.0, cell.width()) / max(1.0, cell.height()))

    def _show(self) -> None:
        for number, picture in self._comparison.pictures.items():
            pixels = np.ascontiguousarray(picture.pixels)
            height, width = pixels.shape[:2]
            form = QImage.Format.Format_RGB888
            self._images[number] = QImage(pixels.data, width, height, 3 * width, form).copy()
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for number, (cell, entry) in enumerate(
            zip(self.cells(), self._comparison.entries, strict=True)
        ):
            image = self._images.get(number)
            if image is None:
                painter.fillRect(cell, self.palette().color(QPalette.ColorRole.Base))
                painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, "Opening")
            else:
                # its last picture had another shape, until the next one comes
                scale = min(cell.width(), cell.height()) / min(image.width(), image.height())
                placed = QRectF(0, 0, scale * image.width(), scale * image.height())
                placed.moveCenter(cell.center())
                painter.setClipRect(cell)
                painter.drawImage(placed, image)
                painter.setClipping(False)
            self._paint_words(painter, cell, entry)
        painter.end()

    def _paint_words(self, painter: QPainter, cell: QRectF, entry: Entry) -> None:
        line = self.fontMetrics().lineSpacing() + 2
        row = QRectF(cell.left(), cell.bottom() + HALF, cell.width(), line)
        painter.setFont(bold(self))
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        _paint_line(painter, row, entry.name)
        painter.setFont(self.font())
        row.translate(0, line)
        if entry.dots:
            at = QPointF(row.left(), row.center().y())
            taken = paint_dots(painter, at, self, entry.dots, entry.is_draft)
            row.setLeft(row.left() + taken + HALF)
        painter.setPen(quiet_text(self.palette()))
        _paint_line(painter, row, " · ".join(filter(None, (entry.figures, entry.detail))))

    # the mouse

    def _cell_at(self, place: QPointF) -> QRectF:
        cells = self.cells()
        return next((cell for cell in cells if cell.contains(place)), cells[0])

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.setFocus()
        self._last = event.position()
        has_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        buttons = {
            Qt.MouseButton.LeftButton: "light" if has_shift else "turn",
            Qt.MouseButton.RightButton: "light",
            Qt.MouseButton.MiddleButton: "move",
        }
        self._drag = buttons.get(event.button(), "")

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        step, self._last = event.position() - self._last, event.position()
        across, down = step.x() * _DEGREES_PER_PIXEL, step.y() * _DEGREES_PER_PIXEL
        if self._drag == "turn":
            self.camera.turn(across, down)
        elif self._drag == "light":
            self.camera.turn_light(across, down)
        elif self._drag == "move":
            self.camera.move(step, self._cell_at(event.position()))

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:  # noqa: N802
        self._drag = ""

    def mouseDoubleClickEvent(self, _event: QMouseEvent) -> None:  # noqa: N802
        self.camera.see_all()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        place = event.position()
        cell = self._cell_at(place)
        # all cells show the same: the place counts from the cell that it is in
        self.camera.zoom(ZOOM_STEP ** (event.angleDelta().y() / 120), cell, place)


class CompareWindow(QWidget):
    """The grid, and a line about it. Its worker ends with it."""

    def __init__(self, model: PanelModel, entries: list[Entry], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        count = len(entries)
        self.setWindowTitle(f"Compare {count} materials" if count > 1 else entries[0].name)
        self._model = model
        self.comparison = Comparison(model, entries)
        self.grid = CompareGrid(model, self.comparison)
        self.line = Elided()
        self.save = QPushButton("&Save the picture…")
        self.save.setToolTip("Writes the pictures with their names and figures into a .png file")
        self.save.clicked.connect(lambda _=False: self._save())
        row = QHBoxLayout()
        self.source = Tick("With the &source")
        self.source.setToolTip("Also shows the material that is open in the panel, without a bake")
        self.source.setVisible(self.comparison.can_show_source)
        self.source.toggled.connect(self._show_source)
        row.addWidget(self.line, 1)
        row.addWidget(self.source)
        row.addWidget(self.save)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP)
        column.addWidget(self.grid, 1)
        column.addLayout(row)
        wear_sheet(self)
        self.resize(*_SIZE)
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL_MS)
        self._timer.timeout.connect(self.comparison.poll)
        self._timer.start()
        bind(self, self.comparison.changed, self._show)
        self.destroyed.connect(lambda *_, ended=self.comparison: ended.close())

    def _show(self) -> None:
        found = self.comparison
        text = "One camera, one light and one tone mapping: those of the panel"
        if found.refined < 1:
            text = f"Drawing, {found.refined:.0%}" if found.pictures else "Opening the materials"
        self.line.setText(found.problem or text)
        self.line.setToolTip(found.problem)
        self.save.setEnabled(len(found.pictures) == len(found.entries))

    def _show_source(self, is_on: bool) -> None:
        self.comparison.show_source(is_on)
        self.grid.refit()

    def _save(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Save the picture", "comparison.png", "*.png")
        if path and not self.grid.grab().save(path, "PNG"):
            self._model.state.notices.add(
                ERROR, f"{path}: cannot be written: choose another folder"
            )
        elif path:
            self._model.state.notices.add(INFO, f"Written: {path}")

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self._timer.stop()
        super().closeEvent(event)


def _paint_line(painter: QPainter, row: QRectF, text: str) -> None:
    """A line of text, which ends in an ellipsis if it is too long."""
    flat = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
    elide = Qt.TextElideMode.ElideRight
    painter.drawText(row, flat, painter.fontMetrics().elidedText(text, elide, int(row.width())))
