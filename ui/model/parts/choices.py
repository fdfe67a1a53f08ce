"""The settings of a bake that the panel offers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any

from verdigris.core.baking.bake_request import BakeRequest, options_of
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import Kind

_BAKE_FIELDS = tuple(field.name for field in fields(BakeSettings))


@dataclass(frozen=True)
class BakeChoices:
    """The artist's choices. None keeps the value of the preset."""

    preset: str = ""
    """draft for a first look, standard for use, final for shipping. The default depends on the
    device."""

    resolution: int | None = None
    network: str | None = None
    activation: str | None = None
    iterations: int | None = None
    batch: int | None = None
    starts: int | None = None
    seed: int | None = None

    target_error: float = 0.0
    """Training stops when the error on held-out samples falls below this value. 0 turns this
    off."""

    target: str = ""
    """Training stops when the result is good or very good: a key of TARGETS of the verdict. By
    default when nobody sees a difference."""

    time_limit: float = 0.0
    """The training time in seconds. The schedule is fitted into it. 0 sets no limit."""

    folder: str = ""
    """The folder of the result. The default is the folder 'neural' next to the scene."""

    viewport_textures: bool = False
    """Also fits plain textures, for viewports that cannot show a neural material. In Maya and
    Houdini, a material with these textures is added to the scene."""

    live: tuple[str, ...] = ()
    """Inputs of the material that stay open, as `bake --live` takes them. Each material has its
    own."""

    resume: bool = False
    """Continues from the last checkpoint in the folder, if there is one of the same bake."""

    def changes(self) -> dict[str, Any]:
        """The fields of BakeSettings that differ from the preset."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name in _BAKE_FIELDS and value is not None
        }

    @lru_cache(maxsize=32)  # noqa: B019 - choices are small, and few
    def settings(self, trainer: str, is_constant: bool = False) -> BakeSettings:
        """The settings of a bake with this trainer. Widgets ask for them at each change."""
        recipe = self.request().recipe(trainer, live=len(self.live))
        return recipe[Kind.CONSTANT] if is_constant else recipe.largest

    def request(self) -> BakeRequest:
        """What these choices ask of a bake. Live inputs are opened with the material."""
        names = {*options_of()} & {*asdict(self)} - {"live"}
        asked = {name: value for name in names if (value := getattr(self, name))}
        return BakeRequest(**asked, changes=self.changes())

    def with_values(self, values: dict[str, Any]) -> BakeChoices:
        """The choices with some fields changed. Unknown names are ignored."""
        known = {field.name for field in fields(self)}
        return replace(self, **{name: value for name, value in values.items() if name in known})
