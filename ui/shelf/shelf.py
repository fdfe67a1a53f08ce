"""The shelf: one list of what waits, what was baked, and what was open. Without Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.bundle.history import Version
from verdigris.core.hosts.host import HostMaterial
from verdigris.core.hosts.result_folders import find_result
from verdigris.core.worker.protocol.commands import MOST_COMPARED
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.shelf.bake_queue import BakeQueue, Item
from verdigris.ui.shelf.entries import (
    Entry,
    entry_of_document,
    entry_of_item,
    entry_of_material,
    entry_of_version,
)
from verdigris.ui.signals import Signal


@dataclass(frozen=True)
class Action:
    """Something that can be done with entries, as a button and in the menu."""

    name: str
    text: str
    tip: str
    run: Callable[[], object]
    is_possible: bool = True
    is_on: bool = False


@dataclass(frozen=True)
class Documents:
    """What a window knows besides its panel."""

    queue: BakeQueue
    recent: Callable[[], list[Path]]
    open: Callable[[Path], bool]
    add: Callable[[list[Path]], None]
    """Lets documents wait, and all those in folders, and shows the shelf."""
    forget: Callable[[Path], Callable[[], None]]
    """Takes a document out of the recent ones. Returns what brings it back."""
    bundle_of: Callable[[Path], Path | None]


class Shelf:
    """Its entries, and what can be done with them."""

    def __init__(self, model: PanelModel) -> None:
        self.model = model
        self.documents: Documents | None = None
        """None inside an application, which has its own list of files."""
        self.reveal: Callable[[Path], None] = lambda _path: None
        """Shows a file in the desktop's file manager."""
        self.compare: Callable[[list[Entry]], None] = lambda _entries: None
        """Shows entries side by side."""
        self.publish: Callable[[list[Path]], None] = lambda _bundles: None
        """Asks where the page goes, and writes it."""
        self.changed = Signal()
        self._undo: tuple[str, Callable[[], None]] | None = None
        self._bundles: dict[tuple[Path, str], Path | None] = {}
        self._of_scene: list[Entry] | None = None
        for signal in self._signals():
            signal.connect(self.refresh)

    def close(self) -> None:
        """Ends with its page, which the model outlives."""
        for signal in self._signals():
            signal.disconnect(self.refresh)

    def _signals(self) -> tuple[Signal, Signal]:
        return self.model.state.history.changed, self.model.state.materials_changed

    def use(self, documents: Documents) -> None:
        """Also shows the queue and the recent documents of a window."""
        self.documents = documents
        documents.queue.changed.connect(self.changed.emit)
        self.refresh()

    def refresh(self) -> None:
        """Looks for results again."""
        self._bundles.clear()
        self._of_scene = None
        self.changed.emit()

    @property
    def entries(self) -> list[Entry]:
        """The queue, the versions of the material in the panel, the other materials of the scene,
        and recent documents."""
        model, history = self.model, self.model.state.history
        found: list[Entry] = []
        listed = {model.host.scene_file()}
        documents = self.documents
        for item in documents.queue.items if documents is not None else ():
            found.append(entry_of_item(item, self._find(item.path, item.material)))
            listed.add(item.path)
        found += [
            entry_of_version(each, each.key in history.shown and bool(each.key))
            for each in history.versions
        ]
        found += self._others()
        found += [
            entry_of_document(path, self._find(path, ""))
            for path in (documents.recent() if documents is not None else ())
            if path not in listed
        ]
        return found

    def _others(self) -> list[Entry]:
        """The other materials of the scene that were baked."""
        if self._of_scene is None:
            state = self.model.state
            pairs = zip(state.materials, self.model.scene.bundles(), strict=True)
            self._of_scene = [
                entry_of_material(material, bundle)
                for material, bundle in pairs
                if material != state.current and (bundle / MANIFEST_FILE).is_file()
            ]
        return self._of_scene

    def _find(self, path: Path, material: str) -> Path | None:
        key = path, material
        if key not in self._bundles:
            noted = self.documents.bundle_of(path) if self.documents and not material else None
            self._bundles[key] = noted or find_result(path, material)
        return self._bundles[key]

    # undo

    @property
    def undo_text(self) -> str:
        """What was removed last; empty if nothing can be brought back."""
        if self.model.state.history.deleted is not None:
            return "The version is in the trash."
        return self._undo[0] if self._undo is not None else ""

    def undo(self) -> None:
        """Brings back what was removed last."""
        history = self.model.state.history
        if history.deleted is not None:
            history.undelete()
        elif self._undo is not None:
            (_, put_back), self._undo = self._undo, None
            put_back()
            self.changed.emit()

    def _removed(self, entry: Entry, put_back: Callable[[], None]) -> None:
        self._undo = f"{entry.name} was removed from the list.", put_back
        self.changed.emit()

    # actions

    def open(self, entry: Entry) -> None:
        """What a double click does: opens the document, chooses the material, or shows the
        version."""
        source, model = entry.source, self.model
        if isinstance(source, Version):
            model.show_version(source)
        elif isinstance(source, HostMaterial):
            model.choose(source)
        elif entry.document is not None and self.documents is not None:
            is_open = self.documents.open(entry.document)
            name = source.material if is_open and isinstance(source, Item) else ""
            wanted = next((each for each in model.state.materials if each.name == name), None)
            if wanted is not None and wanted != model.state.current:
                model.choose(wanted)

    def can_compare(self, entries: list[Entry]) -> bool:
        return 2 <= len(entries) <= MOST_COMPARED and all(each.bundle for each in entries)

    def actions(self, entries: list[Entry]) -> list[Action]:
        """What can be done with the chosen entries."""
        publish = self._publishing(entries)
        if len(entries) > 1:
            tip = f"Shows them side by side with one camera and one light, at most {MOST_COMPARED}"
            return [
                Action(
                    "compare", f"Compare {len(entries)}", tip,
                    lambda: self.compare(entries), self.can_compare(entries),
                ),
                *publish,
            ]  # fmt: skip
        if not entries:
            return []
        entry = entries[0]
        source = entry.source
        special = self._of_version(source) if isinstance(source, Version) else []
        if isinstance(source, Item):
            special = self._of_item(entry, source)
        if not isinstance(source, Version):
            tip = "Opens it in the panel"
            special.insert(0, Action("open", "Open", tip, lambda: self.open(entry)))
        if isinstance(source, Path) and self.documents is not None:
            special += self._of_document(entry, source)
        special += publish
        place = entry.bundle or entry.document
        if place is not None:
            tip = f"Opens its folder: {place.parent}"
            special.append(Action("reveal", "Show in folder", tip, lambda: self.reveal(place)))
        return special

    def _publishing(self, entries: list[Entry]) -> list[Action]:
        """The action that writes a web page, for entries that are all baked."""
        bundles = [each.bundle for each in entries if each.bundle is not None]
        if not bundles or len(bundles) < len(entries):
            return []
        state, tip = self.model.state, "Writes a web page that any computer or phone can show"
        return [
            Action(
                "publish", "Publish…", tip, lambda: self.publish(bundles),
                state.current is not None and not self.model.link.is_busy,
            )
        ]  # fmt: skip

    def _of_version(self, version: Version) -> list[Action]:
        model, history = self.model, self.model.state.history
        can_change = not model.link.is_busy
        shown, against = history.shown
        is_shown = shown == version.key and not against
        first = history.find(shown) or history.present
        other = first if first is not None and first.key != version.key else None
        return [
            Action(
                "show", "Shown" if is_shown else "Show", "Shows this version beside the material",
                lambda: model.show_version(version), can_change, is_shown,
            ),
            Action(
                "compare", "A/B",
                "Compares this version, on the left, with the one in use or the one that is shown",
                lambda: other and model.show_version(other, version),
                can_change and other is not None, against == version.key,
            ),
            Action(
                "restore", "Restore",
                "Puts this version into use again; the present one is kept",
                lambda: history.restore(version), can_change and not version.is_present,
            ),
            Action(
                "keep", "Kept" if version.is_pinned else "Keep",
                "Never removes this version to make room",
                lambda: history.pin(version, not version.is_pinned), is_on=version.is_pinned,
            ),
            Action(
                "delete", "Delete", "Moves this version to the trash",
                lambda: history.delete(version), can_change and not version.is_present,
            ),
        ]  # fmt: skip

    def _of_item(self, entry: Entry, item: Item) -> list[Action]:
        assert self.documents is not None
        queue = self.documents.queue
        if entry.is_waiting:
            order = [
                Action("up", "Earlier", "Bakes it earlier", lambda: queue.move(item, -1)),
                Action("down", "Later", "Bakes it later", lambda: queue.move(item, 1)),
            ]
        else:
            tip = "Puts it at the end of what waits"
            order = [Action("again", "Try again", tip, lambda: queue.retry(item))]
            order = order if item is not queue.current else []
        tip = "Takes it out of the list; no file is deleted"
        remove = Action(
            "delete", "Remove", tip, lambda: self._removed(entry, queue.remove(item)),
            item is not queue.current,
        )  # fmt: skip
        return [*order, remove]

    def _of_document(self, entry: Entry, path: Path) -> list[Action]:
        assert self.documents is not None
        documents = self.documents
        wait = Action("wait", "Add to queue", "Bakes it with the others that wait",
                      lambda: documents.add([path]))  # fmt: skip
        tip = "Takes it out of the list; no file is deleted"
        remove = Action("delete", "Remove", tip,
                        lambda: self._removed(entry, documents.forget(path)))  # fmt: skip
        return [wait, remove]

    def reveal_report(self) -> None:
        """Shows the report of the queue."""
        report = self.documents.queue.report if self.documents is not None else None
        if report is not None:
            self.reveal(report)
