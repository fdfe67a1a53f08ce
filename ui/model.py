"""What the panel knows and does, without a widget: the bake, the worker, the view, the paint.

`tick` is called a few times a second, by a timer or by a test; nothing here waits for anything.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from verdigris.core.errors import HostError, VerdigrisError
from verdigris.core.host import NORMAL_WEIGHT, BakedResult, Host, HostDocument, HostMaterial
from verdigris.core.hosts.painted import Painted, read_painted
from verdigris.core.training.events import FLATTENING, SMALL_TEXTURE
from verdigris.core.worker import commands as say
from verdigris.core.worker.client import GONE, SILENT, WELL, Health, WorkerClient, pixels_of
from verdigris.core.worker.events import FAILED, IDLE, PREPARING
from verdigris.core.worker.protocol import LARGEST_PAYLOAD, Message
from verdigris.ui import states
from verdigris.ui.background import Background
from verdigris.ui.choices import Choices
from verdigris.ui.history import History
from verdigris.ui.signal import Signal
from verdigris.ui.weights import WeightMap

INFO, WARNING, ERROR = "info", "warning", "error"
# Strokes are sent to the worker no more often than this.
_PAINT_INTERVAL = 0.25
_RESULT_FOLDER = "neural"
# Phases whose loss is that of the texture which is shown.
_LEARNING = (SMALL_TEXTURE, "training")


@dataclass(frozen=True)
class Notice:
    """Something to tell the artist."""

    severity: str
    text: str


@dataclass(frozen=True)
class Part:
    """A part of a bake, by the steps that it is counted in."""

    name: str
    first: int
    last: int

    @property
    def steps(self) -> int:
        return max(0, self.last - self.first)


@dataclass(frozen=True)
class Progress:
    """How far a bake is."""

    phase: str = ""
    step: int = 0
    steps: int = 0
    seconds: float = 0.0
    seconds_left: float | None = None
    samples_per_second: float = 0.0
    plan: tuple[Part, ...] = ()

    @property
    def number(self) -> int | None:
        """Of the phase, from 1; None for one that has no steps of its own."""
        names = [part.name for part in self.plan]
        return names.index(self.phase) + 1 if self.phase in names else None

    @property
    def phase_share(self) -> float:
        """Of the phase alone."""
        if self.number is None:
            return 0.0
        part = self.plan[self.number - 1]
        return _limited((self.step - part.first) / part.steps) if part.steps else 1.0

    @property
    def share(self) -> float:
        """Of the whole bake. It never goes back when a phase begins."""
        total = sum(part.steps for part in self.plan)
        if self.number is None or not total:
            share = _limited(self.step / self.steps) if self.steps else 0.0
            # what is measured and written before it has no steps of its own
            after = sum(part.steps for part in self.plan if part.name == FLATTENING)
            return share * (1 - after / total) if total else share
        before = sum(part.steps for part in self.plan[: self.number - 1])
        return (before + self.phase_share * self.plan[self.number - 1].steps) / total


def _limited(share: float) -> float:
    return min(1.0, max(0.0, share))


@dataclass(frozen=True)
class Shown:
    """A picture and what is known about it."""

    pixels: Any
    view: int
    step: int
    sharp: float
    top: float


@dataclass(frozen=True)
class Texel:
    """One that is shown as a square, and the colours that it is shown in."""

    uv: tuple[float, float]
    """Of the place that is pointed at."""
    column: int
    row: int
    """From v = 0 upwards."""
    across: int
    """How many there are a side."""
    colours: Mapping[str, tuple[int, int, int]]
    """By picture: `reference`, and `neural` if there is one."""


class PanelModel:
    """One panel's state. Signals say what changed; widgets read it from here."""

    def __init__(self, host: Host, make_client: Callable[[], WorkerClient] = WorkerClient) -> None:
        self.host = host
        self._make_client = make_client
        self._client: WorkerClient | None = None
        self._worker_state = ""
        self._then: Callable[[], None] | None = None
        self._document: HostDocument | None = None
        self._warnings: list[str] = []
        self._weights_sent = 0.0
        self._weights_are_new = False
        self._ran = False
        self._paint_is_the_scenes = False
        self._background = Background()
        self._given: say.GiveMesh | None = None
        self.meshes: tuple[str, ...] = ()
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
        self.progress = Progress()
        self.history = History()
        self.errors: Mapping[str, float] = {}
        self.forecast: Mapping[str, Any] | None = None
        self.view = say.View()
        self.focus = say.Focus()
        self.pictures: dict[str, Shown] = {}
        self.error_map: Any = None
        self.places: Any = None
        self._places_view = self._texels = 0
        self.weights = WeightMap()
        self.notices: list[Notice] = []
        self.checkpoint_step: int | None = None
        self.result: Path | None = None
        self.stopped_by = ""

        self.state_changed = Signal()
        self.health_changed = Signal()
        self.materials_changed = Signal()
        self.report_changed = Signal()
        self.choices_changed = Signal()
        self.progress_changed = Signal()
        self.history_changed = Signal()
        self.errors_changed = Signal()
        self.forecast_changed = Signal()
        self.view_changed = Signal()
        self.meshes_changed = Signal()
        self.focus_changed = Signal()
        self.picture_changed = Signal()
        self.error_map_changed = Signal()
        self.noticed = Signal()
        self.weights.changed.connect(self._note_paint)

    # what the artist does

    def refresh_materials(self) -> None:
        """Reads the scene's materials again; what is selected there is chosen here."""
        try:
            self.materials = self.host.materials()
            selected = self.host.selected_materials()
            for warning in self.host.scene_warnings():
                self._notice(WARNING, warning)
        except VerdigrisError as failure:
            self.materials, selected = (), ()
            self._notice(ERROR, str(failure))
        self.materials_changed.emit()
        if self.current in self.materials:
            self._find_meshes()
            if not self.is_busy:
                self._forget()
                self._set_state(IDLE)
                self._open()
        if self.current not in self.materials and not self.is_busy:
            first = next(iter((*selected, *self.materials)), None)
            if first is not None:
                self.choose(first)

    def choose(self, material: HostMaterial) -> None:
        """Opens a material: its report and its reference picture come by themselves."""
        if self.is_busy:
            self._notice(WARNING, "Finish or cancel the bake before you choose another material.")
            return
        self.current = material
        self._forget()
        self._set_state(IDLE)
        self.materials_changed.emit()
        self._find_meshes()
        self._take_scene_paint(is_asked=False)
        self._open()

    def _forget(self) -> None:
        """What is known of a material that is read anew."""
        self._then = None
        self.report = self.forecast = self.error_map = self.result = None
        self.pictures.clear()
        self.history.clear()
        self.errors = {}
        self.progress = Progress()
        for signal in (self.report_changed, self.picture_changed, self.history_changed):
            signal.emit()
        self.progress_changed.emit()
        self.forecast_changed.emit()

    def _find_meshes(self) -> None:
        """The meshes that have the material. A view of one that has not shows another."""
        before = self._given.name if self._given else ""
        self._given = None
        try:
            self.meshes = self.host.meshes(self.current) if self.current else ()
        except VerdigrisError as failure:
            self.meshes = ()
            self._notice(WARNING, f"The material's meshes cannot be listed: {failure}")
        self.meshes_changed.emit()
        if before and self.view.mesh == before:
            kept = before if before in self.meshes else next(iter(self.meshes), "")
            if not kept or not self.show_mesh(kept):
                self.look(shape="sphere", mesh="")

    def show_mesh(self, name: str) -> bool:
        """Shows the material on a mesh of the scene, as it is now; whether it can be."""
        try:
            mesh = self.host.mesh(name, self.current)
        except VerdigrisError as failure:
            self._notice(WARNING, str(failure))
            return False
        parts = (mesh.position, mesh.normal, mesh.uv)
        count = len(mesh.position)
        if not 0 < say.BYTES_A_TRIANGLE * count <= LARGEST_PAYLOAD:
            most = LARGEST_PAYLOAD // say.BYTES_A_TRIANGLE
            what = f"{name}: has {count:,} triangles: show one with 1 to {most:,}"
            self._notice(WARNING, what)
            return False
        payload = b"".join(np.ascontiguousarray(part, "<f4").tobytes() for part in parts)
        self._given = say.GiveMesh(name, count, payload)
        self._send(self._given)
        for note in mesh.notes:
            self._notice(INFO, note[:1].upper() + note[1:])
        self.look(shape="mesh", mesh=name)
        return True

    def take_scene_paint(self) -> None:
        """Replaces the weights here by those that are painted on the material's meshes."""
        self._take_scene_paint(is_asked=True)

    def _take_scene_paint(self, is_asked: bool) -> None:
        """Reads the scene now, and makes a map of it on a thread of its own."""
        material = self.current
        if material is None:
            return
        try:
            found = read_painted(self.host, material)
        except VerdigrisError as failure:
            self._refuse_scene_paint(failure)
            return
        if found is None:
            self._show_scene_paint(None, is_asked)
            return

        def show(painted: Painted | None) -> None:
            if self.current == material:
                self._show_scene_paint(painted, is_asked)

        self._background.run(found.to_map, show, self._refuse_scene_paint)

    def _refuse_scene_paint(self, failure: VerdigrisError) -> None:
        self._notice(WARNING, f"The scene's painted weights cannot be used: {failure}")

    def _show_scene_paint(self, found: Painted | None, is_asked: bool) -> None:
        if found is not None:
            self.weights.replace(found.weights)
            for note in found.notes:
                self._notice(INFO, note[:1].upper() + note[1:])
        elif self._paint_is_the_scenes:
            self.weights.fill(NORMAL_WEIGHT)
        elif is_asked:
            self._notice(INFO, "Nothing is painted on the meshes of this material.")
        self._paint_is_the_scenes = found is not None

    def start_selftest(self, report: str) -> None:
        """Tests the application in a process of its own."""
        try:
            self.host.start_selftest(Path(report))
        except VerdigrisError as failure:
            self._notice(WARNING, str(failure))
        else:
            self._notice(INFO, f"The self-test runs; its report will be {report}")

    def paint_in_scene(self) -> None:
        """Starts the application's own brush on the mesh that is shown, or on the first one."""
        if self.current is None:
            return
        try:
            meshes = self.host.meshes(self.current)
            if not meshes:
                raise HostError(f"{self.current.name}: is on no mesh: assign or select one")
            self.host.start_painting(self.view.mesh if self.view.mesh in meshes else meshes[0])
        except VerdigrisError as failure:
            self._notice(WARNING, str(failure))

    def can(self, action: str) -> bool:
        """Whether an action makes sense now."""
        if self.asked or not states.allows(self.state, action):
            return False
        if action == states.START:
            report = self.report
            return report is not None and not report.get("problem") and self.health.state != GONE
        return self.health.state != GONE

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
            self._begin()
        elif document is not None:
            self._forget()
            self._then = self._begin
            self._read(document)

    def _begin(self) -> None:
        if not self.can(states.START):
            return
        self.history.clear()
        self.errors = {}
        self.progress = Progress()
        self.result = self.checkpoint_step = self.error_map = None
        self.notices.clear()
        self._warnings.clear()
        self.noticed.emit()
        self.history_changed.emit()
        self.progress_changed.emit()
        self._send_weights()
        self._ran = True
        self._send(self.choices.start(str(self.result_folder())))
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
        self.choices = self.choices.with_values(values)
        self.choices_changed.emit()

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
            self._notice(WARNING, "Paint something first: nothing is weighted above the rest.")
        else:
            self.focus = replace(self.focus, where=where)
            if where == say.PAINTED:
                # it needs the paint, which may not have been sent yet
                self._send_weights()
            self._send(self.focus)
        self.focus_changed.emit()

    def place_at(self, x: float, y: float) -> tuple[float, float] | None:
        """The uv of the surface at a place of the picture, 0 to 1 to the right and downwards."""
        if self.places is None or self.places.ndim != 3 or not (0 <= x < 1 and 0 <= y < 1):
            return None
        height, width = self.places.shape[:2]
        u, v = self.places[int(y * height), int(x * width)]
        return (float(u), float(v)) if np.isfinite(u) and np.isfinite(v) else None

    def texel_at(self, x: float, y: float) -> Texel | None:
        """Which texel is shown there, if the view is so near that texels are squares."""
        uv = self.place_at(x, y)
        if uv is None or not self._texels or self._places_view != self.view.number:
            return None
        column, row = (math.floor(each * self._texels) % self._texels for each in uv)
        colours = {}
        for part in ("reference", "neural"):
            shown = self.pictures.get(part)
            if shown is not None and shown.view == self.view.number:
                height, width = shown.pixels.shape[:2]
                red, green, blue = shown.pixels[int(y * height), int(x * width)]
                colours[part] = (int(red), int(green), int(blue))
        return Texel(uv, column, row, self._texels, colours)

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

    # what the worker says

    def tick(self) -> None:
        """Takes in what has come, and looks after the worker. Never waits."""
        self._background.poll()
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
            "started": self._take_started,
            "plan": self._take_plan,
            "errors": self._take_errors,
            "phase": self._take_phase,
            "step": self._take_step,
            "metrics": self._take_metrics,
            "checkpointed": self._take_checkpoint,
            "finished": self._take_finished,
            "warning": lambda said: self._warn(str(said.get("text", ""))),
            "error": self._take_error,
            "written": lambda said: self._notice(INFO, f"Written: {said.get('path', '')}"),
        }.get(str(header.get("event")))
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
        self.trainer, self.device = str(said.get("trainer", "")), str(said.get("device", ""))
        self.report_changed.emit()
        self._set_state(self.state)
        then, self._then = self._then, None
        if then is not None and said.get("chosen"):
            then()
        elif then is not None and self.report is not None:
            self._notice(ERROR, str(self.report.get("problem", "")))

    def _take_forecast(self, said: Mapping[str, Any]) -> None:
        self.forecast = said
        self.forecast_changed.emit()

    def _take_started(self, said: Mapping[str, Any]) -> None:
        self.progress = Progress("starting", said.get("step", 0), said.get("steps", 0))
        self.progress_changed.emit()

    def _take_plan(self, said: Mapping[str, Any]) -> None:
        parts = [each for each in said.get("parts", ()) if isinstance(each, dict)]
        plan = tuple(Part(each["name"], each["first"], each["last"]) for each in parts)
        self.progress = replace(self.progress, plan=plan)
        self.progress_changed.emit()

    def _take_errors(self, said: Mapping[str, Any]) -> None:
        figures = {name: said.get(name) for name in ("log_mae", "relative_l1", "smape")}
        self.errors = {**self.errors, **figures}
        self.errors_changed.emit()

    def _take_phase(self, said: Mapping[str, Any]) -> None:
        phase = str(said.get("name", ""))
        # a start that is tried has a schedule of its own
        left = None if phase not in _LEARNING else self.progress.seconds_left
        self.progress = replace(self.progress, phase=phase, seconds_left=left)
        self.progress_changed.emit()

    def _take_step(self, said: Mapping[str, Any]) -> None:
        self.progress = Progress(
            self.progress.phase,
            said.get("step", 0),
            said.get("steps", 0),
            said.get("seconds", 0.0),
            said.get("seconds_left"),
            said.get("samples_per_second") or 0.0,
            self.progress.plan,
        )
        if self.progress.phase in _LEARNING:
            self.history.add_loss(self.progress.step, said.get("loss"))
            self.history_changed.emit()
        self.progress_changed.emit()

    def _take_metrics(self, said: Mapping[str, Any]) -> None:
        samples = said.get("samples") or ()
        if samples:
            self.errors = {**self.errors, **samples[0]}
            self.history.add_error(said.get("step", 0), samples[0].get("log_mae"))
            self.history_changed.emit()

    def _take_checkpoint(self, said: Mapping[str, Any]) -> None:
        self.checkpoint_step = int(said.get("step", 0))

    def _take_finished(self, said: Mapping[str, Any]) -> None:
        self._take_metrics(said)
        pictures = said.get("pictures") or ()
        if pictures:
            self.errors = {**self.errors, **pictures[0]}
            self.history_changed.emit()
        self.progress = replace(self.progress, step=said.get("step", 0), seconds_left=0.0)
        self.progress_changed.emit()
        self.stopped_by = str(said.get("stopped_by", ""))
        results = said.get("results") or ()
        if results:
            self.result = Path(str(results[0]))
            textures = next(iter(said.get("textures") or ()), {})
            self._attach(
                BakedResult(self.result, {name: Path(file) for name, file in textures.items()})
            )

    def _attach(self, result: BakedResult) -> None:
        """The only thing that changes the scene: one step of undo there."""
        if self.current is None:
            return
        try:
            self.host.attach(self.current, result)
        except VerdigrisError as failure:
            self._warn(f"The result is written, and not noted in the scene: {failure}")
        written = f"Written: {result.bundle}"
        if self._warnings:
            # the last notice is the one that is seen
            self._notice(WARNING, "\n".join((written, *self._warnings)))
        else:
            self._notice(INFO, written)

    def _warn(self, text: str) -> None:
        self._warnings.append(text)
        self._notice(WARNING, text)

    def _take_error(self, said: Mapping[str, Any]) -> None:
        if self.asked:
            # what was refused can be asked again
            self.asked = ""
            self.state_changed.emit()
        if said.get("command") == "open" and self.current is not None:
            self.report = {"name": self.current.name, "problem": said.get("text", ""), "parts": ()}
            self.report_changed.emit()
            self._then = None
        if said.get("command") == "start" and self.state == PREPARING:
            self._ran = self.progress.steps > 0
            self._set_state(FAILED)
        self._notice(ERROR, str(said.get("text", "")))

    def _take_pixels(self, header: Mapping[str, Any], pixels: Any) -> None:
        event = header.get("event")
        if event == "picture" and pixels.ndim == 3:
            part = str(header.get("part"))
            self.pictures[part] = Shown(
                pixels,
                int(header.get("view", 0)),
                int(header.get("step", 0)),
                float(header.get("sharp", 1.0)),
                float(header.get("top", 0.0)),
            )
            self.picture_changed.emit()
        elif event == "errormap":
            self.error_map = pixels
            self.error_map_changed.emit()
        elif event == "places":
            self.places = pixels
            self._places_view = int(header.get("view", 0))
            self._texels = int(header.get("texels", 0))
            self.picture_changed.emit()
        elif event == "importance":
            self.weights.replace(np.array(pixels, np.float32))

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
            self._notice(INFO, note)
        if self._given is not None:
            self._send(self._given)
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
            self._notice(INFO, "Nothing is painted any more: every place is trained again.")

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

    def _notice(self, severity: str, text: str) -> None:
        notice = Notice(severity, text)
        if notice not in self.notices[-3:]:
            self.notices.append(notice)
        self.noticed.emit()

    def _drop_client(self) -> None:
        client, self._client = self._client, None
        if client is None:
            return
        if self.health.state == SILENT:
            client.kill()
        else:
            client.close()
