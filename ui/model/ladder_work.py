"""Fits the ladder of the chosen material in a worker of its own, beside the panel's."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.text import format_range
from verdigris.core.hosts.host import BakedResult, HostDocument, LadderLook
from verdigris.core.hosts.ladder_looks import find_report, look_of, result_of
from verdigris.core.ladder.rungs.registry import RUNGS, find_rung
from verdigris.core.worker.client.client import GONE, WorkerClient
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import Message
from verdigris.ui.model.panel_state import PanelState
from verdigris.ui.model.scene import Scene
from verdigris.ui.signals import ERROR, INFO, WARNING, Signal, capitalise

REPORT, PAGE = "ladder.json", "ladder.html"
WAITING, FITTING, FINISHED = "waiting", "fitting", "finished"
# The time left is shown from here on, as a range this wide: rungs differ in their time.
_LEAST_PART, _LEAST_SECONDS, _SPREAD = 0.1, 3.0, 1.5
SIZES = (128, 256, 512, 1024, 2048)


@dataclass(frozen=True)
class LadderChoices:
    """What is fitted, and on what."""

    mesh: str = ""
    """The name of a mesh of the scene, or a file."""
    rungs: tuple[str, ...] = ("neural", "pbr", "unlit")
    """Names of rungs."""
    size: int = 256


class LadderWork:
    """Call `poll` a few times a second. No method waits."""

    def __init__(
        self,
        state: PanelState,
        scene: Scene,
        make_client: Callable[[], WorkerClient],
        read_document: Callable[[], HostDocument | None],
    ) -> None:
        """`read_document` reads the chosen material, or reports why it cannot be read."""
        self._state, self._scene, self._notices = state, scene, state.notices
        self._make_client, self._read_document = make_client, read_document
        self._client: WorkerClient | None = None
        self._waiting: commands.Ladder | None = None
        self.choices = LadderChoices()
        self.folder = Path()
        self.report: Mapping[str, Any] | None = None
        """The report of the ladder in the folder, if there is one."""
        self.what = ""
        """What is fitted at the moment."""
        self.part = 0.0
        self.finished: tuple[str, ...] = ()
        """Names of the rungs that are fitted, while others are not."""
        self._fitted: tuple[str, ...] = ()
        """The rungs of the present work."""
        self._fitting, self._begun = "", 0.0
        self.changed = Signal()

    @property
    def is_running(self) -> bool:
        return self._client is not None

    @property
    def share(self) -> float:
        """The completed share of all work: the rungs, and what is drawn before and after them."""
        chosen = self._fitted
        stage = 1 + len(chosen) if self.finished == chosen else 1 + len(self.finished)
        if self._fitting not in chosen and not self.finished:
            stage = 0
        return (stage + min(1.0, self.part)) / (2 + len(chosen)) if self.is_running else 0.0

    @property
    def left(self) -> str:
        """The time that is left for all rungs; nothing until enough is done."""
        elapsed, share = time.monotonic() - self._begun, self.share
        if share < _LEAST_PART or elapsed < _LEAST_SECONDS:
            return ""
        seconds = elapsed * (1 - share) / share
        return f"{format_range(seconds / _SPREAD, seconds * _SPREAD)} left"

    def state_of(self, name: str) -> str:
        """What happens with a rung while a ladder is fitted; empty if nothing does."""
        if not self.is_running or name not in self._fitted:
            return ""
        if name in self.finished:
            return FINISHED
        return FITTING if name == self._fitting else WAITING

    def choose(self, **values: Any) -> None:
        """Changes some of the choices."""
        self.choices = replace(self.choices, **values)
        self.changed.emit()

    def set_rung(self, name: str, is_on: bool) -> None:
        """Takes a rung in, or leaves it out."""
        chosen = {*self.choices.rungs, name} if is_on else {*self.choices.rungs} - {name}
        self.choose(rungs=tuple(each.name for each in RUNGS if each.name in chosen))

    def open(self, folder: Path) -> None:
        """Shows the ladder of a folder, if there is one."""
        if self.is_running:
            return
        self.folder, self.report = folder, find_report(folder / REPORT)
        self.changed.emit()

    @property
    def result(self) -> BakedResult | None:
        """What the scene notes of the ladder; None if there is nothing to note."""
        return result_of(self.report or {}, self.folder)

    @property
    def look(self) -> LadderLook:
        """The chosen rungs that are baked and that a scene can show."""
        found = look_of(self.report or {}, self.folder)
        chosen = tuple(each for each in found.rungs if each.name in self.choices.rungs)
        return replace(found, rungs=chosen)

    @property
    def can_bake(self) -> bool:
        """Whether a material, a mesh and a rung are chosen, and no ladder is being fitted."""
        is_chosen = bool(self._state.current and self.choices.mesh and self.choices.rungs)
        return is_chosen and not self.is_running and not self._state.is_refused

    def bake(self) -> None:
        """Fits the chosen rungs on the chosen mesh."""
        document = self._read_document() if self.can_bake else None
        if document is None:
            return
        state, meshes, name = self._state, self._state.meshes, self.choices.mesh
        is_of_scene = name in meshes.names
        mesh = meshes.load(name, state.current) if is_of_scene else None
        if is_of_scene and mesh is None:
            return
        try:
            self._client = self._make_client()
        except VerdigrisError as failure:
            self._notices.add(ERROR, str(failure))
            return
        if mesh is not None:
            self._client.send(mesh)
        self._client.send(commands.Open.of(document, state.search_folders))
        self._waiting = commands.Ladder(
            str(self.folder), self.choices.mesh, self.choices.rungs, self.choices.size,
            state.view.lit_by, state.choices.preset,
        )  # fmt: skip
        self.what, self.part, self._fitting = "Opening the material", 0.0, ""
        self.finished, self._fitted = (), self.choices.rungs
        self._begun = time.monotonic()
        self.changed.emit()

    def attach(self) -> None:
        """Makes levels of detail of the rungs in the scene, if the host can, and notes the bundle
        and the glTF textures."""
        current, result, host = self._state.current, self.result, self._scene.host
        if current is None or result is None:
            return
        try:
            if host.can_show_rungs:
                look = self.look
                if not look.rungs:
                    text = "No baked rung is chosen: tick one, or bake it first"
                    self._notices.add(WARNING, text)
                    return
                self._notices.add(INFO, host.attach_rungs(current, look))
                return
            self._scene.attach(current, result)
        except VerdigrisError as failure:
            self._notices.add(WARNING, f"The ladder is not noted in the scene: {failure}")
        else:
            names = ", ".join(path.name for path in (result.bundle, *result.textures.values()))
            self._notices.add(INFO, f"Noted in the scene: {names}")

    def cancel(self) -> None:
        """Ends the work. What is written already stays."""
        client, self._client = self._client, None
        if client is not None:
            client.kill()
            self._end()
            self._notices.add(
                INFO, "The ladder was cancelled. Its page and textures are unchanged."
            )

    def close(self) -> None:
        """Ends the worker with the panel."""
        if self._client is not None:
            self._client.kill()
            self._client = None

    def poll(self) -> None:
        """Handles new messages."""
        client = self._client
        for message in client.poll() if client is not None else ():
            if self._client is not None:
                self._handle(message)
        if self._client is not None and (health := self._client.health()).state == GONE:
            self._fail(health.reason)

    def _handle(self, message: Message) -> None:
        event = message.header
        kind = event.get("event")
        if kind == "opened" and self._waiting is not None:
            if not event.get("chosen"):
                problems = [each.get("problem", "") for each in event.get("materials", ())]
                self._fail(next(filter(None, problems), "the material cannot be opened"))
                return
            waiting, self._waiting = self._waiting, None
            assert self._client is not None
            self._client.send(waiting)
        elif kind == "fitting":
            what = str(event.get("what", ""))
            if what != self._fitting:
                if find_rung(self._fitting):
                    self.finished = (*self.finished, self._fitting)
                self._fitting = what
            kind = find_rung(what)
            self.what = (kind.use or kind.title) if kind else capitalise(what)
            self.part = float(event.get("part", 0.0))
            self.changed.emit()
        elif kind == "fitted":
            report = event.get("report")
            self.report = report if isinstance(report, dict) else None
            for warning in (self.report or {}).get("warnings", ()):
                self._notices.add(WARNING, str(warning))
            self._end()
            self._notices.add(INFO, f"Written: {self.folder / PAGE}")
        elif kind == "error":
            self._fail(str(event.get("text", "")))

    def _fail(self, reason: str) -> None:
        if self._client is not None:
            self._client.close()
        self._end()
        self._notices.add(ERROR, f"The ladder was not written: {reason}")

    def _end(self) -> None:
        client, self._client, self._waiting = self._client, None, None
        if client is not None:
            client.close()
        self.what, self.part, self.finished, self._fitting = "", 0.0, (), ""
        self.changed.emit()
