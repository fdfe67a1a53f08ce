"""Presets of the artist's own: choices under a name, each a file in the folder of settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.errors import SettingsError, VerdigrisError, reason
from verdigris.core.base.files import make_folders, rename_file
from verdigris.core.base.json_fields import Fields, load_json
from verdigris.core.base.outputs import write_file
from verdigris.core.base.process.worker_environment import settings_file
from verdigris.core.base.text import why_invalid_file_name
from verdigris.core.settings.presets import PRESETS
from verdigris.ui.model.parts.choices import BakeChoices
from verdigris.ui.signals import Signal

SUFFIX = ".vdpreset"
_KIND, _VERSION = "verdigris preset", 1
# These belong to one bake, to one scene and to one material.
_NOT_STORED = ("resume", "folder", "live")
_DELETED = ".deleted"
_LARGEST, _MOST, _LONGEST_NAME = 1 << 16, 64, 40


@dataclass(frozen=True)
class OwnPreset:
    """Choices under a name."""

    name: str
    choices: BakeChoices

    def applied_to(self, choices: BakeChoices) -> BakeChoices:
        """The choices of the preset, with the folder of others."""
        kept = {name: getattr(choices, name) for name in _NOT_STORED}
        return self.choices.with_values(kept)

    @property
    def text(self) -> str:
        """The differences from the preset that it is based on, in a few words."""
        own = self.choices
        parts = [
            own.preset or "default",
            f"{own.resolution} px" if own.resolution else "",
            own.network or "",
            f"{own.iterations:,} steps" if own.iterations else "",
            own.target or "",
            f"{own.time_limit:g} s" if own.time_limit else "",
        ]
        return ", ".join(part for part in parts if part)


class OwnPresets:
    """The files in a folder. Every change is a whole file or a rename."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self.all: tuple[OwnPreset, ...] = ()
        self.deleted: Path | None = None
        """The preset that was deleted last, until it is brought back."""
        self.changed = Signal()

    @property
    def folder(self) -> Path:
        return self._folder or settings_file().parent / "presets"

    def refresh(self) -> None:
        """Reads all files. Damaged ones are left out."""
        found = []
        try:
            files = sorted(self.folder.glob(f"*{SUFFIX}"), key=lambda each: each.name.lower())
        except OSError:
            files = []
        for file in files[:_MOST]:
            try:
                found.append(read_preset(file))
            except VerdigrisError:
                continue
        self.all = tuple(found)
        self.changed.emit()

    def find(self, name: str) -> OwnPreset | None:
        return next((each for each in self.all if each.name == name), None)

    def save(self, name: str, choices: BakeChoices) -> OwnPreset:
        """Keeps choices under a name. A preset with this name is replaced."""
        name = " ".join(name.split())
        problem = why_invalid_file_name(name)
        if not problem and len(name) > _LONGEST_NAME:
            problem = f"the name {name!r} has {len(name)} letters: use {_LONGEST_NAME} at most"
        if not problem and name.lower() in PRESETS["numpy"]:
            problem = f"the name {name!r} belongs to a preset of Verdigris: choose another"
        if problem:
            raise SettingsError(problem)
        found = OwnPreset(name, choices.with_values({"resume": False, "folder": "", "live": ()}))
        self._write(self._file(name), found)
        self.refresh()
        return found

    def delete(self, preset: OwnPreset) -> None:
        """Puts a preset aside. `undelete` brings it back."""
        file = self._file(preset.name)
        aside = file.with_name(file.name + _DELETED)
        before, self.deleted = self.deleted, aside
        try:
            self._rename(file, aside)
        except SettingsError:
            self.deleted = before
            raise

    def undelete(self) -> None:
        if self.deleted is not None:
            aside, self.deleted = self.deleted, None
            self._rename(aside, aside.with_name(aside.name.removesuffix(_DELETED)))

    def export(self, preset: OwnPreset, file: Path) -> None:
        self._write(file, preset)

    def take(self, file: Path) -> OwnPreset:
        """Keeps the preset in a file, under its name."""
        found = read_preset(file)
        return self.save(found.name, found.choices)

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}{SUFFIX}"

    def _rename(self, file: Path, target: Path) -> None:
        try:
            rename_file(file, target)
        except OSError as failure:
            raise SettingsError(
                f"{file}: cannot be renamed ({reason(failure)}): close programs that use it"
            ) from None
        self.refresh()

    def _write(self, file: Path, preset: OwnPreset) -> None:
        chosen = preset.choices.as_json().items()
        stored = {name: value for name, value in chosen if name not in _NOT_STORED}
        content = {"kind": _KIND, "version": _VERSION, "name": preset.name, "choices": stored}
        try:
            make_folders(file.parent)
        except OSError as failure:
            raise SettingsError(
                f"{file.parent}: the folder cannot be made ({reason(failure)}): choose another"
            ) from None
        write_file(file, (json.dumps(content, indent=1) + "\n").encode())


def read_preset(file: Path) -> OwnPreset:
    """The preset in a file. Wrong choices are refused here."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_LARGEST)
    except OSError as failure:
        raise SettingsError(f"{file}: cannot be read ({reason(failure)}): choose another") from None
    content = load_json(data, str(file), SettingsError)
    if not isinstance(content, dict) or content.get("kind") != _KIND:
        raise SettingsError(f"{file}: is not a preset of Verdigris: choose a file {SUFFIX}")
    values = content.get("choices")
    try:
        choices = BakeChoices().with_values(values if isinstance(values, dict) else {})
        choices.settings("numpy")
        BakeRequest.from_json(Fields("choices", "", choices.request.as_json(), SettingsError))
    except (VerdigrisError, TypeError, ValueError) as failure:
        raise SettingsError(f"{file}: its choices are not usable ({failure}): save it again") from (
            None
        )
    name = content.get("name")
    return OwnPreset(name if isinstance(name, str) and name else file.stem, choices)
