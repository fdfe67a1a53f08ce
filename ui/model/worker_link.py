"""The connection of the panel to its worker: events that come in, commands that go out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.hosts.host import BakedResult, Host, HostMaterial
from verdigris.core.worker.client.client import GONE, SILENT, WELL, Health, WorkerClient, pixels_of
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import Message
from verdigris.core.worker.protocol.worker_events import (
    FAILED,
    IDLE,
    PAUSED,
    PREPARING,
    REFINING,
)
from verdigris.core.worker.session.forecast import estimate
from verdigris.ui.model import states
from verdigris.ui.model.panel_state import PanelState
from verdigris.ui.model.parts.live_values import RANGE_PICTURES
from verdigris.ui.paint.effect import Measured
from verdigris.ui.signals.notices import ERROR, INFO, WARNING, capitalise

# The minimum number of seconds between two maps of weights.
_PAINT_INTERVAL = 0.25
# Seconds for further changes: the material is compiled again.
LIVE_INTERVAL = 0.7
# The minimum number of seconds between two strips.
RANGE_INTERVAL = 0.3
RANGE_SIZE = 64
_LIGHT = ("lit_by", "rotate", "light", "exposure", "environment", "tone")
_ENDINGS = ("closing", "kept", "finished")


class WorkerLink(PanelState):
    """Call `tick` a few times a second. No method of this class waits."""

    def __init__(self, host: Host, make_client: Callable[[], WorkerClient] = WorkerClient) -> None:
        super().__init__(host, make_client)
        self.weights.changed.connect(self._handle_paint)
        self.set_up.finished.connect(self._handle_set_up)

    # events

    def tick(self) -> None:
        """Handles new messages, checks the worker and sends new weights."""
        self._paint.poll()
        self.set_up.poll()
        self.ladder.poll()
        if self._client is None:
            return
        for message in self._client.poll():
            self._handle(message)
        if self._client is not None:
            self._handle_health(self._client.health())
        self._follow_live()
        if self._weights_changed and time.monotonic() - self._weights_sent > _PAINT_INTERVAL:
            self._send_weights()

    def _handle(self, message: Message) -> None:
        header = message.header
        if header.get("event") == "started":
            self._awaits_start = False
        if self._awaits_start and header.get("event") in _ENDINGS:
            return
        handler = {
            "state": self._handle_state,
            "opened": self._handle_opened,
            "forecast": self._handle_forecast,
            "kept": self._handle_kept,
            "finished": self._handle_finished,
            "sizechosen": self._handle_size,
            "warning": lambda event: self.notices.add(WARNING, str(event.get("text", ""))),
            "error": self._handle_error,
            "showing": self._handle_showing,
            "shown": self._handle_shown,
            "written": lambda event: self.notices.add(INFO, f"Written: {event.get('path', '')}"),
        }.get(str(header.get("event")))
        self.bake.handle(header)
        if handler is not None:
            handler(header)
        elif message.payload:
            self._handle_pixels(header, pixels_of(message))

    def _handle_state(self, event: Mapping[str, Any]) -> None:
        state = str(event.get("state"))
        if state not in states.LABELS or not states.can_follow(state, self.state):
            return
        # the worker is still idle when a start has just been sent to it
        if self.state == PREPARING and state == IDLE and self.pending != states.CANCEL:
            return
        self.pending = ""
        self.bake_clock.pause(state == PAUSED)
        self._set_state(state, str(event.get("doing", "")))

    def _handle_opened(self, event: Mapping[str, Any]) -> None:
        name = self.current.name if self.current else ""
        reports = [each for each in event.get("materials", ()) if isinstance(each, dict)]
        chosen = event.get("chosen") or name
        found = [each for each in reports if each.get("name") == chosen] or reports[:1]
        self.report = found[0] if found else None
        self._is_outdated = not event.get("chosen")
        self.trainer, self.device = str(event.get("trainer", "")), str(event.get("device", ""))
        self.live.take(
            [each for each in event.get("live", ()) if isinstance(each, dict)], self.report
        )
        self.report_changed.emit()
        self._set_state(self.state)
        self.set_view(live=self.live.shares())
        after, self._after_open = self._after_open, None
        if after is not None and event.get("chosen"):
            after()
        elif after is not None and self.report is not None:
            self.notices.add(ERROR, str(self.report.get("problem", "")))

    def _handle_forecast(self, event: Mapping[str, Any]) -> None:
        if not self.is_busy and event.get("nanoseconds") is None:
            # the forecast that comes with a document ignores the choices
            self._estimate()
            return
        self.forecast = event
        self.forecast_changed.emit()

    def _handle_size(self, event: Mapping[str, Any]) -> None:
        """The bytes of the texture that the bake has chosen."""
        forecast = self.forecast or {}
        chosen = {name: event.get(name) for name in ("width", "height")}
        texture = max(0, int(event.get("loaded_bytes", 0)) - int(forecast.get("decoder_bytes", 0)))
        self.forecast = {**forecast, **chosen, "texture_bytes": texture, "may_be_smaller": False}
        self.forecast_changed.emit()

    def _handle_kept(self, _event: Mapping[str, Any]) -> None:
        self.live.is_range_outdated = True
        # plain textures for the scene come with the result
        if self.bake.result is not None and not (self._started and self._started.viewport_textures):
            self.history.note_curve(self.bake.history.errors())
            self._attach(self.bake.result, ())
            self._is_attached = True

    def _handle_finished(self, event: Mapping[str, Any]) -> None:
        # the neural material can be drawn now
        self.live.is_range_outdated = True
        if self.bake.result is not None:
            self._learn_time()
            self._note_effect()
            self.history.note_curve(self.bake.history.errors())
            hints = [capitalise(str(hint)) for hint in event.get("hints", ()) if hint]
            if not self._is_attached:
                self._attach(self.bake.result, hints)
            elif hints or self.bake.warnings:
                severity = WARNING if self.bake.warnings else INFO
                text = (f"Refined: {self.bake.result.bundle}", *self.bake.warnings, *hints)
                self.notices.add(severity, "\n".join(text))
            self._is_attached = False

    def _note_effect(self) -> None:
        """Compares the error by place with that of the bake before."""
        errors = self.pictures.error_map
        if errors is not None and self._started is not None and not self._started.resume:
            weights = self.weights.values.copy()
            steps = self.bake.progress.step
            self.effects.note(Measured(self.bake_key, np.array(errors), weights, steps))

    def _learn_time(self) -> None:
        """Compares the time of a whole bake with its prediction, for the next one."""
        choices = self._started
        if choices is None or choices.resume or self.bake.stopped_by != "steps":
            return
        self.took = self.bake_clock.seconds
        trainer = self.trainer or "numpy"
        # a constant material has a smaller texture and fewer steps than its preset
        settings = replace(choices.settings(trainer), iterations=self.bake.progress.steps)
        if self.bake.resolution:
            settings = replace(settings, resolution=self.bake.resolution)
        self.predictions.learn(settings, trainer, self.took)

    def _attach(self, result: BakedResult, hints: Sequence[str]) -> None:
        """Notes the result in the scene. Nothing else here changes the scene; it is one undo
        step."""
        if self.current is None:
            return
        warnings = list(self.bake.warnings)
        try:
            self._attach_to(self.current, result)
        except VerdigrisError as failure:
            warnings.append(f"The result is written, but it is not noted in the scene: {failure}")
        # one notice, as only the last one is visible
        text = (f"Written: {result.bundle}", *warnings, *hints)
        self.notices.add(WARNING if warnings else INFO, "\n".join(text))

    def _attach_to(self, material: HostMaterial, result: BakedResult) -> None:
        try:
            self.host.attach(material, result)
        except VerdigrisError:
            self._read_materials()
            if self.current is None or self.current == material:
                raise
            # the material was renamed during the bake
            self.materials_changed.emit()
            self.host.attach(self.current, result)

    def _handle_error(self, event: Mapping[str, Any]) -> None:
        if self.pending:
            # a refused action can be requested again
            self.pending = ""
            self.state_changed.emit()
        if event.get("command") == "open" and self.current is not None:
            problem = event.get("text", "")
            self.report = {"name": self.current.name, "problem": problem, "parts": ()}
            self.report_changed.emit()
            self._after_open = None
            self._is_outdated = True
            self.pictures.clear()
        if event.get("command") == "start" and self.state == PREPARING:
            self._has_run = self.bake.progress.steps > 0
            self._set_state(FAILED)
        if not event.get("is_offered"):
            self.notices.add(ERROR, str(event.get("text", "")))

    def _handle_showing(self, event: Mapping[str, Any]) -> None:
        """The worker shows another shape than requested. An error has given the reason."""
        if event.get("view") == self.view.number:
            self.set_view(
                shape=str(event.get("shape")),
                mesh=str(event.get("mesh")),
                lit_by=str(event.get("lit_by", "")),
            )

    def _handle_shown(self, event: Mapping[str, Any]) -> None:
        """The pictures show a version, or a version beside another one."""
        keys = [
            next((each.key for each in self.history.versions if str(each.folder) == path), "")
            for path in (str(event.get("path")), str(event.get("against")))
        ]
        self.history.set_shown(*keys)
        self.live.is_range_outdated = True

    def _handle_pixels(self, header: Mapping[str, Any], pixels: Any) -> None:
        if header.get("event") == "rangedrawn":
            self.live.take_pictures(int(header.get("input", 0)), pixels)
        elif header.get("event") == "importance":
            self.weights.replace(np.array(pixels, np.float32))
        elif not self._is_outdated:
            self.pictures.handle(header, pixels)

    def _handle_set_up(self) -> None:
        """Opens the chosen material with the worker that was set up."""
        self.notices.add(INFO, "The worker is set up.")
        self._replace_client()

    def _handle_health(self, health: Health) -> None:
        if health.is_unfit:
            self.set_up.offer()
        elif health.state == WELL:
            self.set_up.hide()
        if health.state == GONE and self.is_busy:
            self.pending = ""
            self._set_state(FAILED)
        self._set_health(health)

    def _estimate(self) -> None:
        """Estimates the size of the result from the choices. Drops measured figures."""
        try:
            textures = [each for each in (self.report or {}).get("textures", ()) if each]
            found = estimate(self.choices.settings(self.trainer or "numpy"), textures)
        except VerdigrisError:
            self.forecast = None
        else:
            self.forecast = found.as_json()
        self.forecast_changed.emit()

    # commands

    def set_view(self, **values: Any) -> None:
        """Changes some values of the view."""
        changed = replace(self.view, **values)
        if changed == self.view:
            return
        if any(getattr(changed, name) != getattr(self.view, name) for name in _LIGHT):
            self.live.is_range_outdated = True
        self.view = replace(changed, number=self.view.number + 1)
        self.view_changed.emit()
        self._send(self.view)

    def set_live(self, name: str, share: float) -> None:
        """Moves a live input in the view, 0 to 1."""
        self.live.set_share(name, share)
        self.set_view(live=self.live.shares())

    def _follow_live(self) -> None:
        """Opens the material with other live inputs once the artist has chosen them, and draws the
        pictures of a range again."""
        now = time.monotonic()
        is_free = not self.is_busy and self.state != REFINING
        if self._live_changed and is_free and now - self._live_changed > LIVE_INTERVAL:
            self._open_living()
        number = self.live.active_number
        if self.live.is_range_outdated and number >= 0 and now - self._range_sent > RANGE_INTERVAL:
            self.live.is_range_outdated = False
            self._range_sent = now
            self._send(commands.Range(number, RANGE_PICTURES, RANGE_SIZE))

    def _open_living(self) -> None:
        raise NotImplementedError

    def set_focus(self, where: str) -> None:
        """Sets the places that training samples: all, painted ones only, or mostly visible ones."""
        if where == commands.PAINTED and self.weights.is_constant:
            self.notices.add(WARNING, "All weights are equal. Paint a place with a higher weight.")
        else:
            self.focus = replace(self.focus, where=where)
            if where == commands.PAINTED:
                # the last strokes may not have been sent yet
                self._send_weights()
            self._send(self.focus)
        self.focus_changed.emit()

    def read_map(self, path: str) -> None:
        self._send(commands.ReadMap(path))

    def write_map(self, path: str) -> None:
        values = self.weights.values.astype("<f4")
        self._send(commands.WriteMap(path, values.shape[1], values.shape[0], values.tobytes()))

    def _handle_paint(self) -> None:
        self._weights_changed = True
        if self.focus.where == commands.PAINTED and self.weights.is_constant:
            self.set_focus(commands.EVERYWHERE)
            self.notices.add(INFO, "All weights are equal again: every place is trained.")

    def _send_weights(self) -> None:
        if self._client is None:
            return
        self._weights_changed = False
        self._weights_sent = time.monotonic()
        if self.weights.is_constant:
            self._send(commands.SetImportance())
        else:
            values = self.weights.values.astype("<f4")
            height, width = values.shape
            self._send(commands.SetImportance(width, height, values.tobytes()))

    def _request(self, action: str, command: commands.Command) -> None:
        if self.can(action):
            self.pending = action
            self._send(command)
            self.state_changed.emit()

    def _replace_client(self) -> None:
        """Opens the chosen material with a new worker."""
        self._drop_client()
        self.pending = ""
        self._set_health(Health(WELL))
        self._set_state(IDLE)
        if self.current is not None:
            self._open()

    def _open(self) -> None:
        raise NotImplementedError

    def _drop_client(self) -> None:
        client, self._client = self._client, None
        if client is None:
            return
        if self.health.state == SILENT:
            client.kill()
        else:
            client.close()
