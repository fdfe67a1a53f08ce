"""The strip with the buttons of a bake, its progress and a small chart. Its height is fixed, so
that nothing below it moves."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QKeySequence, QMouseEvent, QPainter, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from verdigris.core.worker.protocol.worker_events import PAUSED
from verdigris.ui.model import states
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.keys import Keys
from verdigris.ui.status.progress_view import ProgressView
from verdigris.ui.style.colours import colours_for
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import BUTTON, GAP, HALF, RADIUS
from verdigris.ui.style.sheet import PRIMARY, STRIP, mixed

_KEEP = "Ends the training and writes the result"
_NOTHING_TO_KEEP = "There is no result yet. Wait for the first training step, or cancel."
# Text, icon, shortcut and tooltip of the filled button.
_MAIN = {
    states.START: ("&Bake", "bake", "Ctrl+Return", "Bakes this material"),
    states.PAUSE: ("&Pause", "pause", "Ctrl+P", "Pauses the bake"),
    states.RESUME: ("&Resume", "bake", "Ctrl+P", "Goes on with the bake"),
}
_AFTER_LADDER = "A ladder is being fitted: wait, or cancel it in the section Ladder"
_LEAST, _WIDTH = 40, 88
_MOST_POINTS = 120


class _Main(QPushButton):
    """The main button. The second click of a double click on Bake does not pause."""

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        event.accept()


class Transport(QWidget):
    """Bake, then Pause; Stop and keep; Cancel."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.action = ""
        self._others: tuple[QPushButton, ...] = ()
        self.main = _Main()
        self.main.setObjectName(PRIMARY)
        self.finish, self.cancel = QPushButton("Stop and &keep"), QPushButton("&Cancel")
        wear(self.finish, "keep")
        wear(self.cancel, "cross")
        _set_tip(self.cancel, "Ctrl+.", "Ends the bake without a result; earlier bakes stay")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        for button in (self.main, self.finish, self.cancel):
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            row.addWidget(button)
        # as wide as its longest text
        letters = self.main.fontMetrics()
        words = (text for text, *_ in _MAIN.values())
        self.main.setMinimumWidth(72 + max(letters.horizontalAdvance(text) for text in words))
        self.main.clicked.connect(lambda _=False: self._act())
        self.finish.clicked.connect(lambda _=False: model.finish())
        self.cancel.clicked.connect(lambda _=False: model.cancel())
        bind(self, model.link.state_changed, self._show)
        bind(self, model.ladder.changed, self._show)
        bind(self, model.state.bake.progress_changed, self._show_finish)
        bind(self, model.state.report_changed, self._show)

    def bind_keys(self, keys: Keys) -> None:
        keys.press(self.main, "Ctrl+Return", lambda: self.action == states.START)
        keys.press(self.main, "Ctrl+P", lambda: self.action != states.START)
        keys.press(self.finish, "Ctrl+S")
        keys.press(self.cancel, "Ctrl+.")

    def yield_to(self, *others: QPushButton) -> None:
        """Is not filled while one of these buttons is in sight: only the next step is."""
        self._others = others
        for other in others:
            other.installEventFilter(self)
        self._fill()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if watched in self._others and event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self._fill()
        return False

    def _fill(self) -> None:
        """Fills the main button, or makes it a plain one."""
        is_plain = any(each.isVisible() for each in self._others)
        name = "" if is_plain else PRIMARY
        if self.main.objectName() != name:
            self.main.setObjectName(name)
            style = self.main.style()
            style.unpolish(self.main)
            style.polish(self.main)
        self._wear()

    def _wear(self) -> None:
        is_filled = self.main.objectName() == PRIMARY
        role = QPalette.ColorRole
        wear(
            self.main,
            _MAIN[self.action or states.START][1],
            role.HighlightedText if is_filled else role.ButtonText,
        )

    def _act(self) -> None:
        model = self._model
        {states.START: model.start, states.PAUSE: model.pause, states.RESUME: model.resume}[
            self.action
        ]()

    def _show(self) -> None:
        model = self._model
        action = states.PAUSE if model.link.is_busy else states.START
        action = states.RESUME if model.link.state == PAUSED else action
        if action != self.action:
            self.action = action
            self.main.setText(_MAIN[action][0])
            # Qt makes the underlined letter a shortcut of the whole window
            self.main.setShortcut(QKeySequence())
            self._wear()
        self.main.setEnabled(model.can(action))
        _, _, keys, tip = _MAIN[action]
        waits = action == states.START and model.ladder.is_running
        _set_tip(self.main, keys, _AFTER_LADDER if waits else tip)
        self._show_finish()
        self.cancel.setEnabled(model.can(states.CANCEL))
        for button in (self.finish, self.cancel):
            button.setShortcut(QKeySequence())

    def _show_finish(self) -> None:
        model = self._model
        self.finish.setEnabled(model.can(states.FINISH))
        has_nothing = model.link.is_busy and not model.state.has_trained
        _set_tip(self.finish, "Ctrl+S", _NOTHING_TO_KEEP if has_nothing else _KEEP)


