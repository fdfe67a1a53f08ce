"""Keeps the worker up to date with what the artist looks at and paints."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from verdigris.core.worker.protocol import commands
from verdigris.ui.model.panel_state import PanelState
from verdigris.ui.model.parts.live_values import RANGE_PICTURES
from verdigris.ui.model.worker_link import WorkerLink
from verdigris.ui.signals import INFO, WARNING

# The minimum number of seconds between two maps of weights, and between two strips.
_PAINT_INTERVAL = 0.25
RANGE_INTERVAL = 0.3
RANGE_SIZE = 64
_LIGHT = ("lit_by", "rotate", "light", "exposure", "environment", "tone", "blur")


class ViewSync:
    """Sends the view at once, and painted weights and range pictures a few times a second."""

    def __init__(self, state: PanelState, link: WorkerLink) -> None:
        self._state, self._link = state, link
        self._weights_sent = self._range_sent = 0.0
        self._weights_changed = False
        state.weights.changed.connect(self._handle_paint)

    def send_all(self) -> None:
        """Sends what a new worker needs to know before it opens a document."""
        if self._state.meshes.loaded is not None:
            self._link.send(self._state.meshes.loaded)
        self._link.send(self._state.view)
        self._link.send(self._state.focus)
        if self._state.game.is_on:
            self._link.send(self._state.game.command)

    def set_view(self, **values: Any) -> None:
        """Changes some values of the view."""
        state = self._state
        view = replace(state.view, **values)
        if view == state.view:
            return
        if any(getattr(view, name) != getattr(state.view, name) for name in _LIGHT):
            state.live.is_range_outdated = True
        state.view = replace(view, number=state.view.number + 1)
        state.view_changed.emit()
        self._link.send(state.view)

    def set_live(self, name: str, share: float) -> None:
        """Moves a live input in the view, 0 to 1."""
        self._state.live.set_share(name, share)
        self.set_view(live=self._state.live.shares())

    def set_focus(self, where: str) -> None:
        """Sets the places that training samples: all, painted ones only, or mostly visible ones."""
        state = self._state
        if where == commands.PAINTED and state.weights.is_constant:
            text = "All weights are equal. Paint a place with a higher weight."
            state.notices.add(WARNING, text)
        else:
            state.focus = replace(state.focus, where=where)
            if where == commands.PAINTED:
                # the last strokes may not have been sent yet
                self.send_weights()
            self._link.send(state.focus)
        state.focus_changed.emit()

    def follow(self) -> None:
        """Sends new weights, and asks for outdated pictures of a range again."""
        live, now = self._state.live, time.monotonic()
        number = live.active_number
        if live.is_range_outdated and number >= 0 and now - self._range_sent > RANGE_INTERVAL:
            live.is_range_outdated = False
            self._range_sent = now
            self._link.send(commands.Range(number, RANGE_PICTURES, RANGE_SIZE))
        if self._weights_changed and now - self._weights_sent > _PAINT_INTERVAL:
            self.send_weights()

    def send_weights(self) -> None:
        if not self._link.is_running:
            return
        self._weights_changed = False
        self._weights_sent = time.monotonic()
        weights = self._state.weights
        if weights.is_constant:
            self._link.send(commands.SetImportance())
        else:
            values = weights.values.astype("<f4")
            height, width = values.shape
            self._link.send(commands.SetImportance(width, height, values.tobytes()))

    def _handle_paint(self) -> None:
        self._weights_changed = True
        if self._state.focus.where == commands.PAINTED and self._state.weights.is_constant:
            self.set_focus(commands.EVERYWHERE)
            text = "All weights are equal again: every place is trained."
            self._state.notices.add(INFO, text)
