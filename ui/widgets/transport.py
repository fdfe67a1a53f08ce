"""The buttons of a bake and its progress."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from verdigris.core.worker.client.client import GONE
from verdigris.core.worker.protocol.worker_events import DONE, FINISHING, IDLE, PAUSED, PREPARING
from verdigris.ui.estimates.time_left import format_range
from verdigris.ui.model import states
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.signals.notices import capitalise
from verdigris.ui.widgets.wording import PHASES

_KEEP = "Ends the training and writes the result"
_NOTHING_TO_KEEP = "There is no result yet. Wait for the first training step, or cancel."
_STEPS = 1000
_PHASE_HEIGHT = 5


class Transport(QWidget):
    """The buttons Start, Pause, Stop and keep, Cancel."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.keys: dict[QPushButton, str] = {}
        self.start = self._button("&Start", "Ctrl+Return", "Bakes this material", model.start)
        self.pause = self._button("&Pause", "Ctrl+P", "Pauses the training", self._toggle)
        self.finish = self._button("Stop and &keep", "Ctrl+S", _KEEP, model.finish)
        self.cancel = self._button(
            "&Cancel",
            "Ctrl+.",
            "Ends the bake without a result; checkpoints stay",
            model.cancel,
        )
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for button in (self.start, self.pause, self.finish, self.cancel):
            row.addWidget(button)
        bind(self, model.state_changed, self._show)
        bind(self, model.bake.progress_changed, self._show_finish)
        model.report_changed.connect(self._show)
        self.destroyed.connect(lambda *_: model.report_changed.disconnect(self._show))

    def _button(self, text: str, keys: str, tip: str, action: object) -> QPushButton:
        button = QPushButton(text)
        button.setShortcut(QKeySequence())
        self.keys[button] = keys
        self._set_tip(button, tip)
        button.setSizePolicy(QSizePolicy.Policy.MinimumExpanding, QSizePolicy.Policy.Fixed)
        button.clicked.connect(lambda _checked=False: action())
        return button

    def _set_tip(self, button: QPushButton, tip: str) -> None:
        keys = QKeySequence(self.keys[button])
        button.setToolTip(f"{tip} ({keys.toString(QKeySequence.SequenceFormat.NativeText)})")

    def _toggle(self) -> None:
        model = self._model
        model.resume() if model.state == PAUSED else model.pause()

    def _show(self) -> None:
        model = self._model
        is_paused = model.state == PAUSED
        self.pause.setText("&Resume" if is_paused else "&Pause")
        # Qt makes the underlined letter a shortcut of the whole window
        self.pause.setShortcut(QKeySequence())
        self.start.setEnabled(model.can(states.START))
        self.pause.setEnabled(model.can(states.RESUME if is_paused else states.PAUSE))
        self._show_finish()
        self.cancel.setEnabled(model.can(states.CANCEL))

    def _show_finish(self) -> None:
        model = self._model
        self.finish.setEnabled(model.can(states.FINISH))
        has_nothing = model.is_busy and not model.has_trained
        self._set_tip(self.finish, _NOTHING_TO_KEEP if has_nothing else _KEEP)


class ProgressView(QWidget):
    """Progress bars of the bake and of its phase, with the phase and the remaining time."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(True)
        self.bar.setToolTip("Progress of the bake")
        self.phase = QProgressBar()
        self.phase.setRange(0, _STEPS)
        self.phase.setTextVisible(False)
        self.phase.setFixedHeight(_PHASE_HEIGHT)
        self.phase.setToolTip("Progress of this phase")
        policy = self.phase.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.phase.setSizePolicy(policy)
        self.now = QLabel()
        self.left = QLabel()
        self.now.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._align()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.addWidget(self.bar, 0, 0, 1, 2)
        grid.setVerticalSpacing(2)
        grid.addWidget(self.phase, 1, 0, 1, 2)
        grid.addWidget(self.now, 2, 0)
        grid.addWidget(self.left, 2, 1)
        grid.setColumnStretch(0, 1)
        bind(self, model.bake.progress_changed, self._show)
        bind(self, model.state_changed, self._show)
        bind(self, model.report_changed, self._show)
        bind(self, model.materials_changed, self._show)

    def changeEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.LayoutDirectionChange:
            self._align()

    def _align(self) -> None:
        """Keeps the text apart from the remaining time in right-to-left layouts, too."""
        is_left = self.layoutDirection() == Qt.LayoutDirection.LeftToRight
        side = Qt.AlignmentFlag.AlignLeft if is_left else Qt.AlignmentFlag.AlignRight
        self.now.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter)

    def _show(self) -> None:
        model, progress = self._model, self._model.bake.progress
        is_unknown = model.state in (PREPARING, FINISHING) and not progress.share
        self.bar.setRange(0, 0 if is_unknown else _STEPS)
        share = 1.0 if model.state == DONE else progress.share
        self.bar.setValue(round(_STEPS * share))
        self.bar.setFormat(f"{100 * share:.0f}%")
        text = model.doing or states.LABELS[model.state]
        if model.is_busy and not model.doing and progress.phase:
            text = PHASES.get(progress.phase, progress.phase)
            if progress.number and len(progress.plan) > 1:
                text += f" ({progress.number} of {len(progress.plan)})"
            text = f"{states.LABELS[model.state]}: {text}" if model.state == PAUSED else text
        text = capitalise(text)
        if not model.is_busy and model.is_refused:
            text = "Cannot be baked: see the page Material"
        elif model.state == IDLE and progress.steps and model.bake.result is None:
            text = "Cancelled"
        elif model.state == IDLE and model.current is None:
            text = "No material"
        elif model.state == IDLE and model.report is None and model.health.state == GONE:
            text = "The worker has stopped"
        elif model.state == IDLE and model.report is None and not model.doing:
            text = "Reading the material"
        elif model.state == DONE and model.bake.stopped_by != "steps":
            text += f", stopped by {model.bake.stopped_by}"
        if progress.steps and (model.is_busy or not model.is_refused):
            text += f", step {progress.step:,} of {progress.steps:,}"
        self.phase.setVisible(model.is_busy and progress.number is not None)
        self.phase.setValue(round(_STEPS * progress.phase_share))
        self.now.setText(text)
        self.now.setToolTip(text)
        left = None
        if model.is_busy and model.state != PAUSED:
            left = model.time_left.update(model.bake_clock.seconds, progress.share)
        if left is not None:
            self.left.setText(f"{format_range(*left)} left")
        elif not model.is_busy:
            self.left.setText("")


class StatusBox(QWidget):
    """The buttons above the progress."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self.transport = Transport(model)
        self.progress = ProgressView(model)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.transport)
        column.addWidget(self.progress)
