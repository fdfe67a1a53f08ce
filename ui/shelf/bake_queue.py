"""Bakes documents one after the other in the panel, and writes the report of a scene run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.outputs import write_own_file
from verdigris.core.batch.run.html_report import report_html
from verdigris.core.batch.run.summary import BAKED, FAILED, Row, Summary
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.shader.expand import is_document
from verdigris.core.worker.protocol.worker_events import DONE, IDLE
from verdigris.core.worker.protocol.worker_events import FAILED as BAKE_FAILED
from verdigris.ui.model import states
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.signals import INFO, WARNING, Signal

WAITING, OPENING, BAKING, STOPPED = "waiting", "opening", "baking", "stopped"
_ENDED = (BAKED, FAILED, STOPPED)
_MOST_DOCUMENTS = 500
# Another name than that of a scene run, which may use the folder, too.
_REPORT_FILE = "queue_report.html"
# Folders without documents of the artist: results, and files of tools.
_SKIPPED = (".versions", ".vdg")


@dataclass
class Item:
    """A material in the queue."""

    path: Path
    material: str = ""
    """Its name in the document; empty until the document is open."""
    state: str = WAITING
    share: float = 0.0
    text: str = ""
    """Why it failed."""
    bundle: Path | None = None
    seconds: float = 0.0

    @property
    def name(self) -> str:
        return self.material or self.path.stem


class BakeQueue:
    """The items in their order. `open_document` opens a document in the panel, and returns whether
    that was possible."""

    def __init__(self, model: PanelModel, open_document: Callable[[Path], bool]) -> None:
        self._model, self._open = model, open_document
        self.items: list[Item] = []
        self.is_running = False
        self.report: Path | None = None
        self.changed = Signal()
        self._begun = 0.0
        self._began = ""
        model.link.state_changed.connect(self._follow)
        model.state.report_changed.connect(self._follow)
        model.ladder.changed.connect(self._follow)
        model.state.bake.progress_changed.connect(self._follow_progress)

    @property
    def current(self) -> Item | None:
        """The item in the panel."""
        return next((each for each in self.items if each.state in (OPENING, BAKING)), None)

    @property
    def is_open(self) -> bool:
        """Whether something waits or is baked."""
        return any(each.state not in _ENDED for each in self.items)

    def add(self, paths: Iterable[Path]) -> None:
        """Adds documents, and all documents in folders."""
        known = {each.path for each in self.items if each.state not in _ENDED}
        found = [each for path in paths for each in documents_in(path) if each not in known]
        self.items += [Item(path) for path in dict.fromkeys(found)]
        self.changed.emit()

    def move_before(self, item: Item, other: Item | None) -> None:
        """Moves a waiting item in front of another one that waits; None: to the end."""
        if item is other or item.state != WAITING or (other and other.state != WAITING):
            return
        self.items.remove(item)
        at = self.items.index(other) if other is not None else len(self.items)
        self.items.insert(at, item)
        self.changed.emit()

    def move(self, item: Item, by: int) -> None:
        """Moves a waiting item up or down among those that wait."""
        waiting = [each for each in self.items if each.state == WAITING]
        to = waiting.index(item) + by if item in waiting else -1
        if 0 <= to < len(waiting):
            after = [each for each in waiting if each is not item]
            self.move_before(item, after[to] if to < len(after) else None)

    def retry(self, item: Item) -> None:
        """Lets an item that has ended wait again."""
        if item.state in _ENDED:
            item.state, item.text, item.share = WAITING, "", 0.0
            self.items.remove(item)
            self.items.append(item)
            self.changed.emit()

    def remove(self, item: Item) -> Callable[[], None]:
        """Takes an item out, unless it is in the panel. Returns what brings it back."""
        if item is self.current or item not in self.items:
            return lambda: None
        at = self.items.index(item)
        self.items.remove(item)
        self.changed.emit()

        def put_back() -> None:
            self.items.insert(min(at, len(self.items)), item)
            self.changed.emit()

        return put_back

    def start(self) -> None:
        if not self.is_running and not self._model.link.is_busy:
            self.is_running, self.report = True, None
            self._model.wants_report_picture = True
            self._begun, self._began = time.monotonic(), datetime.now().isoformat(" ", "seconds")
            self._next()

    def stop(self) -> None:
        """Ends after the present bake."""
        self.is_running = False
        self.changed.emit()

    def _next(self) -> None:
        item = next((each for each in self.items if each.state == WAITING), None)
        if item is None or not self.is_running:
            self._end()
            return
        item.state = OPENING
        self.changed.emit()
        if not self._open(item.path):
            self._finish(item, FAILED, self._last_notice() or "cannot be opened")
            return
        self._expand(item)
        wanted = [each for each in self._model.state.materials if each.name == item.material]
        if wanted and self._model.state.current != wanted[0]:
            self._model.choose(wanted[0])

    def _expand(self, item: Item) -> None:
        """Adds an item for each further material of the document."""
        names = [each.name for each in self._model.state.materials]
        if item.material or not names:
            return
        at = self.items.index(item)
        item.material = names[0]
        self.items[at + 1 : at + 1] = [Item(item.path, name) for name in names[1:]]

    def _follow(self) -> None:
        item, model = self.current, self._model
        if item is None:
            return
        if item.state == OPENING:
            if model.state.is_refused:
                problem = str((model.state.report or {}).get("problem", ""))
                self._finish(item, FAILED, problem)
            elif not model.link.doing and model.can(states.START):
                item.state = BAKING
                model.start()
                self.changed.emit()
        elif model.link.state == DONE:
            result = model.state.bake.result
            item.bundle = result.bundle if result else None
            item.seconds = model.state.times.clock.seconds
            self._finish(item, BAKED)
        elif model.link.state == BAKE_FAILED:
            self._finish(item, FAILED, self._last_notice())
        elif model.link.state == IDLE and not model.link.pending:
            # the artist has cancelled it, and wants something else now
            self.is_running = False
            self._finish(item, STOPPED)

    def _follow_progress(self) -> None:
        item = self.current
        if item is not None and item.state == BAKING:
            share = round(self._model.state.bake.progress.share, 2)
            if share != item.share:
                item.share = share
                self.changed.emit()

    def _finish(self, item: Item, state: str, text: str = "") -> None:
        item.state, item.text = state, text
        item.share = 1.0 if state == BAKED else item.share
        self.changed.emit()
        if self.is_running:
            self._next()
        else:
            self._end()

    def _end(self) -> None:
        """Writes the report beside the first result."""
        self.is_running = self._model.wants_report_picture = False
        done = [each for each in self.items if each.state in _ENDED]
        folder = next((each.bundle.parent for each in done if each.bundle), None)
        if folder is not None and any(each.state in (BAKED, FAILED) for each in done):
            target = folder / _REPORT_FILE
            try:
                write_own_file(target, report_html(self._summary(done, folder)).encode())
            except VerdigrisError as failure:
                self._model.state.notices.add(WARNING, str(failure))
            else:
                self.report = target
                self._model.state.notices.add(INFO, f"The queue has ended. Its report: {target}")
        self.changed.emit()

    def _summary(self, done: list[Item], folder: Path) -> Summary:
        rows = tuple(_row(each, folder) for each in done)
        return Summary(
            scene="queue",
            out=folder,
            began=self._began,
            seconds=time.monotonic() - self._begun,
            place=self._model.state.device or "this machine",
            exit_code=int(any(row.status == FAILED for row in rows)),
            rows=rows,
        )

    def _last_notice(self) -> str:
        return self._model.state.notices[-1].text if self._model.state.notices else ""


def documents_in(path: Path) -> list[Path]:
    """The document, or all documents in a folder, except in folders of results."""
    if path.is_dir():
        found = (
            each
            for each in sorted(path.rglob("*.mtlx"))
            if not any(parent.suffix in _SKIPPED for parent in each.parents)
        )
        return [each for each, _ in zip(found, range(_MOST_DOCUMENTS), strict=False)]
    return [path] if is_document(path) else []


def _row(item: Item, folder: Path) -> Row:
    manifest = {}
    if item.bundle is not None:
        try:
            found = open_bundle(item.bundle).manifest
        except VerdigrisError as failure:
            return Row(item.name, FAILED, item.bundle, str(failure))
        manifest = {name: getattr(found, name) for name in ("errors", "cost", "report", "source")}
    bundle = item.bundle or folder / f"{item.name}.vdg"
    facts = {"seconds": item.seconds, "attempts": 1, "manifest": manifest}
    return Row(item.name, item.state, bundle, item.text, **facts)
