"""The heights of a material that displaces its surface, by uv: evaluated as the emission of another
document (normalise/heights.py)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import DocumentError
from verdigris.core.base.kernels import Source
from verdigris.core.base.process.profile import profiled
from verdigris.core.material.load.displaced import height_document
from verdigris.core.material.shader.trial_result import ShaderTrial
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.material.teacher.unlit_maps import average, levels

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats
    from verdigris.core.material.evaluator import Frames

# Heights of at least this size are not finite: the kernel limits values to the largest single
# float, which also replaces NaN.
_LARGEST = 1e30
_PLACES_A_SIDE = 2
_SMALLEST = 32
# Mean error of a coarser map, as a part of the range of heights.
_MOST_CHANGE = 1 / 300


@dataclass(frozen=True)
class Heights:
    """Heights over the unit square."""

    values: Floats
    """In world units, [height, width]; row 0 is at v = 0.5 / height."""
    not_finite: float = 0.0
    """The share of places whose height is NaN or infinite; they count as 0."""


class _HeightTeacher(Teacher):
    """Evaluates heights as emission, without limits."""

    places = not_finite = 0

    def _tried(self) -> ShaderTrial:
        name = f"{self.source.name}_raw"
        self.kernels = self.device.material_kernels(name)
        self.source = Source(name, f"#define VERDIGRIS_RAW 1\n{self.source.text}")
        return ShaderTrial()

    def unlit(
        self, uv: Floats, wo: Floats, frames: Frames | None = None, live: Floats | None = None
    ) -> Floats:
        found = super().unlit(uv, wo, frames, live)
        self.places += len(uv)
        self.not_finite += clear_wrong(found[:, :1])
        return found


def clear_wrong(heights: Floats) -> int:
    """Makes 0 of evaluated heights (N, 1) that are NaN or infinite. Returns their number."""
    is_wrong = ~(np.abs(heights) < _LARGEST)
    heights[is_wrong] = 0
    return int(is_wrong.sum())


def height_teacher(teacher: Teacher, has_atlas: bool = True) -> _HeightTeacher | None:
    """What emits the heights of a material; None if it does not displace its surface. Raises
    VerdigrisError if something behind the displacement is wrong."""
    found = height_document(teacher.document, teacher.material)
    if found is None:
        return None
    other = _HeightTeacher(*found, teacher.device, teacher.mesh, has_atlas=has_atlas)
    own, tiles = other.tiles, teacher.tiles
    if own == tiles:
        return other
    if tiles is None or not (own is None or tiles.contains(own)):
        raise DocumentError(
            f"{teacher.document.name}: its displacement has UDIM tiles that its surface does not "
            "have: give the images of both the same tiles"
        )
    return _HeightTeacher(*found, teacher.device, teacher.mesh, tiles=tiles)


def find_heights(teacher: Teacher, most: int) -> Heights | None:
    """The heights of a material, with as few texels a side as they need and at most `most`, a power
    of two; None if it does not displace its surface. Raises VerdigrisError if something behind the
    displacement is wrong."""
    found = heights_at(teacher, most, most)
    return replace(found, values=_as_small_as_needed(found.values)) if found else None


@profiled("heights")
def heights_at(teacher: Teacher, width: int, height: int) -> Heights | None:
    """The same with this many texels."""
    other = height_teacher(teacher)
    if other is None:
        return None
    values = average(other, width, height, _PLACES_A_SIDE)[..., 0]
    return Heights(values, other.not_finite / max(1, other.places))


def _as_small_as_needed(finest: Floats) -> Floats:
    """The coarsest level that looks like the finest."""
    chosen, most = finest, _MOST_CHANGE * float(np.ptp(finest))
    for level in levels(finest)[1:]:
        if len(level) < _SMALLEST or np.abs(_enlarged(level, len(finest)) - finest).mean() > most:
            break
        chosen = level
    return chosen


def _enlarged(level: Floats, size: int) -> Floats:
    """Bilinear values of a map that wraps, at the centres of `size` texels a side."""
    found = level
    for axis in (0, 1):
        place = (np.arange(size) + 0.5) * len(level) / size - 0.5
        first = np.floor(place).astype(int)
        part = (place - first).reshape((-1, 1) if axis == 0 else (1, -1)).astype(np.float32)
        one, other = (np.take(found, (first + each) % len(level), axis) for each in (0, 1))
        found = one * (1 - part) + other * part
    return found
