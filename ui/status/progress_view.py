"""The progress of a bake: a thin bar, the phase in words, and the time that is left."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt, QTimer
from PySide6.QtGui import QPainter, QPalette
from PySide6.QtWidgets import QGridLayout, QLabel, QProgressBar, QWidget

from verdigris.core.base.text import format_range, format_share
from verdigris.core.worker.client.client import GONE
from verdigris.core.worker.protocol.worker_events import (
    DONE,
    FINISHING,
    IDLE,
    PAUSED,
    PREPARING,
    REFINING,
)
from verdigris.ui.model import states
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.text_widgets import Elided
from verdigris.ui.signals import capitalise
from verdigris.ui.style.metrics import GAP, HALF
from verdigris.ui.style.sheet import mixed
from verdigris.ui.widgets.wording import PHASES, STOPS

_STEPS = 1000
# The bar runs: parts of measuring take seconds each.
_CLOSING = (FINISHING, REFINING)
# Width of the bar that runs while the share is unknown.
_RUN_MS, _RUN_STEP, _RUN_PART = 40, 0.02, 0.25


class ProgressLine(QProgressBar):
    """A bar four pixels high, with a notch where a phase ends. It runs while its range is empty."""

    def __init__(self) -> None:
        super().__init__()
        self.notches: list[float] = []
        self._run = 0.0
        self.setRange(0, _STEPS)
        self.setTextVisible(False)
        self.setFixedHeight(HALF)
        self.setToolTip("Progress of the bake. A notch ends each phase.")
        self.setAccessibleName("Progress of the bake")
        self._timer = QTimer(self)
        self._timer.setInterval(_RUN_MS)
        self._timer.timeout.connect(self._move)

    def show_share(self, share: float | None) -> None:
        """The completed share, or None while it is unknown."""
        is_unknown = share is None
        if is_unknown != self._timer.isActive():
            self._timer.start() if is_unknown else self._timer.stop()
        self.setRange(0, 0 if is_unknown else _STEPS)
        self.setValue(round(_STEPS * (share or 0.0)))

    def _move(self) -> None:
        self._run = (self._run + _RUN_STEP) % 1.0
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802 - Qt's name
        palette, role = self.palette(), QPalette.ColorRole
        window, ink = palette.color(role.Window), palette.color(role.WindowText)
        painter = QPainter(self)
        area = QRectF(self.rect())
        painter.fillRect(area, mixed(window, ink, 0.15))
        if self.maximum() == 0:
            start = (1 + _RUN_PART) * self._run - _RUN_PART
            first, last = max(0.0, start), min(1.0, start + _RUN_PART)
        else:
            first, last = 0.0, self.value() / self.maximum()
        done = QRectF(first * area.width(), 0, (last - first) * area.width(), area.height())
        painter.fillRect(done, palette.color(role.Highlight))
        for notch in self.notches:
            painter.fillRect(QRectF(round(notch * area.width()) - 1, 0, 2, area.height()), window)
        painter.end()


class ProgressView(QWidget):
    """The bar above one line of text."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.bar = ProgressLine()
        self.now, self.left = Elided(), QLabel()
        self._align()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(HALF)
        grid.addWidget(self.bar, 0, 0, 1, 2)
        grid.addWidget(self.now, 1, 0)
        grid.addWidget(self.left, 1, 1)
        grid.setColumnStretch(0, 1)
        bind(self, model.state.bake.progress_changed, self._show)
        bind(self, model.link.state_changed, self._show)
        bind(self, model.state.report_changed, self._show)
        bind(self, model.state.materials_changed, self._show)
        bind(self, model.ladder.changed, self._show)

    def changeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.LayoutDirectionChange:
            self._align()

    def _align(self) -> None:
        """Keeps the text apart from the remaining time, in right-to-left layouts, too."""
        is_left = self.layoutDirection() == Qt.LayoutDirection.LeftToRight
        side = Qt.AlignmentFlag.AlignLeft if is_left else Qt.AlignmentFlag.AlignRight
        self.now.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter)

    def _show(self) -> None:
        model, progress = self._model, self._model.state.bake.progress
        is_unknown = model.link.state in (PREPARING, FINISHING) and not progress.share
        share = 1.0 if model.link.state == DONE else progress.share
        self.bar.notches = _ends(model) if model.link.is_busy else []
        is_unknown = is_unknown or model.link.state in _CLOSING
        is_ladder = self._shows_ladder
        share = model.ladder.share if is_ladder else share
        self.bar.show_share(None if is_unknown and not is_ladder else share)
        text = self._text()
        self.now.setText(text)
        detail = ""
        if progress.steps and (model.link.is_busy or not model.state.is_refused):
            detail = f": step {progress.step:,} of {progress.steps:,}"
        self.now.setToolTip(text + detail)
        left = None
        if model.link.is_busy and model.link.state != PAUSED:
            left = model.state.times.range_left(progress.share)
        if left is not None:
            self.left.setText(f"{format_range(*left)} left")
        elif not model.link.is_busy:
            self.left.setText(model.ladder.left if is_ladder else "")

    def _text(self) -> str:
        model, progress = self._model, self._model.state.bake.progress
        if model.link.state in _CLOSING:
            done, parts = progress.closing
            part = f", part {done + 1} of {parts}" if done < parts else ""
            return states.LABELS[model.link.state] + part
        if not model.link.is_busy:
            return self._idle_text()
        text = model.link.doing or states.LABELS[model.link.state]
        if not model.link.doing and progress.phase:
            text = PHASES.get(progress.phase, progress.phase)
            text = f"{states.LABELS[PAUSED]}: {text}" if model.link.state == PAUSED else text
        text = capitalise(text)
        return f"{format_share(progress.share)}  {text}" if progress.share else text

    @property
    def _shows_ladder(self) -> bool:
        """Whether a ladder is fitted, and nothing is baked meanwhile."""
        return self._model.ladder.is_running and not self._model.link.is_busy

    def _idle_text(self) -> str:
        model, progress = self._model, self._model.state.bake.progress
        if self._shows_ladder:
            return f"{format_share(model.ladder.share)}  Ladder: {model.ladder.what}"
        if model.state.is_refused:
            return "Cannot be baked: see the section Material"
        if model.link.state == IDLE and progress.steps and model.state.bake.result is None:
            return f"Cancelled at {format_share(progress.share)}"
        if model.link.state == IDLE and model.state.current is None:
            return "No material"
        if model.link.state == IDLE and model.state.report is None and not model.link.doing:
            is_gone = model.link.health.state == GONE
            return "The worker has stopped" if is_gone else "Reading the material"
        text = capitalise(model.link.doing or states.LABELS[model.link.state])
        if model.link.state == DONE and model.state.bake.stopped_by in STOPS:
            text += f", {STOPS[model.state.bake.stopped_by]}"
        return text


def _ends(model: PanelModel) -> list[float]:
    """The ends of the plan's phases but the last, 0 to 1."""
    steps = [part.steps for part in model.state.bake.progress.plan]
    total = sum(steps)
    sums = [sum(steps[: number + 1]) / total for number in range(len(steps) - 1)] if total else []
    return [each for each in sums if 0 < each < 1]
