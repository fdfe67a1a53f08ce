"""Finds the displacement of a material on a mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.ladder.surface_shader.texel_points import TexelPoints
from verdigris.core.ladder.texels.displacement import DISPLACEMENT, Displacement
from verdigris.core.ladder.views.reference import emissions_at
from verdigris.core.material.domain import height_range
from verdigris.core.material.teacher.heights import clear_wrong, height_teacher, notes_on_heights

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats
    from verdigris.core.ladder.views.scene import Scene
    from verdigris.core.ladder.views.visibility import Seen


class FoundDisplacement(NamedTuple):
    """The displacement of a material, if it has one, with what is to be said about it."""

    displacement: Displacement | None
    notes: tuple[str, ...] = ()


def find_displacement(scene: Scene, size: int) -> FoundDisplacement:
    """The displacement with so many texels a side."""
    try:
        teacher = height_teacher(scene.teacher, has_atlas=False)
    except VerdigrisError as failure:
        return FoundDisplacement(None, (f"the displacement is left out: {failure}",))
    if teacher is None:
        return FoundDisplacement(None)
    wrong = 0

    def heights_at(seen: Seen) -> Floats:
        nonlocal wrong
        [found] = emissions_at(lambda: [teacher], seen)
        heights = found[:, :1].copy()
        wrong += clear_wrong(heights)
        return heights

    points = TexelPoints.evaluate(scene, size, 1, heights_at)
    every = points.of(slice(0, 1))
    if not len(every):
        return FoundDisplacement(None)
    lowest, scale = height_range(every)
    notes = notes_on_heights(wrong / len(every), lowest, scale, teacher.non_finite_texels)
    if not scale:
        return FoundDisplacement(None, notes)
    values = points.texture(slice(0, 1), lambda heights: (heights - lowest) / scale)
    tiles = f"{DISPLACEMENT}.<UDIM>.png" if scene.atlas is not None else ""
    found = Displacement(scale, -lowest / scale, values.reshape(size, size), tiles=tiles)
    return FoundDisplacement(found, notes)
