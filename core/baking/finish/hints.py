"""What would make a result better, as far as that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.baking.measure.measure import detail_below_texels
from verdigris.core.settings.limits import LARGEST_RESOLUTION

if TYPE_CHECKING:
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.bake_settings import BakeSettings

# Of the light inside of a texel: less is not seen.
_LEAST_DETAIL = 4e-3
# What halves of texels must leave of it, if more of them are to be worth their bytes.
_MOST_LEFT = 0.8


def hint_of(teacher: Teacher, settings: BakeSettings) -> str:
    """A line about texels that are coarser than the material, where finer ones help, or about a
    material that needs none; or nothing."""
    resolution = settings.resolution
    if settings.uniform_instead_of:
        asked, share = settings.uniform_instead_of, settings.uniform_share
        steps = ""
        if settings.has_whole_candidates:
            steps = f", and the best of {settings.candidates} short bakes is kept"
        elif share < 1:
            steps = f", and {share:.0%} of the steps do"
        return (
            f"the material is the same everywhere: {resolution} x {resolution} texels hold what "
            f"{asked} x {asked} would{steps}"
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
        f"detail finer than a texel is averaged: light differs by {100 * detail:.1f}% within one, "
        f"by {100 * left:.1f}% at a resolution of {finer}"
    )
