"""The versions of the chosen material's bundle, and a bake of it that was interrupted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from verdigris.core.baking.state.checkpoint import find_facts, state_path
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.files import remove_file
from verdigris.core.base.json_fields import find_number, find_table, find_whole
from verdigris.core.bundle.files.manifest import SUFFIX
from verdigris.core.bundle.history import History, Version
from verdigris.ui.model.parts.bake_log import Doubles
from verdigris.ui.signals import ERROR, Notices, Signal


@dataclass(frozen=True)
class Interrupted:
    """A bake that can be continued."""

    path: Path
    share: float
    """The completed share of its steps, 0 to 1."""
    preset: str
    settings: dict[str, Any]
    time_limit: float
    is_kept: bool
    """Whether the present bundle is its result for now."""
    live: tuple[str, ...] = ()
    """The live inputs of the bake."""


class BakeHistory:
    """Earlier bakes of the chosen material. No method waits for a worker."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._history: History | None = None
        self._name = ""
        self.versions: tuple[Version, ...] = ()
        self.interrupted: Interrupted | None = None
        self.deleted: Path | None = None
        """The path in the trash of the version that was deleted last."""
        self.shown: tuple[str, str] = ("", "")
        """Keys of the version in the pictures, and of the one in place of the reference."""
        self.curves: dict[str, tuple[Doubles, Doubles]] = {}
        """Steps and errors of bakes that ran in this panel, by the key of their version."""
        self.changed = Signal()

    @property
    def present(self) -> Version | None:
        """The version that engines load."""
        return next((each for each in self.versions if each.is_present), None)

    @property
    def bundle(self) -> Path | None:
        return self._history.bundle if self._history else None

    def find(self, key: str) -> Version | None:
        return next((each for each in self.versions if each.key == key), None)

    def name_of(self, part: str) -> str:
        """The version in the place of a picture; empty for the material and the last bake."""
        key = {"neural": self.shown[0], "reference": self.shown[1]}.get(part, "")
        version = self.find(key) if key else None
        if version is None:
            return ""
        at = version.baked.astimezone()
        return version.label or f"{version.preset or 'bake'} {at:%H:%M}"

    def open(self, folder: Path, name: str) -> None:
        """Reads the versions of another bundle, if its name is known."""
        self._history = History(folder / f"{name}{SUFFIX}") if name else None
        self._name, self.deleted, self.shown = name, None, ("", "")
        if self._history is not None:
            self._history.recover()
        self.refresh()

    def refresh(self) -> None:
        """Reads the versions again, after a bake."""
        found = self._history
        with contextlib.suppress(OSError):
            self.versions = tuple(found.versions()) if found else ()
        self.interrupted = self._find_interrupted()
        self.changed.emit()

    def note_curve(self, curve: tuple[Doubles, Doubles]) -> None:
        """Keeps the errors by step of the bake whose result is the present version."""
        self.refresh()
        if self.present is not None:
            self.curves[self.present.key] = curve
            self.changed.emit()

    def set_shown(self, key: str, against: str = "") -> None:
        self.shown = key, against
        self.changed.emit()

    def restore(self, version: Version) -> None:
        self._do(lambda history: history.restore(version))

    def delete(self, version: Version) -> None:
        def delete(history: History) -> None:
            self.deleted = history.delete(version)

        self._do(delete)

    def undelete(self) -> None:
        deleted, self.deleted = self.deleted, None
        if deleted is not None:
            self._do(lambda history: history.undelete(deleted))

    def rename(self, version: Version, label: str) -> None:
        if label != version.label:
            self._do(lambda history: history.rename(version, label))

    def write_note(self, version: Version, text: str) -> None:
        if text.strip() != version.note:
            self._do(lambda history: history.write_note(version, text))

    def pin(self, version: Version, is_pinned: bool) -> None:
        self._do(lambda history: history.pin(version, is_pinned))

    def discard_checkpoint(self) -> None:
        """Removes the checkpoint of an interrupted bake."""
        if self.interrupted is not None:
            with contextlib.suppress(OSError):
                remove_file(self.interrupted.path)
        self.refresh()

    def _do(self, change: Callable[[History], None]) -> None:
        if self._history is None:
            return
        try:
            change(self._history)
        except VerdigrisError as failure:
            self._notices.add(ERROR, str(failure))
        self.refresh()

    def _find_interrupted(self) -> Interrupted | None:
        if self._history is None:
            return None
        path = state_path(self._history.bundle.parent, self._name)
        facts = find_facts(path) if path.is_file() else None
        if facts is None:
            return None
        settings = find_table(facts, "settings")
        steps, step = find_whole(settings, "iterations") or 0, find_whole(facts, "step") or 0
        step += find_whole(find_table(facts, "early"), "steps_saved") or 0
        if steps < 1:
            return None
        present, written = self.present, datetime.fromtimestamp(path.stat().st_mtime).astimezone()
        is_kept = present is not None and present.baked >= written
        preset = facts.get("preset")
        return Interrupted(
            path,
            min(1.0, step / steps),
            preset if isinstance(preset, str) else "",
            dict(settings),
            find_number(facts, "time_limit") or 0.0,
            is_kept and present is not None and present.stopped_by == "request",
            _first_texts(facts.get("live")),
        )


def _first_texts(found: Any) -> tuple[str, ...]:
    """The live inputs of the first material of a bake."""
    first = found[0] if isinstance(found, list) and found else ()
    return tuple(map(str, first)) if isinstance(first, list) else ()
