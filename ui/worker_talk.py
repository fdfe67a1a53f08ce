"""What the panel and its worker say to each other while something is open."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.hosts.host import BakedResult, Host, HostMaterial
from verdigris.core.worker.client.client import GONE, SILENT, Health, WorkerClient, pixels_of
from verdigris.core.worker.protocol import commands as say
from verdigris.core.worker.protocol.messages import Message
from verdigris.core.worker.protocol.worker_events import FAILED, IDLE, PREPARING
from verdigris.core.worker.session.forecast import estimate
from verdigris.ui import states
from verdigris.ui.notices import ERROR, INFO, WARNING, as_sentence
from verdigris.ui.panel_state import PanelState

# Strokes are sent to the worker no more often than this.
_PAINT_INTERVAL = 0.25


class WorkerTalk(PanelState):
    """`tick` is called a few times a second, by a timer or by a test; nothing here waits."""

    def __init__(self, host: Host, make_client: Callable[[], WorkerClient] = WorkerClient) -> None:
        super().__init__(host, make_client)
        self.weights.changed.connect(self._note_paint)

    # what the worker says

    def tick(self) -> None:
        """Takes in what has come, and looks after the worker. Never waits."""
        self._paint.poll()
        if self._client is None:
            return
        for message in self._client.poll():
            self._take(message)
        if self._client is not None:
            self._watch(self._client.health())
        if self._weights_are_new and time.monotonic() - self._weights_sent > _PAINT_INTERVAL:
            self._send_weights()

    def _take(self, message: Message) -> None:
        header = message.header
        reaction = {
            "state": self._take_state,
            "opened": self._take_opened,
            "forecast": self._take_forecast,
            "finished": self._take_finished,
            "warning": lambda said: self.notices.tell(WARNING, str(said.get("text", ""))),
            "error": self._take_error,
            "showing": self._take_showing,
            "written": lambda said: self.notices.tell(INFO, f"Written: {said.get('path', '')}"),
        }.get(str(header.get("event")))
        self.bake.take(header)
        if reaction is not None:
            reaction(header)
        elif message.payload:
            self._take_pixels(header, pixels_of(message))

    def _take_state(self, said: Mapping[str, Any]) -> None:
        state = str(said.get("state"))
        if state not in states.IN_WORDS or not states.can_follow(state, self.state):
            return
        # it is still idle when a start has just been sent to it
        if self.state == PREPARING and state == IDLE and self.asked != states.CANCEL:
            return
        self.asked = ""
        self._set_state(state, str(said.get("doing", "")))

    def _take_opened(self, said: Mapping[str, Any]) -> None:
        name = self.current.name if self.current else ""
        reports = [each for each in said.get("materials", ()) if isinstance(each, dict)]
        chosen = said.get("chosen") or name
        found = [each for each in reports if each.get("name") == chosen] or reports[:1]
        self.report = found[0] if found else None
        self._is_behind = not said.get("chosen")
        self.trainer, self.device = str(said.get("trainer", "")), str(said.get("device", ""))
        self.report_changed.emit()
        self._set_state(self.state)
        then, self._then = self._then, None
        if then is not None and said.get("chosen"):
            then()
        elif then is not None and self.report is not None:
            self.notices.tell(ERROR, str(self.report.get("problem", "")))

    def _take_forecast(self, said: Mapping[str, Any]) -> None:
        if not self.is_busy and said.get("nanoseconds") is None:
            # what comes with a document is of the preset alone
            self._estimate()
            return
        self.forecast = said
        self.forecast_changed.emit()

    def _take_finished(self, said: Mapping[str, Any]) -> None:
        if self.bake.result is not None:
            hints = [str(hint) for hint in said.get("hints", ()) if hint]
            self._attach(self.bake.result, hints)

    def _attach(self, result: BakedResult, hints: Sequence[str]) -> None:
        """The only thing that changes the scene: one step of undo there."""
        if self.current is None:
            return
        warnings = list(self.bake.warnings)
        try:
            self._note(self.current, result)
        except VerdigrisError as failure:
            warnings.append(f"The result is written, and not noted in the scene: {failure}")
        # the last notice is the one that is seen
        told = (f"Written: {result.bundle}", *warnings, *map(as_sentence, hints))
        self.notices.tell(WARNING if warnings else INFO, "\n".join(told))

    def _note(self, material: HostMaterial, result: BakedResult) -> None:
        try:
            self.host.attach(material, result)
        except VerdigrisError:
            self._read_materials()
            if self.current is None or self.current == material:
                raise
            # it was renamed meanwhile
            self.materials_changed.emit()
            self.host.attach(self.current, result)

    def _take_error(self, said: Mapping[str, Any]) -> None:
        if self.asked:
            # what was refused can be asked again
            self.asked = ""
            self.state_changed.emit()
        if said.get("command") == "open" and self.current is not None:
            self.report = {"name": self.current.name, "problem": said.get("text", ""), "parts": ()}
            self.report_changed.emit()
            self._then = None
            self._is_behind = True
            self.pictures.clear()
        if said.get("command") == "start" and self.state == PREPARING:
            self._ran = self.bake.progress.steps > 0
            self._set_state(FAILED)
        self.notices.tell(ERROR, str(said.get("text", "")))

    def _take_showing(self, said: Mapping[str, Any]) -> None:
        """Another shape is shown than was asked for; an error has told why."""
        if said.get("view") == self.view.number:
            self.look(shape=str(said.get("shape")), mesh=str(said.get("mesh")))

    def _take_pixels(self, header: Mapping[str, Any], pixels: Any) -> None:
        if header.get("event") == "importance":
            self.weights.replace(np.array(pixels, np.float32))
        elif not self._is_behind:
            # or else they are of what the worker had before
            self.pictures.take(header, pixels)

    def _watch(self, health: Health) -> None:
        if health.state == GONE and self.is_busy:
            self.asked = ""
            self._set_state(FAILED)
        self._set_health(health)

    def _estimate(self) -> None:
        """What the result will weigh by the choices; what was measured was of others."""
        try:
            found = estimate(self.choices.settings(self.trainer or "numpy"))
        except VerdigrisError:
            self.forecast = None
        else:
            self.forecast = found.as_json()
        self.forecast_changed.emit()

    # what it is told

    def look(self, **values: Any) -> None:
        """Changes the view."""
        wanted = replace(self.view, **values)
        if wanted == self.view:
            return
        self.view = replace(wanted, number=self.view.number + 1)
        self.view_changed.emit()
        self._send(self.view)

    def set_focus(self, where: str) -> None:
        """Where training looks: everywhere, only at what is painted, or at what is in view."""
        if where == say.PAINTED and self.weights.is_plain:
            self.notices.tell(WARNING, "Paint something first: nothing is weighted above the rest.")
        else:
            self.focus = replace(self.focus, where=where)
            if where == say.PAINTED:
                # it needs the paint, which may not have been sent yet
                self._send_weights()
            self._send(self.focus)
        self.focus_changed.emit()

    def read_map(self, path: str) -> None:
        self._send(say.ReadMap(path))

    def write_map(self, path: str) -> None:
        values = self.weights.values.astype("<f4")
        self._send(say.WriteMap(path, values.shape[1], values.shape[0], values.tobytes()))

    def _note_paint(self) -> None:
        self._weights_are_new = True
        if self.focus.where == say.PAINTED and self.weights.is_plain:
            self.set_focus(say.EVERYWHERE)
            self.notices.tell(INFO, "Nothing is painted any more: every place is trained again.")

    def _send_weights(self) -> None:
        if self._client is None:
            return
        self._weights_are_new = False
        self._weights_sent = time.monotonic()
        if self.weights.is_plain:
            self._send(say.SetImportance())
        else:
            values = self.weights.values.astype("<f4")
            height, width = values.shape
            self._send(say.SetImportance(width, height, values.tobytes()))

    def _ask(self, action: str, command: say.Command) -> None:
        if self.can(action):
            self.asked = action
            self._send(command)
            self.state_changed.emit()

    def _drop_client(self) -> None:
        client, self._client = self._client, None
        if client is None:
            return
        if self.health.state == SILENT:
            client.kill()
        else:
            client.close()
