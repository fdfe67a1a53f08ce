"""The actions of the panel: choose a material, bake it, paint, change the view. Without Qt."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.process.worker_environment import (
    NoWorkerError,
    WorkerEnvironmentError,
    read_setting,
    store_setting,
)
from verdigris.core.base.text import unused_names
from verdigris.core.bundle.history import Version
from verdigris.core.hosts.host import HostDocument, HostMaterial, ShowsRungs, log_beside
from verdigris.core.material.files.missing_files import find_folders
from verdigris.core.settings.changes import changes_to
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.worker_events import FAILED, IDLE, PREPARING, REFINING
from verdigris.ui.model import states
from verdigris.ui.model.parts.worker_pictures import Texel
from verdigris.ui.model.worker_link import WorkerLink
from verdigris.ui.signals.notices import INFO, WARNING

RESULT_FOLDER = "neural"
# The setting of the machine: names of applications in which the self-test was offered.
_OFFERED_IN = "selftest_offered_in"


class PanelModel(WorkerLink):
    """The object that all widgets bind to."""

    wants_report_picture = False
    """Whether the next bakes write large pictures for a report."""

    def refresh_materials(self) -> None:
        """Reads the materials of the scene again. Without a choice, the one that is selected in
        the scene is chosen, or the first."""
        if not self.is_busy:
            self.notices.clear()
        try:
            self._read_materials()
            selected = self.host.selected_materials()
            for warning in self.host.scene_warnings():
                self.notices.add(WARNING, warning)
        except VerdigrisError as failure:
            self.materials = ()
            self.materials_changed.emit()
            self._handle_error({"command": "" if self.is_busy else "open", "text": str(failure)})
            return
        self.materials_changed.emit()
        if self.current in self.materials:
            self._find_meshes()
            if not self.is_busy:
                self._clear_material()
                self._set_state(IDLE)
                self._open()
        elif self.is_busy and self.current is not None:
            text = (
                f"{self.current.name} is no longer in the scene. The bake continues and its "
                "result is written, but it is not noted in the scene."
            )
            self.notices.add(WARNING, text)
        else:
            first = next(iter((*selected, *self.materials)), None)
            if first is not None:
                self.choose(first)
            else:
                self.current = None
                self._find_meshes()
                self._clear_material()
                self._set_state(IDLE)

    def choose(self, material: HostMaterial) -> None:
        """Opens a material. The worker sends its report and a picture."""
        if self.is_busy:
            text = "Finish or cancel the bake before you choose another material."
            self.notices.add(WARNING, text)
            return
        self.current = material
        self._clear_material()
        self._set_state(IDLE)
        self.materials_changed.emit()
        self._find_meshes()
        self._paint.read(material, is_requested=False)
        self._open()

    def search_missing_folders(self) -> None:
        """Adds the folders of missing images to the search path, and opens the material again."""
        self.search_in(*self.missing_folders)

    def search_in(self, *folders: str) -> None:
        """Adds folders to the search path, and opens the material again."""
        if self.is_busy or not folders:
            return
        self.search_folders = tuple(dict.fromkeys((*self.search_folders, *folders)))
        self._clear_material()
        self._set_state(IDLE)
        self._open()

    def show_version(self, version: Version, against: Version | None = None) -> None:
        """Shows a version in place of the bake, or in comparison with another one. Its live inputs
        become those of the material, so that both sides of the picture move."""
        if self.is_busy:
            return
        if version.live and version.live not in (self.choices.live, self.live.requests):
            self.set_choices(live=version.live)
            self._open_living()
        other = str(against.folder) if against else ""
        self._send(commands.Show(str(version.folder), other))

    def continue_interrupted(self) -> None:
        """Continues an interrupted bake with the settings that it was begun with."""
        found = self.history.interrupted
        if found is None or not self.can(states.START):
            return
        if found.live not in (self.choices.live, self.live.requests):
            self.set_choices(live=found.live)
        if self._live_changed:
            self._open_living(self.continue_interrupted)
            return
        before = self.choices
        self.choices = replace(
            before, preset=found.preset, resume=True, time_limit=found.time_limit
        )
        self._begin(found.settings)
        self.choices = before

    def _read_history(self) -> None:
        self.history.open(self.result_folder(), self._result_name())
        name = self._result_name() or "material"
        self.ladder.open(self.result_folder() / f"{name}_ladder")

    @property
    def can_bake_ladder(self) -> bool:
        """Whether a material, a mesh and a rung are chosen, and no ladder is being fitted."""
        chosen = self.ladder.choices
        is_chosen = bool(self.current and chosen.mesh and chosen.rungs)
        return is_chosen and not self.ladder.is_running and not self.is_refused

    def attach_ladder(self) -> None:
        """Makes levels of detail of the rungs in the scene, if the host can, and notes the bundle
        and the glTF textures."""
        result = self.ladder.result
        if self.current is None or result is None:
            return
        try:
            if isinstance(self.host, ShowsRungs):
                look = self.ladder.look
                if not look.rungs:
                    self.notices.add(WARNING, "No baked rung is chosen: tick one, or bake it first")
                    return
                self.notices.add(INFO, self.host.attach_rungs(self.current, look))
                return
            self._attach_to(self.current, result)
        except VerdigrisError as failure:
            self.notices.add(WARNING, f"The ladder is not noted in the scene: {failure}")
        else:
            names = ", ".join(path.name for path in (result.bundle, *result.textures.values()))
            self.notices.add(INFO, f"Noted in the scene: {names}")

    def bake_ladder(self) -> None:
        """Fits the chosen rungs on the chosen mesh."""
        document = self._read_document() if self.can_bake_ladder else None
        if document is None:
            return
        name = self.ladder.choices.mesh
        mesh = self.meshes.load(name, self.current) if name in self.meshes.names else None
        if name in self.meshes.names and mesh is None:
            return
        self.ladder.start(document, self.search_folders, self.view, self.choices.preset, mesh)

    def locate(self, folder: str) -> None:
        """Searches missing images in a folder and the folders in it."""
        textures = (self.report or {}).get("textures", ())
        names = [str(each.get("file", "")) for each in textures if each.get("is_missing")]
        found = find_folders(Path(folder), names)
        if found:
            self.search_in(*map(str, found))
        else:
            self.notices.add(WARNING, f"{folder}: has none of the missing textures")

    def _clear_material(self) -> None:
        """Drops the report, the pictures and the bake of a material, but not its weights."""
        self._owners.switch_to(self.current, self.materials)
        self._recall_live()
        self._after_open, self._live_changed = None, 0.0
        self._is_outdated = True
        self.report = self.forecast = None
        self.pictures.clear()
        self.bake.clear()
        self._read_history()
        self.report_changed.emit()
        self.forecast_changed.emit()

    def _find_meshes(self) -> None:
        """Lists the meshes of the material. A mesh without it is replaced in the view."""
        before = self.meshes.loaded_name
        self.meshes.find(self.current)
        if before and self.view.mesh == before:
            names = self.meshes.names
            name = before if before in names else next(iter(names), "")
            if not name or not self.show_mesh(name):
                self.set_view(shape="sphere", mesh="")

    def show_mesh(self, name: str) -> bool:
        """Shows the material on a mesh of the scene. Returns whether that is possible."""
        loaded = self.meshes.load(name, self.current)
        if loaded is None:
            return False
        self._send(loaded)
        self.set_view(shape="mesh", mesh=name)
        return True

    def take_scene_paint(self) -> None:
        """Replaces the weights by those that are painted on the material's meshes."""
        if self.current is not None:
            self._paint.read(self.current, is_requested=True)

    def paint_in_scene(self) -> None:
        """Starts the application's own brush on the mesh in the view, or on the first one."""
        if self.current is not None:
            self._paint.start_brush(self.current, self.view.mesh)

    def claim_selftest_offer(self) -> bool:
        """Whether to offer the self-test: once on a machine, in each version of an application."""
        # for plain files there is no application to test
        if not self.host.can_paint:
            return False
        try:
            offered = read_setting(_OFFERED_IN)
            names = offered if isinstance(offered, list) else []
            if self.host.name in names:
                return False
            store_setting(_OFFERED_IN, [*names, self.host.name])
        except VerdigrisError:
            # an offer that cannot be remembered would come each time
            return False
        return True

    def default_report(self) -> Path:
        """The file for the report of a self-test without a choice."""
        application = self.host.name.split()[0].lower()
        return Path.home() / f"verdigris_selftest_{application}.json"

    def stop_painting_in_scene(self) -> None:
        """Ends the application's own brush, and reads what was painted."""
        self._paint.stop_brush()
        self.take_scene_paint()

    def start_selftest(self, report: str) -> None:
        """Starts a test of the application in another process."""
        try:
            self.host.start_selftest(Path(report))
        except VerdigrisError as failure:
            self.notices.add(WARNING, str(failure))
        else:
            log = log_beside(Path(report))
            text = f"The self-test is running. Its output goes to {log}, its report to {report}."
            self.notices.add(INFO, text)

    def start(self) -> None:
        """Starts a bake. A material that has changed in the scene is read again first."""
        if not self.can(states.START):
            return
        document = self._read_document()
        if document == self._document and self._live_changed:
            self._open_living(self._begin)
        elif document == self._document:
            self._owners.switch_to(self.current, self.materials)
            self._begin()
        elif document is not None:
            self._clear_material()
            self._after_open = self._begin
            self._send_document(document)

    def _begin(self, settings: Mapping[str, Any] | None = None) -> None:
        """Sends the start. `settings` are those of an interrupted bake."""
        if not self.can(states.START):
            return
        self.bake.clear()
        self.pictures.clear_errors()
        self.notices.clear()
        if not self.choices.folder and self.host.scene_file() is None:
            text = (
                f"The scene was never saved, so the result goes to {self.result_folder()}. Save "
                "the scene, or choose a folder, to have it elsewhere."
            )
            self.notices.add(WARNING, text, names_folder=True)
        self._send_weights()
        self._has_run, self._is_attached = True, False
        self._awaits_start = self.state == REFINING
        self.history.set_shown("")
        request = self.choices.request()
        if settings is not None:
            request = replace(request, changes=changes_to(settings))
        self._started, self.took = self.choices, 0.0
        self.effects.found = None
        self.predicted = self.predict(self.choices) if settings is None else None
        is_resumed = self.choices.resume
        self.time_left.start(None if is_resumed else self.predicted, is_resumed)
        self.bake_clock.start()
        self._send(
            commands.Start(
                str(self.result_folder()), self._result_name(), request, self.wants_report_picture
            )
        )
        self._set_state(PREPARING)

    def _begin_from_checkpoint(self) -> None:
        before, self.choices = self.choices, replace(self.choices, resume=True)
        self._begin()
        self.choices = before

    def request_forecast(self) -> None:
        """Measures the cost of the material, baked and not. The worker answers with an event."""
        if self.can_forecast:
            self._send(commands.Forecast(self.choices.request()))
            self.doing = "measuring the cost"
            self.state_changed.emit()

    def pause(self) -> None:
        self._request(states.PAUSE, commands.Pause())

    def resume(self) -> None:
        self._request(states.RESUME, commands.Resume())

    def finish(self) -> None:
        """Ends the training and keeps the result."""
        self._request(states.FINISH, commands.Finish())

    def cancel(self) -> None:
        self._request(states.CANCEL, commands.Cancel())

    def recover(self) -> None:
        """Replaces a worker that is gone or silent. A bake continues from its checkpoint."""
        if not self.can_recover:
            return
        continues = self._has_run and self.state in (*states.BUSY, FAILED)
        if continues:
            self._after_open = self._begin_from_checkpoint
        self._replace_client()

    def set_choices(self, **values: Any) -> None:
        """Changes some of the choices."""
        before, self.choices = self.choices, self.choices.with_values(values)
        if before.folder != self.choices.folder:
            self._read_history()
        if before.live != self.choices.live:
            self._note_live()
        self.choices_changed.emit()
        sizes = [(each.preset, each.changes()) for each in (before, self.choices)]
        if self.report and not self._is_outdated and not self.is_busy and sizes[0] != sizes[1]:
            self._estimate()

    def _identity(self) -> str:
        """That of the chosen material; empty without one."""
        if self.current is None:
            return ""
        try:
            return self.host.identity(self.current)
        except VerdigrisError:
            return ""

    def _recall_live(self) -> None:
        """Takes the live inputs that were chosen for this material before."""
        self.live.clear()
        self.set_choices(live=self.living.get(self._identity(), ()))

    def _note_live(self) -> None:
        """Keeps the choice for this material, and opens it so a moment later."""
        identity, live = self._identity(), self.choices.live
        if identity:
            self.living.pop(identity, None)
            if live:
                self.living[identity] = live
        is_known = self._document is None or live == self._sent_live
        self._live_changed = 0.0 if is_known else time.monotonic()

    def _open_living(self, after: Callable[[], None] | None = None) -> None:
        """Opens the same document with the live inputs that are chosen now."""
        self._live_changed = 0.0
        if self._document is None or self.current is None:
            return
        shown = self.history.find(self.history.shown[0])
        bundle = shown.folder if shown is not None else None
        if bundle is None and self.bake.result is not None:
            bundle = self.bake.result.bundle
        if after is None and bundle is not None:
            # the neural side stays in sight
            after = partial(self._send, commands.Show(str(bundle)))
        self.pictures.drop_neural()
        self._after_open = after
        self._send_document(self._document, is_again=True)

    def texel_at(self, x: float, y: float) -> Texel | None:
        """The texel at a point of the view. None unless texels are drawn as squares."""
        return self.pictures.texel_at(x, y, self.view.number)

    def close(self) -> None:
        """Ends the worker and a set-up, and does not wait for them."""
        self.set_up.cancel()
        self.ladder.close()
        self._drop_client()

    def result_folder(self) -> Path:
        """The folder that a result is written to."""
        if self.choices.folder:
            return Path(self.choices.folder)
        scene = self.host.scene_file()
        return (scene.parent if scene else Path.home()) / RESULT_FOLDER

    def _result_name(self) -> str:
        """The name of the result, as a batch would choose it. Materials of the same name get
        numbers, so that none replaces another's result."""
        if self.current not in self.materials:
            return ""
        names = unused_names([material.name for material in self.materials])
        return names[self.materials.index(self.current)]

    def _read_document(self) -> HostDocument | None:
        """Reads the material from the scene. Returns None and reports an error if that fails."""
        assert self.current is not None
        try:
            return self.host.document(self.current)
        except VerdigrisError as failure:
            self._handle_error({"command": "open", "text": str(failure)})
            return None

    def _open(self) -> None:
        document = self._read_document()
        if document is not None:
            self._send_document(document)

    def _send_document(self, document: HostDocument, is_again: bool = False) -> None:
        """Sends a document to the worker, which is started if there is none."""
        self._document, self._sent_live = document, self.choices.live
        self._live_changed = 0.0
        if self._client is None:
            try:
                self._client = self._make_client()
            except VerdigrisError as failure:
                is_unset = isinstance(failure, WorkerEnvironmentError) and self.set_up.offer()
                # the offer has the remedy, unless a setting names a wrong file
                is_offered = is_unset and isinstance(failure, NoWorkerError)
                text = str(failure)
                self._handle_error({"command": "open", "text": text, "is_offered": is_offered})
                return
        for note in () if is_again else document.notes:
            self.notices.add(INFO, note)
        if self.meshes.loaded is not None:
            self._send(self.meshes.loaded)
        self._send(self.view)
        self._send(self.focus)
        self._send(commands.Open.of(document, self.search_folders, self.choices.live))
