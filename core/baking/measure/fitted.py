"""Fits settings to the materials: how many texels they need, and how many places of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verdigris.core.baking.measure.measure import detail_below_texels
from verdigris.core.baking.measure.same_everywhere import is_same_everywhere

if TYPE_CHECKING:
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.bake_settings import BakeSettings

# Mean log difference inside a texel -> places that are averaged.
_PLACES_FOR_DETAIL = ((3e-4, 1), (1e-3, 2), (float("inf"), 8))
# The same of a texture that is everywhere finer than its texels.
_CROWDED = 6e-3


def with_texels(teachers: Sequence[Teacher], settings: BakeSettings) -> BakeSettings:
    """Takes few texels for a material that is the same everywhere: each then learns from all
    samples, and what is loaded is next to nothing."""
    few, asked = settings.uniform_resolution, settings.resolution
    if not few or few >= asked or not all(is_same_everywhere(each, asked) for each in teachers):
        return settings
    return settings.with_few_texels(few)


def with_places(teachers: Sequence[Teacher], settings: BakeSettings) -> BakeSettings:
    """Averages more places of a texel where the material has detail that is smaller."""
    if settings.draw.finest_places:
        return settings
    details = [detail_below_texels(teacher, settings.resolution) for teacher in teachers]
    wanted = next(places for limit, places in _PLACES_FOR_DETAIL if max(details) < limit)
    return settings.with_places(min(wanted, settings.most_places), min(details) > _CROWDED)
