"""Settings by kind of material: what a preset is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from verdigris.core.settings.bake_settings import BakeSettings


class Kind(Enum):
    """What a material demands of a bake."""

    CONSTANT = "constant"
    """The response is the same at every place."""
    SMOOTH = "smooth"
    """Texels have hardly any detail inside."""
    DETAILED = "detailed"
    """Texels have detail inside, which samples must average."""
    DENSE = "dense"
    """All texels have much detail inside: nothing is sharp."""


@dataclass(frozen=True)
class Recipe:
    """Settings for each kind of material."""

    by_kind: Mapping[Kind, BakeSettings]

    def __getitem__(self, kind: Kind) -> BakeSettings:
        return self.by_kind[kind]

    @property
    def largest(self) -> BakeSettings:
        """Settings of the most demanding kind: an upper bound of memory, time and bytes."""
        return self[Kind.DETAILED]

    @property
    def is_one_for_all(self) -> bool:
        """Whether all kinds have the same settings."""
        return all(settings == self.largest for settings in self.by_kind.values())

    @classmethod
    def of(cls, settings: BakeSettings | Recipe) -> Recipe:
        """These settings for every kind; a recipe as it is."""
        if isinstance(settings, Recipe):
            return settings
        return cls(dict.fromkeys(Kind, settings))

    def map(self, change: Callable[[BakeSettings], BakeSettings]) -> Recipe:
        """With the settings of every kind changed."""
        return Recipe({kind: change(each) for kind, each in self.by_kind.items()})

    def changed(self, changes: Mapping[str, Any]) -> Recipe:
        """With other values of some fields, which apply to every kind."""
        return self.map(lambda settings: settings.changed(changes))

    def to_json(self) -> dict[str, Any]:
        return {kind.value: settings.to_json() for kind, settings in self.by_kind.items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Recipe:
        return cls({kind: BakeSettings.from_json(values[kind.value]) for kind in Kind})

    def text(self) -> str:
        """The same text for equal recipes."""
        return json.dumps(self.to_json(), sort_keys=True)
