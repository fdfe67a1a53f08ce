"""What the panel knows and does, without a widget: the bake, the worker, the view, the paint.

`tick` is called a few times a second, by a timer or by a test; nothing here waits for anything.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from verdigris.core.errors import VerdigrisError
from verdigris.core.host import BakedResult, Host, HostDocument, HostMaterial
from verdigris.core.outputs import unused_names
from verdigris.core.worker import commands as say
from verdigris.core.worker.client import GONE, SILENT, WELL, Health, WorkerClient, pixels_of
from verdigris.core.worker.events import FAILED, IDLE, PREPARING
from verdigris.core.worker.forecast import estimate
from verdigris.core.worker.protocol import Message
from verdigris.ui import states
from verdigris.ui.bake_log import BakeLog
from verdigris.ui.choices import Choices
from verdigris.ui.notices import ERROR, INFO, WARNING, Notices, as_sentence
from verdigris.ui.pictures import Pictures, Texel
from verdigris.ui.scene_meshes import SceneMeshes
from verdigris.ui.scene_paint import ScenePaint
from verdigris.ui.signal import Signal
from verdigris.ui.weight_owners import WeightOwners
from verdigris.ui.weights import WeightMap

# Strokes are sent to the worker no more often than this.
_PAINT_INTERVAL = 0.25
_RESULT_FOLDER = "neural"


class PanelModel:
    """One panel's state. Signals say what changed; widgets read it from here."""

    def __init__(self, host: Host, make_client: Callable[[], WorkerClient] = WorkerClient) -> None:
        self.host = host
        self._make_client = make_client
        self._client: WorkerClient | None = None
        self._then: Callable[[], None] | None = None
        self._document: HostDocument | None = None
        self._weights_sent = 0.0
        self._weights_are_new = False
        self._ran = False
        self._is_behind = False
        self.state = IDLE
        self.doing = ""
        self.asked = ""
        self.health = Health(WELL)
        self.materials: tuple[HostMaterial, ...] = ()
        self.current: HostMaterial | None = None
        self.report: Mapping[str, Any] | None = None
        self.trainer = ""
        self.device = ""
        self.choices = Choices()
        self.bake = BakeLog()
        self.forecast: Mapping[str, Any] | None = None
        self.view = say.View()
        self.focus = say.Focus()
        self.pictures = Pictures()
        self.weights = WeightMap()
        self.notices = Notices()
        self.meshes = SceneMeshes(host, self.notices)
        self._paint = ScenePaint(host, self.weights, self.notices)
        self._owners = WeightOwners(host, self.weights, self.notices)

        self.state_changed = Signal()
        self.health_changed = Signal()
        self.materials_changed = Signal()
        self.report_changed = Signal()
        self.choices_changed = Signal()
        self.forecast_changed = Signal()
        self.view_changed = Signal()
        self.focus_changed = Signal()
        self.weights.changed.connect(self._note_paint)

    # what the artist does

    def refresh_materials(self) -> None:
        """Reads the scene's materials again; what is selected there is chosen here. What was wrong
        before is told again if it still is."""
        if not self.is_busy:
            self.notices.clear()
        try:
            self.materials = self.host.materials()
            selected = self.host.selected_materials()
            for warning in self.host.scene_warnings():
                self.notices.tell(WARNING, warning)
        except VerdigrisError as failure:
            self.materials = ()
            self.materials_changed.emit()
            self._take_error({"command": "" if self.is_busy else "open", "text": str(failure)})
            return
        self.materials_changed.emit()
        if self.current in self.materials:
            self._find_meshes()
            if not self.is_busy:
                self._forget()
                self._set_state(IDLE)
                self._open()
        elif not self.is_busy:
            first = next(iter((*selected, *self.materials)), None)
            if first is not None:
                self.choose(first)
            else:
                self.current = None
                self._find_meshes()
                self._forget()
                self._set_state(IDLE)

    def choose(self, material: HostMaterial) -> None:
        """Opens a material: its report and its reference picture come by themselves."""
        if self.is_busy:
            what = "Finish or cancel the bake before you choose another material."
            self.notices.tell(WARNING, what)
            return
        self.current = material
        self._forget()
        self._set_state(IDLE)
        self.materials_changed.emit()
        self._find_meshes()
        self._paint.take(material, is_asked=False)
        self._open()

    def _forget(self) -> None:
        """What is known of a material that is read anew; what is painted for it stays its own."""
        self._owners.hand_to(self.current, self.materials)
        self._then = None
        self._is_behind = True
        self.report = self.forecast = None
        self.pictures.clear()
        self.bake.clear()
        self.report_changed.emit()
        self.forecast_changed.emit()

    def _find_meshes(self) -> None:
        """The meshes that have the material. A view of one that has not shows another."""
        before = self.meshes.shown
        self.meshes.find(self.current)
        if before and self.view.mesh == before:
            names = self.meshes.names
            kept = before if before in names else next(iter(names), "")
            if not kept or not self.show_mesh(kept):
                self.look(shape="sphere", mesh="")

    def show_mesh(self, name: str) -> bool:
        """Shows the material on a mesh of the scene, as it is now; whether it can be."""
        given = self.meshes.give(name, self.current)
        if given is None:
            return False
        self._send(given)
        self.look(shape="mesh", mesh=name)
        return True

    def take_scene_paint(self) -> None:
        """Replaces the weights here by those that are painted on the material's meshes."""
        if self.current is not None:
            self._paint.take(self.current, is_asked=True)

    def start_selftest(self, report: str) -> None:
        """Tests the application in a process of its own."""
        try:
            self.host.start_selftest(Path(report))
        except VerdigrisError as failure:
            self.notices.tell(WARNING, str(failure))
        else:
            self.notices.tell(INFO, f"The self-test runs; its report will be {report}")

    def paint_in_scene(self) -> None:
        """Starts the application's own brush on the mesh that is shown, or on the first one."""
        if self.current is not None:
            self._paint.start_brush(self.current, self.view.mesh)

    def can(self, action: str) -> bool:
        """Whether an action makes sense now."""
        if self.asked or not states.allows(self.state, action):
            return False
        if action == states.START:
            is_fit = self.report is not None and not self.is_refused
            return is_fit and self.health.state != GONE
        if action == states.FINISH and not self.has_learnt:
            return False
        return self.health.state != GONE

    @property
    def has_learnt(self) -> bool:
        """Whether there is something that a result could hold: the worker refuses to keep less."""
        return self.bake.progress.step > 0

    @property
    def is_refused(self) -> bool:
        """Whether the material cannot be baked; its report says why."""
        return self.report is not None and bool(self.report.get("problem"))

    @property
    def is_busy(self) -> bool:
        return self.state in states.BUSY

    @property
    def can_recover(self) -> bool:
        """Whether a worker that is gone or silent can be replaced."""
        is_lost = self.health.state in (GONE, SILENT) or (self.state == FAILED and self._ran)
        return is_lost and self.current is not None

    def start(self) -> None:
        """Bakes the material as it is in the scene now: it is read again where it has changed."""
        if not self.can(states.START):
            return
        document = self._document_now()
        if document == self._document:
            self._owners.hand_to(self.current, self.materials)
            self._begin()
        elif document is not None:
            self._forget()
            self._then = self._begin
            self._read(document)

    def _begin(self) -> None:
        if not self.can(states.START):
            return
        self.bake.clear()
        self.pictures.clear_errors()
        self.notices.clear()
        self._send_weights()
        self._ran = True
        self._send(self.choices.start(str(self.result_folder()), self._result_name()))
        self._set_state(PREPARING)

    @property
    def can_forecast(self) -> bool:
        return self.can(states.START) and not self.doing

    def ask_forecast(self) -> None:
        """Should this be baked? The answer comes as a forecast."""
        if self.can_forecast:
            self._send(say.Forecast(self.choices.preset, self.choices.changes()))
            self.doing = "measuring what it would cost"
            self.state_changed.emit()

    def pause(self) -> None:
        self._ask(states.PAUSE, say.Pause())

    def resume(self) -> None:
        self._ask(states.RESUME, say.Resume())

    def finish(self) -> None:
        """Stop and keep."""
        self._ask(states.FINISH, say.Finish())

    def cancel(self) -> None:
        self._ask(states.CANCEL, say.Cancel())

    def recover(self) -> None:
        """Puts a new worker in the place of one that is gone or silent, and goes on."""
        if not self.can_recover:
            return
        goes_on = self._ran and self.state in (*states.BUSY, FAILED)
        self._drop_client()
        self.asked = ""
        self._set_health(Health(WELL))
        self._set_state(IDLE)
        if goes_on:
            self._then = self._start_again
        self._open()

    def set_choices(self, **values: Any) -> None:
        before, self.choices = self.choices, self.choices.with_values(values)
        self.choices_changed.emit()
        sizes = [(each.preset, each.changes()) for each in (before, self.choices)]
        if self.report and not self._is_behind and not self.is_busy and sizes[0] != sizes[1]:
            self._estimate()

    def _estimate(self) -> None:
        """What the result will weigh by the choices; what was measured was of others."""
        try:
            found = estimate(self.choices.settings(self.trainer or "numpy"))
        except VerdigrisError:
            self.forecast = None
        else:
            self.forecast = found.as_json()
        self.forecast_changed.emit()

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

    def texel_at(self, x: float, y: float) -> Texel | None:
        """Which texel is shown there, if the view is so near that texels are squares."""
        return self.pictures.texel_at(x, y, self.view.number)

    def read_map(self, path: str) -> None:
        self._send(say.ReadMap(path))

    def write_map(self, path: str) -> None:
        values = self.weights.values.astype("<f4")
        self._send(say.WriteMap(path, values.shape[1], values.shape[0], values.tobytes()))

    def close(self) -> None:
        """Ends the worker. Does not wait for it."""
        self._drop_client()

    def result_folder(self) -> Path:
        """Where a result goes now."""
        if self.choices.folder:
            return Path(self.choices.folder)
        scene = self.host.scene_file()
        return (scene.parent if scene else Path.home()) / _RESULT_FOLDER

    def _result_name(self) -> str:
        """The material's, or one beside it where another of the scene is called the same: neither
        is written over the other. As of a batch."""
        if self.current not in self.materials:
            return ""
        names = unused_names([material.name for material in self.materials])
        return names[self.materials.index(self.current)]

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
            self.host.attach(self.current, result)
        except VerdigrisError as failure:
            warnings.append(f"The result is written, and not noted in the scene: {failure}")
        # the last notice is the one that is seen
        told = (f"Written: {result.bundle}", *warnings, *map(as_sentence, hints))
        self.notices.tell(WARNING if warnings else INFO, "\n".join(told))

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

    # how it gets there

    def _document_now(self) -> HostDocument | None:
        """The material as the scene has it; None, once that is told, where it has none."""
        assert self.current is not None
        try:
            return self.host.document(self.current)
        except VerdigrisError as failure:
            self._take_error({"command": "open", "text": str(failure)})
            return None

    def _open(self) -> None:
        document = self._document_now()
        if document is not None:
            self._read(document)

    def _read(self, document: HostDocument) -> None:
        """Has the worker read it."""
        self._document = document
        if self._client is None:
            try:
                self._client = self._make_client()
            except VerdigrisError as failure:
                self._take_error({"command": "open", "text": str(failure)})
                return
        for note in document.notes:
            self.notices.tell(INFO, note)
        if self.meshes.given is not None:
            self._send(self.meshes.given)
        self._send(self.view)
        self._send(self.focus)
        self._send(
            say.Open(
                name=document.name,
                search=tuple(str(folder) for folder in document.search),
                material=document.material,
                payload=document.text.encode(),
            )
        )

    def _start_again(self) -> None:
        resuming, self.choices = self.choices, replace(self.choices, resume=True)
        self._begin()
        self.choices = resuming

    def _ask(self, action: str, command: say.Command) -> None:
        if self.can(action):
            self.asked = action
            self._send(command)
            self.state_changed.emit()

    def _send(self, command: say.Command) -> None:
        if self._client is not None:
            self._client.send(command)

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

    def _watch(self, health: Health) -> None:
        if health.state == GONE and self.is_busy:
            self.asked = ""
            self._set_state(FAILED)
        self._set_health(health)

    def _set_health(self, health: Health) -> None:
        if health != self.health:
            self.health = health
            self.health_changed.emit()
            self.state_changed.emit()

    def _set_state(self, state: str, doing: str = "") -> None:
        self.state, self.doing = state, doing
        self.state_changed.emit()

    def _drop_client(self) -> None:
        client, self._client = self._client, None
        if client is None:
            return
        if self.health.state == SILENT:
            client.kill()
        else:
            client.close()
