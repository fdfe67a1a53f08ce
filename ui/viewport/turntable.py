"""A turn of the shape as a moving picture: the worker draws one view after the other."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.text import format_range
from verdigris.core.pictures.moving_files import write_frames_shown
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.signals import ERROR, INFO
from verdigris.ui.style.colours import colours_for
from verdigris.ui.style.metrics import GAP
from verdigris.ui.style.sheet import wear_card
from verdigris.ui.viewport.shown_picture import is_drawn, parts_of, picture_of
from verdigris.ui.viewport.viewport import Viewport

PICTURES, RATE = 72, 18.0
# Pixels of the shorter side: larger views would take minutes more, and megabytes.
_MOST_PIXELS = 540
# Milliseconds for which each picture waits until it has no grain.
_PATIENCE = 3_000
_POLL = 100
_SPREAD = 1.2
_WIDTH = 160


class Turntable(QFrame):
    """A box in front of the viewport with progress and Cancel, while a turn is drawn."""

    def __init__(self, model: PanelModel, viewport: Viewport) -> None:
        super().__init__(viewport)
        self._model, self._viewport = model, viewport
        self._writer: _Writer | None = None
        self._angles: list[float] = []
        self._number = 0
        self._begun = self._asked = 0.0
        self._before: dict[str, float] = {}
        """What the turn changes of the view."""
        self.setObjectName("turntable")
        self.text, self.bar = QLabel(), QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(_WIDTH)
        self.bar.setAccessibleName("Progress of the turntable")
        self.cancel = QPushButton("Cancel")
        self.cancel.setToolTip("Ends the turntable without a file")
        self.cancel.clicked.connect(lambda _: self._end("The turntable was cancelled."))
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP, GAP, GAP, GAP)
        row.setSpacing(GAP)
        for each in (self.text, self.bar, self.cancel):
            row.addWidget(each)
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL)
        self._timer.timeout.connect(self._follow)
        viewport.installEventFilter(self)
        self.hide()
        bind(self, model.state.pictures.changed, self._follow)

    @property
    def is_running(self) -> bool:
        return self._writer is not None

    @property
    def can_start(self) -> bool:
        """Whether there is a picture, and nothing trains: the views take all of the device."""
        has_picture = "reference" in self._model.state.pictures.parts
        return has_picture and not self.is_running and not self._model.link.is_busy

    def start(self, path: Path) -> None:
        """Draws a turn from the present view on, and writes it."""
        view = self._model.state.view
        self._before = {"turn": view.turn, "size": view.size}
        step = 360 / PICTURES
        self._angles = [(view.turn + step * n + 180) % 360 - 180 for n in range(PICTURES)]
        self._writer = _Writer(path)
        self._writer.start()
        self._begun = time.monotonic()
        self.bar.setRange(0, PICTURES)
        self.bar.setValue(0)
        self._ask()
        wear_card(self, "turntable", colours_for(self).smooth)
        self.show()
        self._timer.start()
        self._follow()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() == QEvent.Type.Resize:
            self._place()
        return False

    def _place(self) -> None:
        self.adjustSize()
        self.move((self._viewport.width() - self.width()) // 2, GAP)
        self.raise_()

    def _ask(self) -> None:
        """Requests the next view."""
        size = int(min(_MOST_PIXELS, self._before["size"]))
        self._model.set_view(turn=self._angles[self.bar.value()], size=size)
        self._number, self._asked = self._model.state.view.number, time.monotonic()
        done = self.bar.value()
        text = f"Turntable: {done} of {PICTURES}"
        if done:
            left = (time.monotonic() - self._begun) / done * (PICTURES - done)
            text += f", {format_range(left / _SPREAD, left * _SPREAD)} left"
        self.text.setText(text)
        self._place()

    def _follow(self) -> None:
        """Takes the picture of the present view if it is drawn, and goes on."""
        writer, model = self._writer, self._model
        if writer is None:
            return
        if writer.failure is not None:
            self._end()
            model.state.notices.add(ERROR, str(writer.failure))
        elif self.bar.value() == PICTURES:
            if not writer.is_alive():
                self._end()
                model.state.notices.add(INFO, f"Saved: {writer.path.name}", reveal=writer.path)
        elif model.state.view.number != self._number:
            self._end("The turntable was cancelled: the view was changed.", is_turned_back=False)
        elif model.link.is_busy or model.link.is_lost:
            self._end("The turntable was cancelled: the worker draws no views now.")
        else:
            waits = 1000 * (time.monotonic() - self._asked) < _PATIENCE
            image = picture_of(self._viewport)
            if image is not None and is_drawn(model, parts_of(self._viewport), waits):
                self._take(image)

    def _take(self, image: QImage) -> None:
        assert self._writer is not None
        self._writer.frames.put(_pixels(image))
        self.bar.setValue(self.bar.value() + 1)
        if self.bar.value() < PICTURES:
            self._ask()
        else:
            self._writer.frames.put(None)
            self.text.setText(f"Writing {self._writer.path.name}")

    def _end(self, reason: str = "", is_turned_back: bool = True) -> None:
        """Stops, and shows the view from before."""
        writer, self._writer = self._writer, None
        self._timer.stop()
        self.hide()
        if writer is not None and writer.is_alive():
            writer.frames.put(_CancelledError())
        if is_turned_back:
            self._model.set_view(**self._before)
        else:
            self._model.set_view(size=self._before["size"])
        if reason:
            self._model.state.notices.add(INFO, reason)


class _CancelledError(Exception):
    """The artist wants no file."""


class _Writer(threading.Thread):
    """Compresses the pictures while others are drawn."""

    def __init__(self, path: Path) -> None:
        super().__init__(name="turntable", daemon=True)
        self.path = path
        self.frames: queue.Queue[Any] = queue.Queue()
        """Pictures, and None after the last one."""
        self.failure: VerdigrisError | None = None

    def run(self) -> None:
        try:
            write_frames_shown(self.path, self._taken(), PICTURES, RATE)
        except VerdigrisError as failure:
            self.failure = failure
        except _CancelledError:
            # the temporary file is removed
            pass

    def _taken(self) -> Iterator[NDArray[np.uint8]]:
        while (frame := self.frames.get()) is not None:
            if isinstance(frame, _CancelledError):
                raise frame
            yield frame


def _pixels(image: QImage) -> NDArray[np.uint8]:
    """The colours (H, W, 3) of an image."""
    found = image.convertToFormat(QImage.Format.Format_RGB888)
    height, width, stride = found.height(), found.width(), found.bytesPerLine()
    rows = np.frombuffer(found.constBits(), np.uint8).reshape(height, stride)
    return rows[:, : 3 * width].reshape(height, width, 3).copy()
