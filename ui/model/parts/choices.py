"""What an artist has chosen for a bake in the panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from verdigris.core.baking.bake_request import BakeRequest, options_of
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.changes import changes_to
from verdigris.core.settings.presets import Kind

_SETTINGS = {each.name for each in fields(BakeSettings)}
# The worker gets a map and live inputs with commands of their own.
_NOT_CHOSEN = {"changes", "importance", "live"}


@dataclass(frozen=True)
class BakeChoices:
    """The artist's choices. What nobody chose is that of the preset.

    A choice is also an attribute: `choices.preset` of the request, or `choices.resolution` of its
    changes, and None without one.
    """

    request: BakeRequest = field(default_factory=BakeRequest)
    """What a bake is asked for, without importance map and live inputs."""

    folder: str = ""
    """The folder of the results, perhaps relative to the scene. The default is the folder 'neural'
    next to the scene."""

    live: tuple[str, ...] = ()
    """Inputs of the material that stay open, as `bake --live` takes them. Each material has its
    own."""

    def __getattr__(self, name: str) -> Any:
        if name in _SETTINGS:
            return self.request.changes.get(name)
        if name in options_of():
            return getattr(self.request, name)
        raise AttributeError(name)

    def settings(self, trainer: str, is_constant: bool = False) -> BakeSettings:
        """The settings of a bake with this trainer. Widgets ask for them at each change."""
        recipe = self.request.recipe(trainer, live=len(self.live))
        return recipe[Kind.CONSTANT] if is_constant else recipe.largest

    def request_for(self, settings: Mapping[str, Any] | None) -> BakeRequest:
        """The request of a bake. `settings` are those of an interrupted bake that goes on."""
        if settings is None:
            return self.request
        return replace(self.request, changes=changes_to(settings))

    def with_values(self, values: Mapping[str, Any]) -> BakeChoices:
        """The choices with other values by name, of which 0, an empty text and None are none.
        Unknown names are ignored."""
        folder, live = values.get("folder", self.folder), values.get("live", self.live)
        request = values.get("request", self.request)
        asked = {
            name: values[name] or None for name in {*options_of()} - _NOT_CHOSEN if name in values
        }
        settings = {name: values[name] for name in _SETTINGS if name in values}
        changes = {
            name: value
            for name, value in {**request.changes, **settings}.items()
            if value is not None
        }
        return BakeChoices(replace(request, **asked, changes=changes), folder, tuple(live))

    def as_json(self) -> dict[str, Any]:
        """What is chosen, by name; `with_values` takes it."""
        asked = self.request.as_json()
        changes = asked.pop("changes", {})
        return {**asked, **changes, "folder": self.folder, "live": [*self.live]}
