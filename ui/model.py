"""What the artist does in the panel, without a widget: choosing, baking, painting, looking."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.text import unused_names
from verdigris.core.hosts.host import HostDocument, HostMaterial
from verdigris.core.worker.client.client import WELL, Health
from verdigris.core.worker.protocol import commands as say
from verdigris.core.worker.protocol.worker_events import FAILED, IDLE, PREPARING
from verdigris.ui import states
from verdigris.ui.notices import INFO, WARNING
from verdigris.ui.pictures import Texel
from verdigris.ui.worker_talk import WorkerTalk

_RESULT_FOLDER = "neural"


class PanelModel(WorkerTalk):
    """All that widgets bind to."""

    def refresh_materials(self) -> None:
        """Reads the scene's materials again; what is selected there is chosen here. What was wrong
        before is told again if it still is."""
        if not self.is_busy:
            self.notices.clear()
        try:
            self._read_materials()
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
        elif self.is_busy and self.current is not None:
            what = (
                f"{self.current.name}: is not in the scene any more: it is baked as it was, and "
                "its result will be written, but not noted in the scene."
            )
            self.notices.tell(WARNING, what)
        else:
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

    def paint_in_scene(self) -> None:
        """Starts the application's own brush on the mesh that is shown, or on the first one."""
        if self.current is not None:
            self._paint.start_brush(self.current, self.view.mesh)

    def start_selftest(self, report: str) -> None:
        """Tests the application in a process of its own."""
        try:
            self.host.start_selftest(Path(report))
        except VerdigrisError as failure:
            self.notices.tell(WARNING, str(failure))
        else:
            self.notices.tell(INFO, f"The self-test runs; its report will be {report}")

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

    def _start_again(self) -> None:
        resuming, self.choices = self.choices, replace(self.choices, resume=True)
        self._begin()
        self.choices = resuming

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

    def texel_at(self, x: float, y: float) -> Texel | None:
        """Which texel is shown there, if the view is so near that texels are squares."""
        return self.pictures.texel_at(x, y, self.view.number)

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
