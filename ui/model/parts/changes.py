"""Which materials have changed since their bakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.batch.plan.inputs import DigestCache
from verdigris.core.bundle.history import Version, read_version
from verdigris.core.hosts.changes import find_changes
from verdigris.core.hosts.host import HostDocument, HostMaterial
from verdigris.ui.paint.scene_paint import Background
from verdigris.ui.signals import Signal


class Changes:
    """Compares documents that were read with bundles. Images are compared on another thread."""

    def __init__(self) -> None:
        self._digests = DigestCache()
        self._background = Background()
        self._waiting: list[tuple[HostMaterial, Path]] = []
        self._found: dict[HostMaterial, tuple[str, ...]] = {}
        self._asked = 0
        self._last: dict[HostMaterial, int] = {}
        """The number of the last comparison of each material: an earlier one may end later."""
        self.changed = Signal()

    def of(self, material: HostMaterial | None) -> tuple[str, ...]:
        """The differences of a material; empty if there are none, or if nobody has compared it."""
        return self._found.get(material, ()) if material is not None else ()

    def check(
        self,
        material: HostMaterial,
        document: HostDocument,
        version: Version | None,
        folders: Sequence[str] = (),
    ) -> None:
        """Compares a document that was just read with the bundle of its material."""
        self._asked += 1
        number = self._last[material] = self._asked

        def note(found: tuple[str, ...] | None) -> None:
            if self._last.get(material) == number:
                self._note(material, found or ())

        if version is None or not version.sources:
            note(None)
            return
        sources, search = version.sources, [Path(each) for each in folders]

        def compare() -> tuple[str, ...] | None:
            self._digests.look_again()
            return find_changes(document, sources, self._digests, search)

        self._background.run(compare, note, lambda _: note(None))

    def check_all(self, bundles: Sequence[tuple[HostMaterial, Path]]) -> None:
        """Compares materials with their bundles, one at each `follow`."""
        self._waiting = [each for each in bundles if each[1].is_dir()]

    def follow(self, read: Callable[[HostMaterial], HostDocument]) -> None:
        """Reads the next material that waits to be compared."""
        if not self._waiting or self._background.is_busy:
            return
        material, bundle = self._waiting.pop(0)
        version = read_version(bundle, {}, is_present=True)
        if version is None or "text_sha256" not in version.sources:
            return
        try:
            document = read(material)
        except VerdigrisError:
            # choosing it reports why
            return
        self.check(material, document, version)

    def poll(self) -> None:
        """Takes over what is compared."""
        self._background.poll()

    def forget(self) -> None:
        """Another scene is open."""
        self._waiting, self._found, self._last = [], {}, {}
        self.changed.emit()

    def _note(self, material: HostMaterial, found: tuple[str, ...]) -> None:
        if self._found.get(material, ()) != found:
            self._found[material] = found
            self.changed.emit()
