"""What the artist chooses of a bake in the panel."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import default_preset, require_settings
from verdigris.core.worker.protocol.commands import Start

_OF_THE_BAKE = tuple(field.name for field in fields(BakeSettings))


@dataclass(frozen=True)
class Choices:
    """None takes what the preset says."""

    preset: str = ""
    """draft to look, standard to use, final to ship. Without a choice, what suits the device."""

    resolution: int | None = None
    network: str | None = None
    activation: str | None = None
    iterations: int | None = None
    batch: int | None = None
    candidates: int | None = None
    seed: int | None = None

    target_error: float = 0.0
    """Stop by itself when the error on held-out samples is below this; 0 for never."""

    time_limit: float = 0.0
    """Seconds that the training is fitted into; 0 for no limit."""

    folder: str = ""
    """Where the result goes. Without a choice, a folder 'neural' next to the scene."""

    viewport_textures: bool = False
    """Also fit plain textures to the material, for a viewport that cannot show the result: a
    material of them is made in the scene."""

    resume: bool = False
    """Go on from the last checkpoint in the folder, if there is one of the same bake."""

    def changes(self) -> dict[str, Any]:
        """Fields of BakeSettings that are not the preset's."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name in _OF_THE_BAKE and value is not None
        }

    def settings(self, trainer: str) -> BakeSettings:
        """What a bake by this trainer begins with."""
        preset = require_settings(self.preset or default_preset(trainer), trainer)
        return preset.changed(self.changes())

    def start(self, folder: str, name: str = "") -> Start:
        """The command that begins a bake, and the name of its result."""
        return Start(
            folder=folder,
            name=name,
            preset=self.preset,
            changes=self.changes(),
            resume=self.resume,
            time_limit=self.time_limit,
            target_error=self.target_error,
            viewport_textures=self.viewport_textures,
        )

    def with_values(self, values: dict[str, Any]) -> Choices:
        """Some fields changed; what is not of this version is left out."""
        known = {field.name for field in fields(self)}
        return replace(self, **{name: value for name, value in values.items() if name in known})
