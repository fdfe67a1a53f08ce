# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""A bake in a worker, without Blender: the operator calls `tick` and shows the texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from verdigris.core.base.text import format_seconds
from verdigris.core.worker.client.client import GONE, SILENT, WorkerClient
from verdigris.core.worker.protocol import commands
from verdigris.ui.model.parts.bake_log import BakeLog

if TYPE_CHECKING:
    from verdigris.core.hosts.host import HostDocument
    from verdigris.core.hosts.painted_meshes import Painted
    from verdigris.ui.model.parts.game_link import GameLink

RUNNING, DONE, CANCELLED, FAILED = "running", "done", "cancelled", "failed"


class BakeJob:
    """One bake. No method waits."""

    def __init__(
        self,
        document: HostDocument,
        painted: Painted | None,
        start: commands.Start,
        make_client: Callable[[], WorkerClient] = WorkerClient,
    ) -> None:
        self.state, self.error = RUNNING, ""
        self.log = BakeLog()
        self.hints: list[str] = []
        self._doing, self._silence = "Starting the worker", ""
        self._painted, self._start = painted, start
        self._client = make_client()
        self._client.send(commands.Open.of(document))
        self._game: GameLink | None = None

    def follow(self, game: GameLink) -> None:
        """Opens and ends the live link with its switch."""
        self._game = game
        if game.is_on:
            self._client.send(game.command)
        game.changed.connect(self._note_switch)
        self._was_on = game.is_on

    def release(self) -> None:
        """Ends a worker that a game still looks at."""
        if self.state != RUNNING:
            self._leave()

    @property
    def share(self) -> float:
        """The completed share, 0 to 1."""
        return 1.0 if self.state == DONE else self.log.progress.share

    @property
    def text(self) -> str:
        """The progress on one line."""
        if self.state == FAILED:
            return self.error
        if self.state != RUNNING:
            return self.state.capitalize()
        if self._silence:
            return self._silence
        progress = self.log.progress
        if not progress.steps:
            return self._doing
        left = progress.seconds_left
        time = f", {format_seconds(left)} left" if left else ""
        phase = progress.phase or self._doing
        return f"{phase.capitalize()}: step {progress.step} of {progress.steps}{time}"

    def tick(self) -> None:
        """Handles what the worker has sent."""
        for message in self._client.poll():
            if self._game is not None and message.header.get("event") == "linked":
                self._game.take(message.header)
            elif self.state == RUNNING:
                self._handle(message.header)
        if self.state != RUNNING:
            return
        health = self._client.health()
        self._silence = health.reason if health.state == SILENT else ""
        # what it sent before its end may still arrive
        if health.state == GONE:
            for message in self._client.poll():
                self._handle(message.header)
            if self.state == RUNNING:
                self._end(FAILED, health.reason)

    def finish(self) -> None:
        """Ends the training and keeps its result."""
        self._client.send(commands.Finish())

    def cancel(self) -> None:
        """Ends the bake. Its last checkpoint remains."""
        if self.state == RUNNING:
            self._end(CANCELLED)

    def _handle(self, event: Mapping[str, Any]) -> None:
        self.log.handle(event)
        kind = event.get("event")
        if kind == "state":
            self._doing = str(event.get("doing") or self._doing)
        elif kind == "opened":
            self._handle_opened(event)
        elif kind == "finished":
            self.hints = [str(hint) for hint in event.get("hints", ()) if hint]
            self._end(DONE)
        elif kind == "error":
            self._end(FAILED, str(event.get("text", "")))

    def _handle_opened(self, event: Mapping[str, Any]) -> None:
        if not event.get("chosen"):
            reports = [each for each in event.get("materials", ()) if isinstance(each, dict)]
            problems = [str(each.get("problem") or "") for each in reports]
            why = next((each for each in problems if each), "it cannot be baked")
            self._end(FAILED, why)
            return
        if self._painted is not None:
            self._client.send(commands.SetImportance.of(self._painted.weights))
        self._client.send(self._start)

    def _end(self, state: str, error: str = "") -> None:
        self.state, self.error = state, error
        if state != DONE or self._game is None or not self._game.clients:
            self._leave()

    def _leave(self) -> None:
        self._client.close()
        if self._game is not None:
            self._game.changed.disconnect(self._note_switch)
            self._game.forget()
            self._game = None

    def _note_switch(self) -> None:
        assert self._game is not None
        if self._game.is_on != self._was_on:
            self._was_on = self._game.is_on
            self._client.send(self._game.command)
            if not self._was_on:
                self.release()
