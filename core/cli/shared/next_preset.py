"""Recommends the preset that takes longer, with its time on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.text import format_range
from verdigris.core.batch.plan.estimate import Estimate
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.recipe import Kind, Recipe

# A bake takes up to so many times longer or shorter than another one of this machine shows.
_SPREAD = 1.3


def recommend(
    preset: str, following: str, read_recipe: Callable[[], Recipe], source: Mapping[str, Any]
) -> str:
    """A line about the preset `following`, whose settings are read only now: it may not allow the
    changes of the bake, and then the line is empty. `source` is that section of the manifest of a
    bundle by `preset`: its bake shows how fast this machine is. Whole bakes are compared, as steps
    take a small part of a short one."""
    try:
        settings = read_recipe()[Kind(source["kind"])]
    except SettingsError:
        return ""
    trainer, estimate = str(source["trainer"]), Estimate()
    done = replace(BakeSettings.from_json(source["settings"]), iterations=max(1, source["step"]))
    slowness = estimate.seconds(done, trainer, source["seconds"])
    slowness /= estimate.seconds(done, trainer, None)
    seconds = slowness * estimate.seconds(settings, trainer, None)
    time = format_range(seconds / _SPREAD, seconds * _SPREAD)
    line = f"--preset {following} takes {time} here, and comes closer"
    return f"a draft is for a first look: {line}" if preset == "draft" else line
