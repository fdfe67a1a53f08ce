"""The height map of a material, with what is to be said about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.geometry.height_map import HeightMap, make_height_map
from verdigris.core.material.teacher.heights import find_heights

if TYPE_CHECKING:
    from verdigris.core.material.teacher.teacher import Teacher

# Texels a side of a map for pictures, and limits of those for bundles.
PICTURE_TEXELS = 1024
_FEWEST, _MOST = 512, 2048
_LEAST = 32
# With mip levels.
_TEXEL_BYTES = 4 * 4 / 3


class TeacherRelief(NamedTuple):
    """Heights of a material, if it displaces its surface."""

    heights: HeightMap | None
    notes: tuple[str, ...] = ()
    """For the user, one line each."""
    is_lost: bool = False
    """Whether the heights cannot be evaluated."""


def relief_texels(resolution: int, most_bytes: int = 0) -> int:
    """The most texels a side of a height map beside latents with this resolution. It takes at most
    half of a limit of bytes."""
    texels = min(_MOST, max(_FEWEST, 2 * resolution))
    while most_bytes and texels > _LEAST and texels**2 * _TEXEL_BYTES > most_bytes / 2:
        texels //= 2
    return texels


def find_relief(teacher: Teacher, most: int = PICTURE_TEXELS) -> TeacherRelief:
    """The height map of a material, with at most this many texels a side."""
    try:
        found = find_heights(teacher, most)
    except VerdigrisError as failure:
        return TeacherRelief(None, (f"the displacement is left out: {failure}",), is_lost=True)
    if found is None:
        return TeacherRelief(None)
    return TeacherRelief(make_height_map(found.values), found.notes)
