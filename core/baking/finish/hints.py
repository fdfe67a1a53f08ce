"""Hints for the artist: what would make a result better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.baking.measure.measure import detail_below_texels
from verdigris.core.settings.limits import LARGEST_RESOLUTION
from verdigris.core.settings.recipe import Kind

if TYPE_CHECKING:
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.settings.bake_settings import BakeSettings

DETAIL_IS_LOST = "detail finer than a texel is averaged"
# Variation of light within a texel that nobody sees.
_LEAST_DETAIL = 4e-3
# A finer texture pays if it leaves less than this part of the variation.
_MOST_LEFT = 0.8


def hint_of(teacher: DeviceMaterial, kind: Kind, settings: BakeSettings) -> str:
    """A line about the resolution, or an empty text."""
    resolution = settings.resolution
    if kind is Kind.CONSTANT:
        return (
            "the material is constant: it has the same response at every place, so a texture of "
            f"{resolution} x {resolution} texels holds all of it"
        )
    finer = 2 * resolution
    if finer > LARGEST_RESOLUTION:
        return ""
    detail = detail_below_texels(teacher, resolution)
    if detail < _LEAST_DETAIL:
        return ""
    left = detail_below_texels(teacher, finer)
    if left > _MOST_LEFT * detail:
        return ""
    return (
        f"{DETAIL_IS_LOST}: light varies by {100 * detail:.1f}% within one, "
        f"and by {100 * left:.1f}% at a resolution of {finer}"
    )
