"""The cards of the shelf: pictures of 96 pixels in one column or several."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPalette, QPen, QTextLayout, QTextOption
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from verdigris.ui.shelf.entries import Entry
from verdigris.ui.shelf.shelf import Shelf
from verdigris.ui.style.colours import colours_for, quiet_text
from verdigris.ui.style.metrics import GAP, HALF, RADIUS, bold
from verdigris.ui.style.sheet import mixed
from verdigris.ui.widgets.dots import paint_dots
from verdigris.ui.widgets.thumbnails import blank, picture_of

PICTURE = 96
HEIGHT = PICTURE + 2 * GAP
_LEAST_WIDTH = 300
_BAR = 4
_MOST_ROWS = 3
_DRAGGED = "application/x-verdigris-waiting"
_Index = QModelIndex | QPersistentModelIndex


class Entries(QAbstractListModel):
    """The entries as Qt lists them. Those that wait can be dragged to another place."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__()
        self._shelf = shelf
        self.all: list[Entry] = []

    def show(self, entries: list[Entry]) -> bool:
        """Shows other entries. Returns whether these are others, and not the same with changes."""
        before, now = [each.key for each in self.all], [each.key for each in entries]
        if before != now:
            self.beginResetModel()
            self.all = entries
            self.endResetModel()
            return True
        for row, (old, new) in enumerate(zip(self.all, entries, strict=True)):
            if old != new:
                self.all[row] = new
                self.dataChanged.emit(self.index(row), self.index(row))
        return False

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's, as below
        return 0 if parent.isValid() else len(self.all)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        entry = self.all[index.row()]
        roles = Qt.ItemDataRole
        if role == roles.DisplayRole:
            return entry.name
        if role == roles.ToolTipRole:
            return entry.text
        if role == roles.AccessibleTextRole:
            return ", ".join(filter(None, (entry.name, entry.state, entry.detail)))
        return entry if role == roles.UserRole else None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag
        if not index.isValid():
            return flags.ItemIsDropEnabled
        found = flags.ItemIsEnabled | flags.ItemIsSelectable
        return found | flags.ItemIsDragEnabled if self.all[index.row()].is_waiting else found

    def supportedDropActions(self) -> Qt.DropAction:  # noqa: N802
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:  # noqa: N802
        return [_DRAGGED]

    def mimeData(self, indexes: Sequence[_Index]) -> QMimeData:  # noqa: N802
        data = QMimeData()
        data.setData(_DRAGGED, str(indexes[0].row()).encode())
        return data

    def dropMimeData(  # noqa: N802
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: _Index
    ) -> bool:
        """Moves a waiting entry in front of the row that it is dropped on."""
        del action, column
        row = parent.row() if parent.isValid() else row
        documents, dragged = self._shelf.documents, bytes(data.data(_DRAGGED).data()).decode()
        if documents is None or not dragged.isdecimal() or int(dragged) >= len(self.all):
            return False
        before = self.all[row] if 0 <= row < len(self.all) else None
        other = before.source if before is not None and before.is_waiting else None
        documents.queue.move_before(self.all[int(dragged)].source, other)  # type: ignore[arg-type]
        # the queue has moved it: Qt must not remove the row
        return False