def _set_tip(button: QPushButton, keys: str, tip: str) -> None:
    text = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
    button.setToolTip(f"{tip} ({text})")


class Sparkline(QAbstractButton):
    """The error by step. Until there are two errors, it is the training's own measure. A click
    shows the chart."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.setFixedHeight(BUTTON)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip("The error so far. A click shows the chart.")
        bind(self, model.state.bake.history_changed, self._show)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        return QSize(_WIDTH, BUTTON)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(_LEAST, BUTTON)

    def points(self) -> list[tuple[float, float]]:
        """The line in a unit square, x to the right and y downwards."""
        history = self._model.state.bake.history
        steps, values = history.errors()
        if len(steps) < 2:
            steps, _, values = history.losses()
        if len(steps) < 2:
            return []
        if len(steps) > _MOST_POINTS:
            chosen = np.linspace(0, len(steps) - 1, _MOST_POINTS).astype(int)
            steps, values = steps[chosen], values[chosen]
        heights = np.log(values)
        across = (steps - steps[0]) / max(steps[-1] - steps[0], 1e-9)
        down = (heights.max() - heights) / max(float(np.ptp(heights)), 1e-9)
        return list(zip(across.tolist(), down.tolist(), strict=True))

    def _show(self) -> None:
        error = self._model.state.bake.errors.get("log_mae")
        self.setAccessibleName("Chart of the error" + ("" if error is None else f": {error:.4f}"))
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        palette, role, colours = self.palette(), QPalette.ColorRole, colours_for(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        window, ink = palette.color(role.Window), palette.color(role.WindowText)
        edge = palette.color(role.Highlight) if self.hasFocus() else mixed(window, ink, 0.12)
        painter.setPen(QPen(edge, 1))
        painter.setBrush(palette.color(role.Base))
        painter.drawRoundedRect(area, RADIUS, RADIUS)
        found = self.points()
        inside = area.adjusted(HALF, HALF, -HALF, -HALF)
        if found:
            line = QPolygonF(
                [
                    QPointF(inside.left() + x * inside.width(), inside.top() + y * inside.height())
                    for x, y in found
                ]
            )
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colours.error, 1.5))
            painter.drawPolyline(line)
            painter.setBrush(colours.error)
            painter.drawEllipse(line.last(), 2, 2)
        else:
            painter.setPen(QPen(mixed(window, ink, 0.3), 1, Qt.PenStyle.DotLine))
            middle = inside.center().y()
            painter.drawLine(QPointF(inside.left(), middle), QPointF(inside.right(), middle))
        painter.end()


class StatusStrip(QWidget):
    """The buttons above the progress."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self.setObjectName(STRIP)
        self.transport = Transport(model)
        self.progress = ProgressView(model)
        self.sparkline = Sparkline(model)
        top = QHBoxLayout()
        top.setSpacing(GAP)
        top.addWidget(self.transport)
        top.addWidget(self.sparkline, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addLayout(top)
        column.addWidget(self.progress)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._fix_height()

    def changeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() == event.Type.FontChange:
            self._fix_height()

    def _fix_height(self) -> None:
        letters = self.fontMetrics().height()
        self.setFixedHeight(-(-(BUTTON + GAP + GAP + letters) // GAP) * GAP)
