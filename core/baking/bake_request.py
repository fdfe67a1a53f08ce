"""What somebody asks of a bake: one type for command, API, panel, scenes, farms and hosts.

A field that is None is not asked for. So a rule of a scene is also a request, which `over` lays
over another one. An empty value asks for the default. CONTRIBUTING.md lists what a new field needs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.json_fields import Fields
from verdigris.core.base.plain_values import require_text
from verdigris.core.material.live_inputs.live_input import WantedInput, parse_all_wanted
from verdigris.core.pictures.compare.verdict import require_target
from verdigris.core.settings.bake_settings import TRAINERS
from verdigris.core.settings.changes import check_changes, merge_changes, write_changes
from verdigris.core.settings.draw_settings import names_table, read_directions
from verdigris.core.settings.presets import (
    Recipe,
    default_preset,
    for_live_inputs,
    for_materials,
    require_recipe,
    require_trainer,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Form:
    """How values of a field are read from JSON, and written as JSON and on a command line."""

    read: Callable[[Fields, str], Any]
    as_json: Callable[[Any], Any]
    as_words: Callable[[Any], list[str]]
    """The value behind each repetition of the option."""


def _text(check: Callable[[str], str] = str) -> Form:
    def read(found: Fields, name: str) -> str:
        text: str = found.typed(name, str)
        return check(text) if text else text

    return Form(read, str, lambda text: [text])


def _preset(name: str) -> str:
    require_recipe(name, TRAINERS[0])
    return name


def _changes(found: Fields, name: str) -> dict[str, Any]:
    changes: dict[str, Any] = found.typed(name, dict)
    check_changes(changes)
    return changes


def _inputs_as_texts(inputs: tuple[WantedInput, ...]) -> list[str]:
    return [*map(str, inputs)]


TEXT = _text()
FILE = Form(lambda found, name: found.typed(name, str), os.fspath, lambda file: [str(file)])
FLAG = Form(lambda found, name: found.typed(name, bool), bool, lambda _: [])
POSITIVE = Form(Fields.find_positive, float, lambda number: [f"{number:.9g}"])
NUMBER = Form(Fields.number, float, lambda number: [f"{number:.9g}"])
CHANGES = Form(_changes, dict, write_changes)
INPUTS = Form(
    lambda found, name: parse_all_wanted(found.texts(name)), _inputs_as_texts, _inputs_as_texts
)


@dataclass(frozen=True)
class Option:
    """How a field of a request can be asked for."""

    form: Form
    word: str
    """The option of `verdigris bake`."""
    help: str = ""
    in_scenes: str = ""
    """Its name in scene files; empty if scenes do not offer it."""
    in_hosts: bool = False
    """Whether batch programs of hosts have the same option."""
    is_recorded: bool = False
    """Whether manifests record it. A bundle is stale after a change."""


def _asked(form: Form, word: str, help: str = "", **ways: Any) -> dict[str, Option]:
    return {"option": Option(form, word, help, **ways)}


@dataclass(frozen=True, kw_only=True)
class BakeRequest:
    """What somebody asks of a bake, whatever the material and the device are."""

    preset: str | None = field(
        default=None,
        metadata=_asked(
            _text(_preset),
            "--preset",
            "draft, standard or final. Default: draft on a CPU, standard on a GPU.",
            in_scenes="preset",
            in_hosts=True,
        ),
    )
    """By default the preset of the device."""

    changes: Mapping[str, Any] = field(
        default_factory=dict,
        metadata=_asked(
            CHANGES,
            "--set",
            "Change a setting of the preset, such as --set network=3x64. Repeatable. An unknown "
            "NAME lists all names.",
            in_scenes="settings",
        ),
    )
    """Fields of `BakeSettings` that replace those of the preset."""

    importance: NDArray[Any] | Path | str | None = field(
        default=None,
        metadata=_asked(
            FILE,
            "--importance",
            "An importance map (an image or .npy): where to sample more. --directions weights "
            "directions.",
            in_scenes="importance",
        ),
    )
    """Relative weights of places: a file, or an array with row 0 at v = 0. By default all places
    are equal."""

    directions: str | None = field(
        default=None,
        metadata=_asked(
            TEXT,
            "--directions",
            "A direction profile, or a table of weights (.json, .npy): which directions to sample "
            "more.",
            in_scenes="directions",
        ),
    )
    """A direction profile, or the file of a table."""

    time_limit: float | None = field(
        default=None,
        metadata=_asked(
            POSITIVE,
            "--time-limit",
            "Train for at most this many seconds.",
            in_scenes="time_limit",
            in_hosts=True,
            is_recorded=True,
        ),
    )
    """Seconds of training; the number of steps is fitted to it."""

    target_error: float | None = field(
        default=None,
        metadata=_asked(
            POSITIVE,
            "--target-error",
            "Stop when the log MAE is below this value.",
            in_scenes="target_error",
            is_recorded=True,
        ),
    )
    """Training stops at this log MAE on held-out samples."""

    target: str | None = field(
        default=None,
        metadata=_asked(
            _text(require_target),
            "--target",
            "Stop when the result is good, very-good or indistinguishable. Default: "
            "indistinguishable.",
            in_scenes="target",
            in_hosts=True,
            is_recorded=True,
        ),
    )
    """Training stops when the result is this good: a key of TARGETS in
    core/pictures/compare/verdict.py."""

    live: tuple[WantedInput, ...] | None = field(
        default=None,
        metadata=_asked(
            INPUTS,
            "--live",
            "Keep an input of the graph open, such as wetness=0..1; 'inspect' lists all. @DEFAULT "
            "or :DENSITY may follow. Up to three inputs.",
            in_scenes="live",
        ),
    )
    """Inputs that stay open. If a scene does not ask for any, those of an older bundle stay open;
    an empty list closes them."""

    viewport_textures: bool | None = field(
        default=None,
        metadata=_asked(
            FLAG,
            "--viewport-textures",
            "Also write plain textures (PNG) for viewports.",
            in_scenes="viewport_textures",
            in_hosts=True,
        ),
    )
    """Whether plain textures are written beside the bundle."""

    resume: bool | None = field(
        default=None, metadata=_asked(FLAG, "--resume", "Continue from the last checkpoint.")
    )
    """Whether to continue from the checkpoint in the folder, if there is one."""

    trainer: str | None = field(default=None, metadata=_asked(_text(require_trainer), "--trainer"))
    """`tensor` or `numpy`; by default the one for the device."""

    checkpoint_seconds: float | None = field(
        default=None, metadata=_asked(NUMBER, "--checkpoint-seconds")
    )
    """Seconds between two checkpoints."""

    def __post_init__(self) -> None:
        for name in ("preset", "directions", "target", "trainer"):
            if (value := getattr(self, name)) is not None:
                require_text(value, name)

    @classmethod
    def of(cls, **values: Any) -> BakeRequest:
        """A request from keywords of a script: fields by their names, live inputs as texts, and all
        others as changes."""
        own = {name: values.pop(name) for name in options_of(cls) if name in values}
        if own.get("live"):
            for text in own["live"]:
                require_text(text, "live")
            own["live"] = parse_all_wanted(own["live"])
        return cls(**{**own, "changes": {**own.get("changes", {}), **values}})

    def over(self, base: BakeRequest) -> BakeRequest:
        """This request, with the fields of another one where this asks for nothing."""
        kept = {
            each.name: getattr(base, each.name)
            for each in fields(base)
            if getattr(self, each.name) is None
        }
        return replace(self, **kept, changes=merge_changes(base.changes, self.changes))

    def without_empty(self) -> BakeRequest:
        """The request with None in place of values that ask for the default, so that requests can
        be compared."""
        empty: dict[str, Any] = {
            name: None for name, _, value in self._given() if value is False or value == ""
        }
        return replace(self, **empty)

    def recipe(self, trainer: str, materials: int = 1, live: int | None = None) -> Recipe:
        """The settings for a trainer and so many materials that share a decoder. `live` is the
        number of live inputs, by default that of the request."""
        count = len(self.live or ()) if live is None else live
        asked = self.preset or default_preset(trainer), trainer, materials, count
        text = _text_of(self.changes)
        recipe = _cached(text, *asked) if text else _recipe(self.changes, *asked)
        if not self.directions:
            return recipe
        name, table = read_directions(self.directions)
        return recipe.changed({"draw": {"directions": name, "direction_table": table}})

    @property
    def importance_file(self) -> Path | None:
        """The file of the importance map; None without a map, or for an array."""
        if isinstance(self.importance, str | Path) and self.importance:
            return Path(self.importance)
        return None

    def absolute(self) -> BakeRequest:
        """The request with absolute paths."""
        files: dict[str, Any] = {}
        if (file := self.importance_file) is not None:
            files["importance"] = file.absolute()
        if self.directions and names_table(self.directions):
            files["directions"] = str(Path(self.directions).absolute())
        return replace(self, **files)

    def as_json(self) -> dict[str, Any]:
        """What is asked for; the inverse of `from_json`."""
        return {name: option.form.as_json(value) for name, option, value in self._given()}

    @classmethod
    def from_json(cls, found: Fields, names: Mapping[str, str] | None = None) -> BakeRequest:
        """The request among the fields of an object, by `names` where JSON has other names. Errors
        name the field, its value and the remedy."""
        values = {}
        for name, option in options_of(cls).items():
            shown = names.get(name) if names is not None else name
            if shown is None or shown not in found:
                continue
            try:
                values[name] = option.form.read(found, shown)
            except SettingsError as failure:
                where = f"{found.file}: {found.path}" if found.path else found.file
                raise found.error(f"{where}: {failure}") from None
        return cls(**values)

    def as_words(self) -> list[str]:
        """The options of `verdigris bake` that ask for the same."""
        words: list[str] = []
        for _, option, value in self._given():
            if option.form is FLAG:
                words += [option.word] if value else []
            else:
                values = option.form.as_words(value)
                words += [part for text in values if text for part in (option.word, text)]
        return words

    def _given(self) -> list[tuple[str, Option, Any]]:
        """The fields that are asked for: name, option and value."""
        found = []
        for name, option in options_of(type(self)).items():
            value = getattr(self, name)
            if value is not None and (name != "changes" or value):
                found.append((name, option, value))
        return found


def options_of(kind: type[BakeRequest] | None = None) -> dict[str, Option]:
    """The options of a request, by the names of its fields."""
    return {each.name: each.metadata["option"] for each in fields(kind or BakeRequest)}


def recorded_fields() -> tuple[str, ...]:
    """The fields that manifests record."""
    return tuple(name for name, option in options_of().items() if option.is_recorded)


def names_in_scenes() -> dict[str, str]:
    """The fields that scene files have, with their names there."""
    return {name: option.in_scenes for name, option in options_of().items() if option.in_scenes}


def _text_of(changes: Mapping[str, Any]) -> str:
    """The same text for equal changes; empty for values of scripts that JSON does not have."""
    try:
        return json.dumps(changes)
    except TypeError:
        return ""


@lru_cache(maxsize=512)
def _cached(text: str, preset: str, trainer: str, materials: int, live: int) -> Recipe:
    """cached: most materials of a scene have the same settings"""
    return _recipe(json.loads(text), preset, trainer, materials, live)


def _recipe(
    changes: Mapping[str, Any], preset: str, trainer: str, materials: int, live: int
) -> Recipe:
    recipe = for_live_inputs(require_recipe(preset, trainer, materials), live)
    return for_materials(recipe.changed(changes), materials)
