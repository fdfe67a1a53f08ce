"""Remembers sizes and last choices from one session to the next."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

from verdigris.ui.choices import Choices

_ORGANISATION, _APPLICATION = "Verdigris", "panel"
# A checkpoint is of one bake, and a folder of one scene.
_NOT_KEPT = ("resume", "folder")


class Memory:
    """A few values in the place where the desktop keeps settings."""

    def __init__(self, settings: QSettings | None = None) -> None:
        self._settings = settings or QSettings(_ORGANISATION, _APPLICATION)

    def choices(self) -> Choices:
        """The last ones, or the first ones where those cannot be read."""
        kept = self._read_json("choices")
        try:
            return Choices().with_values(kept)
        except (TypeError, ValueError):
            return Choices()

    def keep_choices(self, choices: Choices) -> None:
        kept = {name: value for name, value in asdict(choices).items() if name not in _NOT_KEPT}
        self._settings.setValue("choices", json.dumps(kept))

    def text(self, name: str, default: str) -> str:
        value = self._settings.value(name)
        return value if isinstance(value, str) else default

    def keep_text(self, name: str, value: str) -> None:
        self._settings.setValue(name, value)

    def layout(self, name: str) -> QByteArray | None:
        value = self._settings.value(name)
        return value if isinstance(value, QByteArray) else None

    def keep_layout(self, name: str, value: QByteArray) -> None:
        self._settings.setValue(name, value)

    def _read_json(self, name: str) -> dict[str, Any]:
        try:
            found = json.loads(str(self._settings.value(name) or "{}"))
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}
