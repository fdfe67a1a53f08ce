"""The actions of the panel: choose a material, bake it, paint, change the view. Without Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.text import format_share
from verdigris.core.bundle.history import Version
from verdigris.core.hosts.guarded_host import GuardedHost
from verdigris.core.hosts.host import Host, HostMaterial
from verdigris.core.worker.client.client import WELL, WorkerClient
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.worker_events import FAILED, IDLE
from verdigris.ui.model import states
from verdigris.ui.model.choices_undo import ChoicesUndo
from verdigris.ui.model.event_handler import EventHandler
from verdigris.ui.model.ladder_work import LadderWork
from verdigris.ui.model.open_document import OpenDocument
from verdigris.ui.model.panel_state import PanelState
from verdigris.ui.model.parts.selftest import Selftest
from verdigris.ui.model.parts.worker_set_up import WorkerSetUp
from verdigris.ui.model.scene import Scene
from verdigris.ui.model.trouble import Trouble
from verdigris.ui.model.view_sync import ViewSync
from verdigris.ui.model.worker_link import WorkerLink
from verdigris.ui.signals import ERROR, INFO, WARNING


class PanelModel:
    """The object that all widgets bind to. They show its `state` and what its `link` does, and call
    its methods. Call `tick` a few times a second. No method waits."""

    wants_report_picture = False
    """Whether the next bakes write large pictures for a report."""

    def __init__(self, host: Host, make_client: Callable[[], WorkerClient] = WorkerClient) -> None:
        self.host = GuardedHost(host, lambda failure: self.state.note_failure(failure))
        self.state = PanelState(self.host)
        self.link = WorkerLink(make_client)
        self.scene = Scene(self.host, self.state)
        self.selftest = Selftest(self.host, self.state.notices)
        self.trouble = Trouble(self.host, self.state, self.link, self.selftest)
        self.set_up = WorkerSetUp()
        self.set_up.finished.connect(self._handle_set_up)
        self._sync = ViewSync(self.state, self.link)
        self._events = EventHandler(self.state, self.link, self.scene, self._sync)
        self.documents = OpenDocument(
            self.state, self.link, self.scene, self._sync, self._events, self.set_up,
            self._clear_material,
        )  # fmt: skip
        self.ladder = LadderWork(self.state, self.scene, make_client, self.documents.read)
        self.choices_undo = ChoicesUndo(self.state, self.link, self.set_choices)

    def tick(self) -> None:
        """Handles new messages, checks the worker, and sends what has changed."""
        self.scene.paint.poll()
        self.scene.kept.poll()
        self.state.changes.poll()
        if not self.link.is_busy:
            self.state.changes.follow(self.scene.document)
        self.set_up.poll()
        self.ladder.poll()
        with self.state.pictures.held():
            for message in self.link.poll():
                self._events.handle(message)
        health = self.link.watch()
        if health is None:
            return
        if health.is_unfit:
            self.set_up.offer()
        elif health.state == WELL:
            self.set_up.hide()
        self.documents.follow()
        self._sync.follow()

    def close(self) -> None:
        """Writes painted weights. Ends the worker and a set-up, and does not wait for them."""
        self.scene.kept.flush()
        self.set_up.cancel()
        self.ladder.close()
        self.link.drop()

    def can(self, action: str) -> bool:
        """Whether an action is possible now."""
        if not self.link.allows(action):
            return False
        if action == states.START:
            is_free = self.state.report is not None and not self.ladder.is_running
            return is_free and not self.state.is_refused
        return action != states.FINISH or self.state.has_trained

    # materials

    def refresh_materials(self) -> None:
        """Reads the materials of the scene again. Without a choice, the one that is selected in
        the scene is chosen, or the first."""
        state = self.state
        if not self.link.is_busy:
            state.notices.clear()
            state.note_failure(None)
        try:
            self.scene.read_materials()
        except VerdigrisError as failure:
            state.materials = ()
            state.materials_changed.emit()
            command = "" if self.link.is_busy else "open"
            self._events.handle_error({"command": command, "text": str(failure)})
            return
        selected = self.scene.read_selected()
        state.materials_changed.emit()
        if state.current in state.materials and not (self.link.is_busy and self.scene.is_left):
            self._find_meshes()
            if not self.link.is_busy:
                self._clear_material()
                self.documents.open()
        elif self.link.is_busy and state.current is not None:
            text = (
                f"{state.current.name} is no longer in the scene. The bake continues and its "
                "result is written, but it is not noted in the scene."
            )
            state.notices.add(WARNING, text)
        else:
            readable = (each for each in (*selected, *state.materials) if not each.problem)
            first = next(readable, next(iter(state.materials), None))
            if first is not None:
                self.choose(first)
            else:
                state.current = None
                self._find_meshes()
                self._clear_material()

    def bake_again(self) -> None:
        """Bakes a material that has changed since its bake, with the same preset."""
        version = self.state.history.present
        if version is not None and version.preset and self.can(states.START):
            self.set_choices(preset=version.preset)
        self.start()

    def follow_scene(self) -> None:
        """Another scene is open. Lists its materials and reads none, which could take long."""
        if self.link.is_busy:
            self.refresh_materials()
            return
        state = self.state
        state.notices.clear()
        state.note_failure(None)
        state.current = state.document = None
        state.changes.forget()
        try:
            self.scene.read_materials()
        except VerdigrisError as failure:
            state.materials = ()
            state.notices.add(WARNING, str(failure))
        self._find_meshes()
        self._clear_material()
        state.materials_changed.emit()

    def describe_leaving(self) -> str:
        """The question before another scene is opened during a bake."""
        name = self.state.current.name if self.state.current else "a material"
        share = format_share(self.state.bake.progress.share)
        return (
            f"The bake of {name} is at {share}. It goes on without this scene, and writes its "
            f"result to {self.scene.result_folder}. The result is then not noted in this scene."
        )

    def choose(self, material: HostMaterial) -> None:
        """Opens a material. The worker sends its report and a picture."""
        state = self.state
        if self.link.is_busy:
            text = "Finish or cancel the bake before you choose another material."
            state.notices.add(WARNING, text)
            return
        state.current = material
        self._clear_material()
        state.materials_changed.emit()
        self._find_meshes()
        self.scene.paint.read(material, is_requested=False)
        self.documents.open()

    def search_missing_folders(self) -> None:
        """Adds the folders of missing images to the search path, and opens the material again."""
        self.search_in(*self.state.missing_folders)

    def search_in(self, *folders: str) -> None:
        """Adds folders to the search path, and opens the material again."""
        if self.link.is_busy or not folders:
            return
        self.state.search_folders = tuple(dict.fromkeys((*self.state.search_folders, *folders)))
        self._clear_material()
        self.documents.open()

    def locate(self, folder: str) -> None:
        """Searches missing images in a folder and the folders in it."""
        folders = self.scene.find_textures(Path(folder))
        if folders:
            self.search_in(*folders)
        else:
            self.state.notices.add(WARNING, f"{folder}: contains none of the missing textures")

    def _clear_material(self) -> None:
        """Drops the report, the pictures and the bake of a material, but not its weights."""
        self._forget_material()
        self.link.set_state(IDLE)

    def _forget_material(self) -> None:
        state = self.state
        self.scene.own_weights()
        self._recall_live()
        self.documents.forget()
        state.is_outdated = True
        state.report = state.forecast = None
        state.pictures.clear()
        state.film.clear()
        state.bake.clear()
        self._read_history()
        state.report_changed.emit()
        state.forecast_changed.emit()

    def _find_meshes(self) -> None:
        """Lists the meshes of the material. A mesh that does not have the material is replaced in
        the view."""
        meshes = self.state.meshes
        before = meshes.loaded_name
        meshes.find(self.state.current)
        if before and self.state.view.mesh == before:
            name = before if before in meshes.names else next(iter(meshes.names), "")
            if not name or not self.show_mesh(name):
                self.set_view(shape="sphere", mesh="")

    # the worker

    def recover(self) -> None:
        """Replaces a worker that is gone or silent. A bake continues from its checkpoint."""
        if not self.can_recover:
            return
        continues = self.state.has_run and self.link.state in (*states.BUSY, FAILED)
        if continues:
            self._replace_worker(self._begin_from_checkpoint)
        else:
            self._replace_worker()

    @property
    def can_recover(self) -> bool:
        """Whether the worker is lost and can be replaced."""
        is_failed = self.link.state == FAILED and self.state.has_run
        return (self.link.is_lost or is_failed) and self.state.current is not None

    def _handle_set_up(self) -> None:
        """Opens the chosen material with the worker that was set up."""
        self.state.notices.add(INFO, "The worker is set up.")
        self._replace_worker()

    def _replace_worker(self, after: Callable[[], None] | None = None) -> None:
        self.link.reset()
        self.state.game.forget()
        if self.state.current is not None:
            self.documents.open(after)

    def rest(self) -> None:
        """Ends a worker that has no work, and frees its memory. `wake` starts another one."""
        is_free = self.link.is_free and not self.link.doing and not self.state.game.clients
        if self.link.is_running and is_free:
            self.link.reset()
            self.state.game.forget()

    def wake(self) -> None:
        """Opens the document again in a new worker, after a rest."""
        if not self.link.is_running and self.state.document is not None and self.link.is_free:
            self.documents.open_again()

    # baking

    def set_choices(self, **values: Any) -> None:
        """Changes some of the choices."""
        state = self.state
        before, state.choices = state.choices, state.choices.with_values(values)
        if before.folder != state.choices.folder:
            self._read_history()
        if before.live != state.choices.live:
            self._note_live()
        state.choices_changed.emit()
        sizes = [(each.preset, each.request.changes) for each in (before, state.choices)]
        is_open = state.report and not state.is_outdated and not self.link.is_busy
        if is_open and sizes[0] != sizes[1]:
            self._events.estimate()

    def start(self) -> None:
        """Starts a bake. A material that has changed in the scene is read again first."""
        if not self.can(states.START):
            return
        document = self.documents.read()
        if document == self.state.document and self.documents.is_living:
            self.documents.open_again(self._begin)
        elif document == self.state.document:
            self.scene.own_weights()
            self._begin()
        elif document is not None:
            self._forget_material()
            self.documents.send(document, self._begin)

    def _begin(self, settings: Mapping[str, Any] | None = None) -> None:
        """Sends the start. `settings` are those of an interrupted bake."""
        if not self.can(states.START):
            return
        state, scene = self.state, self.scene
        state.bake.clear()
        state.film.clear()
        state.pictures.clear_errors()
        state.pictures.drop_neural()
        state.notices.clear()
        if not state.choices.folder and self.host.scene_file() is None:
            text = (
                f"The scene was never saved, so the result goes to {scene.result_folder}. Save "
                "the scene, or choose a folder, to have it elsewhere."
            )
            state.notices.add(WARNING, text, names_folder=True)
        self._sync.send_weights()
        state.has_run, state.started = True, state.choices
        state.history.set_shown("")
        state.effects.found = None
        predicted = state.predict(state.choices) if settings is None else None
        state.times.start(predicted, state.choices.resume)
        self._events.begin_bake()
        scene.begin_bake()
        request = state.choices.request_for(settings)
        self.link.begin(
            commands.Start(
                str(scene.result_folder), scene.result_name, request, self.wants_report_picture
            )
        )

    def _begin_from_checkpoint(self) -> None:
        before = self.state.choices
        self.state.choices = before.with_values({"resume": True})
        self._begin()
        # the last strokes may be newer than the checkpoint
        self._sync.send_weights()
        self.state.choices = before

    def continue_interrupted(self) -> None:
        """Continues an interrupted bake with the settings that it was begun with."""
        state, interrupted = self.state, self.state.history.interrupted
        if interrupted is None or not self.can(states.START):
            return
        if interrupted.live not in (state.choices.live, state.live.requests):
            self.set_choices(live=interrupted.live)
        if self.documents.is_living:
            self.documents.open_again(self.continue_interrupted)
            return
        before = state.choices
        again = {"preset": interrupted.preset, "resume": True, "time_limit": interrupted.time_limit}
        state.choices = before.with_values(again)
        self._begin(interrupted.settings)
        state.choices = before

    @property
    def can_forecast(self) -> bool:
        return self.can(states.START) and not self.link.doing

    def request_forecast(self) -> None:
        """Measures the cost of the material, baked and not. The worker answers with an event."""
        if self.can_forecast:
            self.link.send(commands.Forecast(self.state.choices.request))
            self.link.set_state(self.link.state, "measuring the cost")

    def pause(self) -> None:
        self._request(states.PAUSE, commands.Pause())

    def resume(self) -> None:
        self._request(states.RESUME, commands.Resume())

    def finish(self) -> None:
        """Ends the training and keeps the result."""
        self._request(states.FINISH, commands.Finish())

    def cancel(self) -> None:
        self._request(states.CANCEL, commands.Cancel())

    def _request(self, action: str, command: commands.Command) -> None:
        if self.can(action):
            self.link.request(action, command)

    def show_version(self, version: Version, against: Version | None = None) -> None:
        """Shows a version in place of the bake, or in comparison with another one. Its live inputs
        become those of the material, so that both sides of the picture move."""
        if self.link.is_busy:
            return
        if version.live and version.live not in (self.state.choices.live, self.state.live.requests):
            self.set_choices(live=version.live)
            self.documents.open_again()
        other = str(against.folder) if against else ""
        self.link.send(commands.Show(str(version.folder), other))

    def publish(self, bundles: Sequence[Path], page: Path) -> None:
        """Writes a web page that shows bundles."""
        try:
            self.link.start()
        except VerdigrisError as failure:
            self.state.notices.add(ERROR, str(failure))
        else:
            self.link.send(commands.Publish(tuple(map(str, bundles)), str(page)))
            # the worker may compile for some seconds first
            self.state.notices.add(INFO, f"Writing {page.name}")

    def switch_link(self, is_on: bool) -> None:
        """Switches the live link, which the worker serves."""
        game = self.state.game
        game.switch(is_on)
        try:
            self.link.start()
        except VerdigrisError as failure:
            game.fail(str(failure))
        else:
            self.link.send(game.command)

    def _read_history(self) -> None:
        folder, name = self.scene.result_folder, self.scene.result_name
        self.state.history.open(folder, name)
        self.ladder.open(folder / f"{name or 'material'}_ladder")

    # live inputs

    def _recall_live(self) -> None:
        """Takes the live inputs that were chosen for this material before."""
        self.state.live.clear()
        self.set_choices(live=self.state.living.get(self.scene.identity, ()))

    def _note_live(self) -> None:
        """Keeps the choice for this material, and opens it with these inputs a moment later."""
        state, identity = self.state, self.scene.identity
        live = state.choices.live
        if identity:
            state.living.pop(identity, None)
            if live:
                state.living[identity] = live
        self.documents.note_live()

    # view

    def set_view(self, **values: Any) -> None:
        """Changes some values of the view."""
        self._sync.set_view(**values)

    def set_live(self, name: str, share: float) -> None:
        """Moves a live input in the view, 0 to 1."""
        self._sync.set_live(name, share)

    def set_focus(self, where: str) -> None:
        """Sets the places that training samples: all, painted ones only, or mostly visible ones."""
        self._sync.set_focus(where)

    def show_mesh(self, name: str) -> bool:
        """Shows the material on a mesh of the scene. Returns whether that is possible."""
        loaded = self.state.meshes.load(name, self.state.current)
        if loaded is None:
            return False
        self.link.send(loaded)
        self.set_view(shape="mesh", mesh=name)
        return True

    def read_map(self, path: str) -> None:
        self.link.send(commands.ReadMap(path))

    def write_map(self, path: str) -> None:
        values = self.state.weights.values.astype("<f4")
        self.link.send(commands.WriteMap(path, values.shape[1], values.shape[0], values.tobytes()))
