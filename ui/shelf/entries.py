"""What the shelf shows of a document, a version or an item of the queue. Without Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.base.text import format_seconds, format_share
from verdigris.core.batch.run.summary import BAKED, FAILED
from verdigris.core.bundle.history import Version, read_version
from verdigris.core.hosts.host import HostMaterial
from verdigris.core.pictures.compare.verdict import judge
from verdigris.ui.model.cards import when
from verdigris.ui.shelf.bake_queue import BAKING, OPENING, WAITING, Item
from verdigris.ui.signals import capitalise, short_paths

Source = Item | Version | HostMaterial | Path
_FLIP = "ldr_flip"


@dataclass(frozen=True)
class Entry:
    """One card of the shelf."""

    source: Source
    name: str
    state: str = ""
    """`Waiting`, `Baking 43%`, `Failed`, `In use`, `Opened before`."""
    detail: str = ""
    """Why it failed, or the facts of the bake."""
    bundle: Path | None = None
    """The result whose picture it shows, and which can be compared."""
    document: Path | None = None
    share: float | None = None
    """The progress of its bake."""
    has_failed: bool = False
    dots: int = 0
    is_draft: bool = False
    error: float | None = None
    """The visible difference, FLIP."""
    note: str = ""
    is_shown: bool = False

    @property
    def key(self) -> object:
        """What stays the same while it changes."""
        source = self.source
        return id(source) if isinstance(source, Item) else getattr(source, "key", source)

    @property
    def is_waiting(self) -> bool:
        return isinstance(self.source, Item) and self.source.state == WAITING

    @property
    def figures(self) -> str:
        return f"FLIP {self.error:.3f}" if self.error is not None else ""

    @property
    def text(self) -> str:
        """Everything that can be searched, and that a tooltip shows."""
        place = self.bundle or self.document
        lines = (self.name, self.state, self.figures, self.detail, self.note, str(place or ""))
        return "\n".join(filter(None, lines))


def entry_of_item(item: Item, earlier: Path | None) -> Entry:
    """An item of the queue. One that waits shows the bake before."""
    has_failed = item.state == FAILED
    words = {WAITING: "Waiting", OPENING: "Opening", BAKED: "Done", FAILED: "Failed"}
    state = words.get(item.state, capitalise(item.state))
    if item.state == BAKING:
        state = f"Baking {format_share(item.share)}"
    made = Entry(
        item,
        item.path.name if has_failed and not item.material else item.name,
        state,
        capitalise(short_paths(item.text).removeprefix(f"{item.path.name}: ")),
        item.bundle or earlier,
        item.path,
        item.share if item.state in (BAKING, OPENING) else None,
        has_failed,
    )
    return made if has_failed else with_verdict(made)


def entry_of_version(version: Version, is_shown: bool) -> Entry:
    """A version of the material in the panel."""
    title = capitalise(f"{version.preset or 'bake'}, {when(version)}")
    states = ("In use" if version.is_present else "", "kept" if version.is_pinned else "")
    took = format_seconds(version.seconds) if version.seconds is not None else ""
    detail = (title if version.label else "", *version.facts, took)
    return _judged(
        Entry(
            version,
            version.label or title,
            capitalise(", ".join(filter(None, states))) or "Earlier version",
            " · ".join(filter(None, detail)),
            version.folder,
            note=version.note,
            is_shown=is_shown,
        ),
        version,
    )


def entry_of_material(material: HostMaterial, bundle: Path) -> Entry:
    """Another material of the scene, which was baked."""
    return with_verdict(Entry(material, material.name, "In this scene", "", bundle))


def entry_of_bundle(bundle: Path) -> Entry:
    """A result that may belong to another place."""
    return with_verdict(Entry(bundle, bundle.stem, "Result", bundle.parent.name, bundle))


def entry_of_document(path: Path, bundle: Path | None) -> Entry:
    """A document that was open before."""
    return with_verdict(
        Entry(path, path.stem, "Opened before", path.parent.name, bundle, document=path)
    )


def with_verdict(entry: Entry) -> Entry:
    """The entry with the verdict on its bundle."""
    version = find_version(entry.bundle) if entry.bundle is not None else None
    return _judged(entry, version) if version is not None else entry


def find_version(bundle: Path) -> Version | None:
    """The facts of a bundle."""
    try:
        return _read(bundle, (bundle / MANIFEST_FILE).stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=512)
def _read(bundle: Path, _written: int) -> Version | None:
    return read_version(bundle, {})


def _judged(entry: Entry, version: Version) -> Entry:
    verdict = judge(version.errors, version.preset)
    if verdict is None:
        return entry
    error = next((each.value for each in verdict.figures if each.band.name == _FLIP), None)
    return replace(entry, dots=verdict.dots, is_draft=verdict.is_draft, error=error)
