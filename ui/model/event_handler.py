"""Takes the worker's events over into the state of the panel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.json_fields import find_number
from verdigris.core.material.analyse.features import is_transmitted
from verdigris.core.worker.client.client import pixels_of
from verdigris.core.worker.protocol.messages import Message
from verdigris.core.worker.protocol.worker_events import FAILED, PAUSED, PREPARING, TRAINING
from verdigris.core.worker.session.forecast import estimate
from verdigris.ui.model.panel_state import PanelState
from verdigris.ui.model.scene import Scene
from verdigris.ui.model.view_sync import ViewSync
from verdigris.ui.model.worker_link import WorkerLink
from verdigris.ui.paint.effect import Measured
from verdigris.ui.signals import ERROR, INFO, WARNING, capitalise


class EventHandler:
    """One method for each kind of event that more than one part of the state takes part in."""

    def __init__(self, state: PanelState, link: WorkerLink, scene: Scene, sync: ViewSync) -> None:
        self._state, self._link, self._scene, self._sync = state, link, scene, sync
        self.after_open: Callable[[], None] | None = None
        """What to do once the worker has opened the document."""
        self._is_attached = False
        """The result of the present bake is noted in the scene before its figures are there."""
        self._handlers: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "state": self._handle_state,
            "pace": self._handle_pace,
            "opened": self._handle_opened,
            "forecast": self.handle_forecast,
            "kept": self._handle_kept,
            "finished": self._handle_finished,
            "sizechosen": self._handle_size,
            "warning": lambda event: self._notify(WARNING, str(event.get("text", ""))),
            "error": self.handle_error,
            "showing": self._handle_showing,
            "shown": self._handle_shown,
            "written": self._handle_written,
            "linked": state.game.take,
        }

    def begin_bake(self) -> None:
        self._is_attached = False

    def handle(self, message: Message) -> None:
        header = message.header
        if not self._link.takes(header):
            return
        self._state.bake.handle(header)
        handler = self._handlers.get(str(header.get("event")))
        if handler is not None:
            handler(header)
        elif message.payload:
            self._handle_pixels(header, pixels_of(message))

    def _notify(self, severity: str, text: str) -> None:
        self._state.notices.add(severity, text)

    def _handle_written(self, event: Mapping[str, Any]) -> None:
        path = Path(str(event.get("path", "")))
        self._state.notices.add(INFO, f"Written: {path}", reveal=path)

    def _handle_state(self, event: Mapping[str, Any]) -> None:
        if self._link.follow_state(event):
            self._state.times.clock.pause(self._link.state == PAUSED)

    def _handle_pace(self, event: Mapping[str, Any]) -> None:
        seconds, idle = (find_number(event, name) or 0.0 for name in ("seconds", "idle"))
        self._state.times.note_pace(seconds, idle)

    def _handle_opened(self, event: Mapping[str, Any]) -> None:
        state = self._state
        name = state.current.name if state.current else ""
        reports = [each for each in event.get("materials", ()) if isinstance(each, dict)]
        chosen = event.get("chosen") or name
        named = [each for each in reports if each.get("name") == chosen] or reports[:1]
        state.report = named[0] if named else None
        state.is_outdated = not event.get("chosen")
        state.trainer, state.device = str(event.get("trainer", "")), str(event.get("device", ""))
        opened = [each for each in event.get("live", ()) if isinstance(each, dict)]
        state.live.take(opened, state.report)
        state.report_changed.emit()
        self._link.set_state(self._link.state)
        self._sync.set_view(live=state.live.shares())
        after, self.after_open = self.after_open, None
        if after is not None and event.get("chosen"):
            after()
        elif after is not None and state.report is not None:
            self._notify(ERROR, str(state.report.get("problem", "")))

    def handle_forecast(self, event: Mapping[str, Any]) -> None:
        if not self._link.is_busy and event.get("nanoseconds") is None:
            # the forecast that comes with a document ignores the choices
            self.estimate()
            return
        self._set_forecast(event)

    def estimate(self) -> None:
        """Estimates the size of the result from the choices. Drops measured figures."""
        state = self._state
        try:
            report = state.report or {}
            textures = [each for each in report.get("textures", ()) if each]
            transmits = any(is_transmitted(part.get("how", "")) for part in report.get("parts", ()))
            settings = state.choices.settings(state.trainer or "numpy")
            size = estimate(settings, textures, transmits)
        except VerdigrisError:
            self._set_forecast(None)
        else:
            self._set_forecast(size.as_json())

    def _set_forecast(self, forecast: Mapping[str, Any] | None) -> None:
        self._state.forecast = forecast
        self._state.forecast_changed.emit()

    def _handle_size(self, event: Mapping[str, Any]) -> None:
        """The bytes of the texture that the bake has chosen."""
        forecast = self._state.forecast or {}
        chosen = {name: event.get(name) for name in ("width", "height")}
        texture = max(0, int(event.get("loaded_bytes", 0)) - int(forecast.get("decoder_bytes", 0)))
        size = {**chosen, "texture_bytes": texture, "may_be_smaller": False}
        self._set_forecast({**forecast, **size})

    def _handle_kept(self, _event: Mapping[str, Any]) -> None:
        state = self._state
        state.live.is_range_outdated = True
        # plain textures for the scene come with the result
        started = state.started
        if state.bake.result is not None and not (started and started.viewport_textures):
            state.history.note_curve(state.bake.history.errors())
            self._scene.note_result(state.bake.result, ())
            self._is_attached = True

    def _handle_finished(self, event: Mapping[str, Any]) -> None:
        state = self._state
        # the neural material can be drawn now
        state.live.is_range_outdated = True
        if state.bake.result is None:
            return
        state.learn_time()
        self._note_effect()
        state.history.note_curve(state.bake.history.errors())
        hints = [capitalise(str(hint)) for hint in event.get("hints", ()) if hint]
        if not self._is_attached:
            self._scene.note_result(state.bake.result, hints)
        elif hints or state.bake.warnings:
            severity = WARNING if state.bake.warnings else INFO
            text = (f"Refined: {state.bake.result.bundle}", *state.bake.warnings, *hints)
            self._notify(severity, "\n".join(text))
        self._is_attached = False

    def _note_effect(self) -> None:
        """Compares the error by place with that of the bake before."""
        state, errors = self._state, self._state.pictures.error_map
        if errors is not None and state.started is not None and not state.started.resume:
            weights, steps = state.weights.values.copy(), state.bake.progress.steps
            state.effects.note(Measured(state.bake_key, np.array(errors), weights, steps))

    def handle_error(self, event: Mapping[str, Any]) -> None:
        """An error of the worker, or one of the scene in the form of an event."""
        state, command = self._state, event.get("command")
        self._link.note_refusal()
        if command == "open" and state.current is not None:
            problem = event.get("text", "")
            state.report = {"name": state.current.name, "problem": problem, "parts": ()}
            state.report_changed.emit()
            self.after_open = None
            state.is_outdated = True
            state.pictures.clear()
        if command == "start" and self._link.state == PREPARING:
            state.has_run = state.bake.progress.steps > 0
            self._link.set_state(FAILED)
        if not event.get("is_offered"):
            self._notify(ERROR, str(event.get("text", "")))

    def _handle_showing(self, event: Mapping[str, Any]) -> None:
        """The worker shows another shape than requested. An error has given the reason."""
        if event.get("view") == self._state.view.number:
            self._sync.set_view(
                shape=str(event.get("shape")),
                mesh=str(event.get("mesh")),
                lit_by=str(event.get("lit_by", "")),
            )

    def _handle_shown(self, event: Mapping[str, Any]) -> None:
        """The pictures show a version, or a version beside another one."""
        versions = self._state.history.versions
        keys = [
            next((each.key for each in versions if str(each.folder) == path), "")
            for path in (str(event.get("path")), str(event.get("against")))
        ]
        self._state.history.set_shown(*keys)
        self._state.live.is_range_outdated = True

    def _handle_pixels(self, header: Mapping[str, Any], pixels: Any) -> None:
        if header.get("event") == "rangedrawn":
            self._state.live.take_pictures(int(header.get("input", 0)), pixels)
        elif header.get("event") == "importance":
            self._state.weights.replace(np.array(pixels, np.float32))
        elif not self._state.is_outdated:
            self._state.pictures.handle(header, pixels)
            if header.get("part") == "neural" and self._link.state == TRAINING:
                self._state.film.take(int(header.get("step", 0)), pixels)
