"""The queue in the window: a row for each material, with a ring of its progress."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QPainter, QPainterPath, QPalette, QPen
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from verdigris.core.base.text import format_share
from verdigris.core.batch.run.summary import BAKED, FAILED
from verdigris.core.hosts.result_folders import find_result
from verdigris.ui.qt.binding import bind
from verdigris.ui.queue.bake_queue import BAKING, WAITING, BakeQueue, Item
from verdigris.ui.signals import capitalise, short_paths
from verdigris.ui.style.colours import colours_for
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import GAP, HALF
from verdigris.ui.widgets.thumbnails import blank, picture_of

_SIDE, _RING = 44, 3
_LEAST_WIDTH, _LEAST_ROWS = 260, 2


class Ring(QWidget):
    """A round thumbnail in a ring of progress."""

    def __init__(self, item: Item) -> None:
        super().__init__()
        self._item = item
        self.setFixedSize(_SIDE, _SIDE)
        # a waiting one shows the bake before
        bundle = item.bundle or find_result(item.path, item.material)
        self._picture = picture_of(bundle, _SIDE) or blank(_SIDE)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        return QSize(_SIDE, _SIDE)

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        painter, colours = QPainter(self), colours_for(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(_RING, _RING, -_RING, -_RING)
        path = QPainterPath()
        path.addEllipse(area.adjusted(2, 2, -2, -2))
        painter.setClipPath(path)
        painter.drawPixmap(0, 0, self._picture)
        painter.setClipping(False)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Mid), _RING))
        painter.drawEllipse(area)
        done = {BAKED: colours.good, FAILED: colours.bad}.get(self._item.state, colours.smooth)
        share = 1.0 if self._item.state in (BAKED, FAILED) else self._item.share
        painter.setPen(QPen(done, _RING))
        # from the top, clockwise, in sixteenths of a degree
        painter.drawArc(area, 90 * 16, round(-360 * 16 * share))
        if self._item.state == BAKING:
            painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, format_share(share))
        painter.end()


class QueueRow(QFrame):
    """One material of the queue."""

    def __init__(self, queue: BakeQueue, item: Item) -> None:
        super().__init__()
        self.item = item
        self.setAccessibleName(f"{item.name}: {item.state}")
        name, state = QLabel(item.name), QLabel(capitalise(item.state))
        state.setToolTip(item.text or str(item.path))
        name.setToolTip(str(item.path))
        if item.text:
            state.setText(f"{capitalise(item.state)}: {short_paths(item.text)}")
            state.setStyleSheet(f"color: {colours_for(self).bad.name()}")
        for label in (name, state):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        texts = QVBoxLayout()
        texts.setSpacing(0)
        texts.addWidget(name)
        texts.addWidget(state)
        row = QHBoxLayout(self)
        row.setContentsMargins(HALF, HALF, HALF, HALF)
        row.setSpacing(HALF)
        self.ring = Ring(item)
        row.addWidget(self.ring)
        row.addLayout(texts, 1)
        self.buttons: dict[str, QToolButton] = {}
        for key, tip, do in (
            ("up", "Earlier", lambda: queue.move(item, -1)),
            ("down", "Later", lambda: queue.move(item, 1)),
            ("cross", "Takes it out of the queue", lambda: queue.remove(item)),
        ):
            button = QToolButton()
            wear(button, key)
            button.setAutoRaise(True)
            button.setToolTip(tip)
            button.setAccessibleName(f"{tip}: {item.name}")
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            can_change = item.state == WAITING if key != "cross" else item is not queue.current
            button.setEnabled(can_change)
            # names get the room of buttons that do not apply
            button.setVisible(key == "cross" or item.state == WAITING)
            button.clicked.connect(lambda _=False, do=do: do())
            row.addWidget(button)
            self.buttons[key] = button


class QueueBox(QWidget):
    """The rows, and the buttons below them."""

    def __init__(self, queue: BakeQueue) -> None:
        super().__init__()
        self._queue = queue
        self.rows: list[QueueRow] = []
        self._looks: list[object] = []
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(self._rows)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # below a docked panel, too, more than one row is seen
        area.setMinimumHeight(_LEAST_ROWS * (_SIDE + 2 * HALF))
        area.setWidget(inside)
        self.run = QPushButton("&Bake all")
        self.run.setToolTip("Bakes all that wait, with the settings of the panel")
        self.report = QPushButton("Open the &report")
        self.report.setToolTip("Shows the pictures and figures of all bakes in the browser")
        self.run.clicked.connect(lambda _: queue.stop() if queue.is_running else queue.start())
        self.report.clicked.connect(lambda _: self._open_report())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP, GAP, GAP, GAP)
        layout.setSpacing(GAP)
        layout.addWidget(area, 1)
        layout.addWidget(self.run)
        layout.addWidget(self.report)
        self.setMinimumWidth(_LEAST_WIDTH)
        bind(self, queue.changed, self._show)

    def _open_report(self) -> None:
        if self._queue.report is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._queue.report)))

    def _show(self) -> None:
        queue = self._queue
        looks = [(each.name, each.state, each.text, each.bundle) for each in queue.items]
        if looks != self._looks or [row.item for row in self.rows] != queue.items:
            self._looks = looks
            self._make_rows()
        for row in self.rows:
            # progress changes nothing else
            row.ring.update()
        has_waiting = any(each.state == WAITING for each in queue.items)
        self.run.setText("&Stop after this one" if queue.is_running else "&Bake all")
        self.run.setEnabled(queue.is_running or has_waiting)
        self.report.setVisible(queue.report is not None)

    def _make_rows(self) -> None:
        queue = self._queue
        focus = next(
            (
                (row.item, key)
                for row in self.rows
                for key, button in row.buttons.items()
                if button.hasFocus()
            ),
            None,
        )
        for row in self.rows:
            self._rows.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = [QueueRow(queue, item) for item in queue.items]
        for row in self.rows:
            self._rows.addWidget(row)
            row.show()
            if focus is not None and row.item is focus[0]:
                row.buttons[focus[1]].setFocus()
