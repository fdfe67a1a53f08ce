"""Keeps window sizes and choices from one session to the next."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.json_fields import find_json
from verdigris.core.geometry.shapes import SHAPES
from verdigris.core.hosts.own_files import OwnFile
from verdigris.core.lighting.environment import ENVIRONMENTS, STUDIO
from verdigris.core.pictures.view import View
from verdigris.core.worker.protocol.commands import SetView
from verdigris.ui.model.parts.choices import BakeChoices

_ORGANISATION, _APPLICATION = "Verdigris", "panel"
# These belong to one bake, to one scene and to one material, or have no control in the panel.
_NOT_STORED = ("resume", "folder", "live", "activation", "batch", "starts")
# What of a view is stored besides its shape and its light.
_LOOK = ("tone", "backdrop", "ground", "blur", "field_of_view")
_MOST_RECENT = 8
_MOST_LIVING = 200
# scene, key, file, and the material in it
_ROW = [str] * 4


class Memory:
    """Values in the settings store of the desktop."""

    def __init__(self, settings: QSettings | None = None) -> None:
        self._settings = settings or QSettings(_ORGANISATION, _APPLICATION)

    def choices(self) -> BakeChoices:
        """The stored choices. Unreadable ones give the defaults."""
        stored = self._read_json("choices")
        try:
            return BakeChoices().with_values(stored)
        except (TypeError, ValueError, VerdigrisError):
            return BakeChoices()

    def store_choices(self, choices: BakeChoices) -> None:
        chosen = choices.as_json().items()
        stored = {name: value for name, value in chosen if name not in _NOT_STORED}
        self._settings.setValue("choices", json.dumps(stored))

    def outcomes(self) -> list[Any]:
        """Times of earlier bakes, for predictions."""
        found = self._read_json("outcomes").get("bakes")
        return found if isinstance(found, list) else []

    def store_outcomes(self, outcomes: list[list[Any]]) -> None:
        self._settings.setValue("outcomes", json.dumps({"bakes": outcomes}))

    def live(self) -> dict[str, tuple[str, ...]]:
        """Live inputs of materials by their identities, the last material at the end."""
        found = self._read_json("live")
        return {
            name: tuple(map(str, texts)) for name, texts in found.items() if isinstance(texts, list)
        }

    def store_live(self, live: Mapping[str, Sequence[str]]) -> None:
        last = [*live.items()][-_MOST_LIVING:]
        self._settings.setValue("live", json.dumps({name: [*texts] for name, texts in last}))

    def own_files(self) -> dict[tuple[str, str], OwnFile]:
        """Files that are read in place of materials, by scene and key, the last one at the end."""
        found = self._read_json("own_files").get("files")
        rows = found if isinstance(found, list) else []
        known = [each for each in rows if isinstance(each, list) and list(map(type, each)) == _ROW]
        return {(scene, key): OwnFile(Path(path), material) for scene, key, path, material in known}

    def store_own_files(self, files: Mapping[tuple[str, str], OwnFile]) -> None:
        rows = [[*place, str(own.path), own.material] for place, own in files.items()]
        self._settings.setValue("own_files", json.dumps({"files": rows[-_MOST_LIVING:]}))

    def recent(self) -> list[Path]:
        """Documents that were open before and still exist, the last one first."""
        found = self._read_json("recent").get("files")
        listed = found if isinstance(found, list) else []
        paths = [Path(each) for each in listed if isinstance(each, str)]
        return [path for path in paths if _is_file(path)][:_MOST_RECENT]

    def add_recent(self, path: Path) -> None:
        paths = [path, *(each for each in self.recent() if each != path)][:_MOST_RECENT]
        self._settings.setValue("recent", json.dumps({"files": [str(each) for each in paths]}))

    def forget_recent(self, path: Path) -> None:
        paths = [each for each in self.recent() if each != path]
        self._settings.setValue("recent", json.dumps({"files": [str(each) for each in paths]}))

    def note_bundle(self, document: Path, bundle: Path) -> None:
        """Keeps the path of a document's last result, for its picture in lists."""
        known = self._read_json("bundles")
        recent = {str(each) for each in self.recent()}
        kept = {name: where for name, where in known.items() if name in recent}
        self._settings.setValue("bundles", json.dumps({**kept, str(document): str(bundle)}))

    def bundle_of(self, document: Path) -> Path | None:
        found = self._read_json("bundles").get(str(document))
        return Path(found) if isinstance(found, str) else None

    def view(self) -> dict[str, Any]:
        """The shape, the light and the look of the last view."""
        shape, light = self.text("shape", "sphere"), self.text("light", STUDIO)
        look = {name: value for name, value in self._read_json("look").items() if name in _LOOK}
        try:
            SetView(**look)
        except (TypeError, ValueError, VerdigrisError):
            look = {}
        return {
            "shape": shape if shape in ("sphere", "plane", *SHAPES) else "sphere",
            # a file may be gone
            "lit_by": light if light in ENVIRONMENTS else STUDIO,
            **look,
        }

    def store_view(self, view: View) -> None:
        self.store_text("shape", view.shape)
        self.store_text("light", view.lit_by)
        look = {name: getattr(view, name) for name in _LOOK}
        self._settings.setValue("look", json.dumps(look))

    def text(self, name: str, default: str) -> str:
        value = self._settings.value(name)
        return value if isinstance(value, str) else default

    def store_text(self, name: str, value: str) -> None:
        self._settings.setValue(name, value)

    def layout(self, name: str) -> QByteArray | None:
        value = self._settings.value(name)
        return value if isinstance(value, QByteArray) else None

    def store_layout(self, name: str, value: QByteArray) -> None:
        self._settings.setValue(name, value)

    def _read_json(self, name: str) -> dict[str, Any]:
        found = find_json(str(self._settings.value(name) or "{}"))
        return found if isinstance(found, dict) else {}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        # a name that no system allows
        return False