class _Painter(QStyledItemDelegate):
    """Paints a card: picture, name, dots, error, state."""

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802
        del index
        return option.widget.gridSize() if option.widget else QSize(_LEAST_WIDTH, HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        entry, widget = index.data(Qt.ItemDataRole.UserRole), option.widget
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRect(option.rect).adjusted(HALF // 2, HALF // 2, -HALF // 2, -HALF // 2)
        role, palette = QPalette.ColorRole, option.palette
        ground, ink = palette.color(role.Window), palette.color(role.WindowText)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        is_hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        edge = palette.color(role.Highlight) if is_chosen else mixed(ground, ink, 0.15)
        painter.setPen(QPen(edge, 2 if is_chosen else 1))
        painter.setBrush(mixed(ground, ink, 0.09 if is_hovered else 0.04))
        painter.drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        inside = area.adjusted(GAP - 2, GAP - 2, -GAP, -GAP + 2)
        picture, words = QRect(inside), QRect(inside)
        picture.setWidth(PICTURE)
        words.setLeft(picture.right() + GAP)
        if option.direction == Qt.LayoutDirection.RightToLeft:
            picture.moveRight(inside.right())
            words = inside.adjusted(0, 0, -PICTURE - GAP, 0)
        self._paint_picture(painter, picture, entry, widget)
        self._paint_words(painter, words, entry, option)
        if option.state & QStyle.StateFlag.State_HasFocus and not is_chosen:
            painter.setPen(QPen(ink, 1, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(area)
        painter.restore()

    def _paint_picture(self, painter: QPainter, area: QRect, entry: Entry, widget: QWidget) -> None:
        ratio = widget.devicePixelRatioF()
        found = picture_of(entry.bundle, round(PICTURE * ratio)) or blank(round(PICTURE * ratio))
        if entry.share is not None or entry.has_failed:
            painter.setOpacity(0.4)
        painter.drawPixmap(QRect(area.topLeft(), QSize(PICTURE, PICTURE)), found)
        painter.setOpacity(1.0)
        if entry.share is not None:
            bar = QRectF(area.left(), area.top() + PICTURE - _BAR, PICTURE, _BAR)
            painter.fillRect(bar, widget.palette().color(QPalette.ColorRole.Mid))
            bar.setWidth(entry.share * PICTURE)
            painter.fillRect(bar, colours_for(widget).smooth)

    def _paint_words(
        self, painter: QPainter, area: QRect, entry: Entry, option: QStyleOptionViewItem
    ) -> None:
        widget, colours = option.widget, colours_for(option.widget)
        ink, quiet = option.palette.color(QPalette.ColorRole.WindowText), quiet_text(option.palette)
        near = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
        line = QFontMetrics(option.font).lineSpacing() + 2
        row = QRect(area.left(), area.top(), area.width(), line)
        painter.setPen(ink)
        painter.setFont(bold(widget))
        elide = Qt.TextElideMode.ElideRight
        name = painter.fontMetrics().elidedText(entry.name, elide, row.width())
        painter.drawText(row, int(near), name)
        painter.setFont(option.font)
        row.translate(0, line)
        if entry.dots:
            is_mirrored = option.direction == Qt.LayoutDirection.RightToLeft
            width = paint_dots(
                painter,
                QPointF(row.right() - 64 if is_mirrored else row.left(), row.center().y()),
                widget, entry.dots, entry.is_draft,
            )  # fmt: skip
            taken = round(width) + HALF
            figures = row.adjusted(0, 0, -taken, 0) if is_mirrored else row.adjusted(taken, 0, 0, 0)
            painter.setPen(quiet)
            painter.drawText(figures, int(near), entry.figures)
            row.translate(0, line)
        state = ", ".join(filter(None, (entry.state, "shown" if entry.is_shown else "")))
        painter.setPen(colours.bad if entry.has_failed else ink)
        painter.drawText(
            row, int(near), painter.fontMetrics().elidedText(state, elide, row.width())
        )
        row.translate(0, line)
        rest = QRect(row.left(), row.top(), row.width(), area.bottom() - row.top() + 1)
        detail = entry.note.replace("\n", " ") or entry.detail
        paint_wrapped(painter, rest, detail, colours.bad if entry.has_failed else quiet)


def paint_wrapped(painter: QPainter, area: QRect, text: str, colour: QColor) -> list[str]:
    """Paints a text in as many lines as the area has, the last one with an ellipsis. Returns the
    lines."""
    metrics = painter.fontMetrics()
    count, lines = max(1, area.height() // metrics.lineSpacing()), []
    layout = QTextLayout(text, painter.font())
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    while len(lines) < count and (line := layout.createLine()).isValid():
        line.setLineWidth(max(1, area.width()))
        end = line.textStart() + line.textLength()
        is_last = len(lines) == count - 1
        rest = text[line.textStart() :] if is_last else text[line.textStart() : end]
        lines.append(metrics.elidedText(rest.strip(), Qt.TextElideMode.ElideRight, area.width()))
    layout.endLayout()
    painter.setPen(colour)
    for number, each in enumerate(lines):
        row = QRect(
            area.left(), area.top() + number * metrics.lineSpacing(), area.width(),
            metrics.lineSpacing(),
        )  # fmt: skip
        painter.drawText(
            row, int(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter), each
        )
    return lines


class ShelfList(QListView):
    """The list: as many columns as fit, as high as its cards up to a limit."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__()
        self.entries = Entries(shelf)
        self.setModel(self.entries)
        self.setItemDelegate(_Painter(self))
        self.setAccessibleName("Shelf")
        self.setViewMode(QListView.ViewMode.ListMode)
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setUniformItemSizes(True)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        self.setDragEnabled(True)
        self.setAcceptDrops(True)
        self.setDropIndicatorShown(True)
        self.setDragDropMode(QListView.DragDropMode.InternalMove)
        self.viewport().setAutoFillBackground(False)
        self._fit()

    def show_entries(self, entries: list[Entry]) -> None:
        """Shows entries. Those that stay chosen stay so."""
        chosen = {each.key for each in self.chosen}
        current = self.currentIndex().row()
        if self.entries.show(entries):
            flag = self.selectionModel().SelectionFlag
            for row, each in enumerate(entries):
                if each.key in chosen:
                    self.selectionModel().select(self.entries.index(row), flag.Select)
            if entries and current >= 0:
                row = min(current, len(entries) - 1)
                self.selectionModel().setCurrentIndex(self.entries.index(row), flag.NoUpdate)
        self._fit()

    @property
    def chosen(self) -> list[Entry]:
        rows = sorted(index.row() for index in self.selectionModel().selectedIndexes())
        return [self.entries.all[row] for row in rows]

    def resizeEvent(self, event: object) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    @property
    def columns(self) -> int:
        return max(1, min(self.width() // _LEAST_WIDTH, max(1, len(self.entries.all))))

    def _fit(self) -> None:
        rows = -(-len(self.entries.all) // self.columns)
        policy, is_long = Qt.ScrollBarPolicy, rows > _MOST_ROWS
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAlwaysOn if is_long else policy.ScrollBarAlwaysOff
        )
        bar = self.verticalScrollBar().sizeHint().width() if is_long else 0
        # Qt wraps a row that is exactly as wide as the view
        across = (self.width() - bar - 1) // self.columns
        self.setGridSize(QSize(max(1, across), HEIGHT))
        self.setFixedHeight(min(rows, _MOST_ROWS) * HEIGHT + HALF)
        self.setVisible(rows > 0)
