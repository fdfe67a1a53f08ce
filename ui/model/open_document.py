"""The document of the chosen material: read from the scene, and open in the worker."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.hosts.host import HostDocument, HostMaterial
from verdigris.core.hosts.own_files import ALONE, OwnFile, find_own, list_own
from verdigris.core.worker.protocol import commands
from verdigris.ui.model.event_handler import EventHandler
from verdigris.ui.model.panel_state import PanelState
from verdigris.ui.model.parts.worker_set_up import WorkerSetUp
from verdigris.ui.model.scene import Scene
from verdigris.ui.model.view_sync import ViewSync
from verdigris.ui.model.worker_link import WorkerLink
from verdigris.ui.signals import ERROR, INFO, WARNING

# Seconds for further changes of live inputs: the material is compiled again.
LIVE_INTERVAL = 0.7


class OpenDocument:
    """Starts the worker when it is needed first. No method waits."""

    def __init__(
        self,
        state: PanelState,
        link: WorkerLink,
        scene: Scene,
        sync: ViewSync,
        events: EventHandler,
        set_up: WorkerSetUp,
        clear: Callable[[], None],
    ) -> None:
        """`clear` drops what belongs to the document that was open."""
        self._state, self._link, self._scene = state, link, scene
        self._sync, self._events, self._set_up = sync, events, set_up
        self._clear = clear
        self._sent_live: tuple[str, ...] = ()
        """The live inputs that the document was sent with."""
        self._live_changed = 0.0
        """When other live inputs were chosen, which the worker does not know yet; else 0."""
        self._last: tuple[HostMaterial, HostDocument] | None = None
        """What was read last."""
        state.history.changed.connect(self._compare)

    @property
    def is_living(self) -> bool:
        """Whether live inputs were chosen that the worker does not know yet."""
        return self._live_changed > 0

    def forget(self) -> None:
        """Another material is chosen."""
        self._events.after_open, self._live_changed = None, 0.0

    def note_live(self) -> None:
        """The chosen live inputs are opened a moment later."""
        state = self._state
        is_known = state.document is None or state.choices.live == self._sent_live
        self._live_changed = 0.0 if is_known else time.monotonic()

    def follow(self) -> None:
        """Opens the document with new live inputs, if the worker is free."""
        waited = time.monotonic() - self._live_changed
        if self.is_living and self._link.is_free and waited > LIVE_INTERVAL:
            self.open_again()

    def open(self, after: Callable[[], None] | None = None) -> None:
        """Reads the chosen material and sends it."""
        document = self.read()
        if document is not None:
            self.send(document, after)

    def read(self) -> HostDocument | None:
        """Reads the chosen material. Returns None and reports an error if that fails."""
        material = self._state.current
        assert material is not None
        try:
            document = self._scene.document(material)
        except VerdigrisError as failure:
            self._events.handle_error({"command": "open", "text": str(failure)})
            return None
        self._last = material, document
        self._scene.look_up(material, document)
        self._compare()
        return document

    def compare_saved(self) -> None:
        """The scene was saved: reads the chosen material again, and compares it with its
        bundle."""
        material = self._state.current
        if (
            self._link.is_busy
            or material is None
            or self._last is None
            or self._state.history.present is None
        ):
            return
        with contextlib.suppress(VerdigrisError):
            self._last = material, self._scene.document(material)
            self._compare()

    def _compare(self) -> None:
        """Compares the document with the bundle: either is new."""
        state = self._state
        if self._last is not None and self._last[0] == state.current:
            state.changes.check(*self._last, state.history.present, state.search_folders)

    def compare_all(self) -> None:
        """Compares all materials that have a bundle with it, one after the other."""
        state = self._state
        pairs = zip(state.materials, self._scene.bundles(), strict=True)
        others = [each for each in pairs if each[0] != state.current and not each[0].problem]
        state.changes.check_all(others)

    # files, and nodes that become images

    def take_file(self, path: Path, name: str | None = None) -> tuple[str, ...]:
        """Reads the chosen material from a file that the artist has exported, in place of the
        scene. Returns the names of the materials in the file if one has to be chosen."""
        if self._link.is_busy:
            return ()
        state = self._state
        current = state.current or HostMaterial(str(path), path.stem, ALONE)
        try:
            own = OwnFile(path, name) if name is not None else find_own(path, current.name)
            if own is None:
                return list_own(path)
        except VerdigrisError as failure:
            self._state.notices.add(ERROR, str(failure))
            return ()
        if state.current is None:
            state.current, state.materials = current, (*state.materials, current)
            state.materials_changed.emit()
        self._read_from(own)
        return ()

    def leave_file(self) -> None:
        """Reads the chosen material from the scene again."""
        if not self._link.is_busy:
            self._read_from(None)

    def _read_from(self, own: OwnFile | None) -> None:
        assert self._state.current is not None
        self._scene.take_own_file(self._state.current, own)
        self._state.notices.clear()
        self._clear()
        self.open()

    def make_textures(self) -> None:
        """Bakes nodes without an equal in MaterialX to images, in the application, and opens the
        material again."""
        current = self._state.current
        if current is None or self._link.is_busy:
            return
        try:
            made = self._scene.host.make_textures(current)
        except VerdigrisError as failure:
            self._state.notices.add(WARNING, str(failure))
            return
        self._clear()
        self.open()
        self._state.notices.add(INFO, made)

    # the worker

    def send(
        self,
        document: HostDocument,
        after: Callable[[], None] | None = None,
        is_again: bool = False,
    ) -> None:
        """Sends a document to the worker, which is started if there is none. `after`: what to do
        once it is open."""
        state = self._state
        if after is not None:
            self._events.after_open = after
        state.document, self._sent_live = document, state.choices.live
        self._live_changed = 0.0
        try:
            self._link.start()
        except VerdigrisError as failure:
            is_offered = self._set_up.offers_remedy(failure)
            error = {"command": "open", "text": str(failure), "is_offered": is_offered}
            self._events.handle_error(error)
            return
        for note in () if is_again else document.notes:
            state.notices.add(INFO, note)
        self._sync.send_all()
        self._link.send(commands.Open.of(document, state.search_folders, state.choices.live))

    def open_again(self, after: Callable[[], None] | None = None) -> None:
        """Opens the same document, with the live inputs that are chosen now."""
        state = self._state
        self._live_changed = 0.0
        if state.document is None or state.current is None:
            return
        shown = state.history.find(state.history.shown[0])
        bundle = shown.folder if shown is not None else None
        if bundle is None and state.bake.result is not None:
            bundle = state.bake.result.bundle
        if after is None and bundle is not None:
            # the neural side stays in sight
            after = partial(self._link.send, commands.Show(str(bundle)))
        state.pictures.drop_neural()
        self._events.after_open = after
        self.send(state.document, is_again=True)
