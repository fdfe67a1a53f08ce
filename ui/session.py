"""What outlives a panel: its model, the worker of the model, and the artist's choices.

An application destroys a docked widget without an event when its tab is closed or the workspace
changes. A session belongs to the application instead: panels come and go as its views, and a bake
goes on without one.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtWidgets import QWidget

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.hosts.result_folders import choose_folder, chosen_folder
from verdigris.ui.memory import Memory
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.signals import WARNING

TICK_MS = 40
# A worker without work and without a view ends after so many seconds, and frees the GPU. Changing
# the workspace takes less.
REST_SECONDS = 120.0


class Session:
    """Ticks its model, and stores choices when they change."""

    def __init__(self, model: PanelModel, memory: Memory | None = None) -> None:
        self.model, self.memory = model, memory or Memory()
        state = model.state
        model.set_choices(**{**vars(self.memory.choices()), "folder": chosen_folder()})
        state.times.predictions.read_json(self.memory.outcomes())
        state.living.update(self.memory.live())
        state.own_files.update(self.memory.own_files())
        model.choices_undo.forget()
        model.set_view(**self.memory.view())
        state.own_presets.refresh()
        self._stored_living = dict(state.living)
        self._stored_folder = state.choices.folder
        self._views: set[int] = set()
        self._unseen = time.monotonic()
        state.history.changed.connect(self._store_outcomes)
        state.choices_changed.connect(self._store_live)
        state.choices_changed.connect(self._store_folder)
        state.own_files_changed.connect(lambda: self.memory.store_own_files(state.own_files))
        application = QCoreApplication.instance()
        self._timer = QTimer(application)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._timer.start()
        if application is not None:
            application.aboutToQuit.connect(self.close)

    @property
    def is_open(self) -> bool:
        return self._timer.isActive()

    def add_view(self, view: QWidget) -> None:
        """A panel shows the model until it is destroyed."""
        key = id(view)
        self._views.add(key)
        view.destroyed.connect(lambda *_: self._drop_view(key))

    def close(self) -> None:
        """Stores the choices, and ends the worker, which leaves a checkpoint."""
        if self.is_open:
            self._timer.stop()
            self.store()
        self.model.close()

    def store(self) -> None:
        self.memory.store_choices(self.model.state.choices)
        self.memory.store_view(self.model.state.view)

    def _drop_view(self, key: int) -> None:
        self._views.discard(key)
        self._unseen = time.monotonic()
        if self.is_open:
            self.store()

    def _tick(self) -> None:
        self.model.tick()
        if not self._views and time.monotonic() - self._unseen > REST_SECONDS:
            self.model.rest()

    def _store_outcomes(self) -> None:
        """Stores them at once, as a host may end without closing the panel."""
        self.memory.store_outcomes(self.model.state.times.predictions.as_json())

    def _store_live(self) -> None:
        if self.model.state.living != self._stored_living:
            self._stored_living = dict(self.model.state.living)
            self.memory.store_live(self._stored_living)

    def _store_folder(self) -> None:
        """The command writes into the same folder."""
        folder = self.model.state.choices.folder
        if folder != self._stored_folder:
            self._stored_folder = folder
            try:
                choose_folder(folder)
            except VerdigrisError as failure:
                self.model.state.notices.add(WARNING, str(failure))
