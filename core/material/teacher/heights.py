"""The heights of a material that displaces its surface, by uv: evaluated as the emission of another
document (normalise/heights.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import DocumentError
from verdigris.core.base.kernels import Source
from verdigris.core.base.process.profile import profiled
from verdigris.core.material.domain import height_range
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
# Heights that span more, in widths of uv, are probably in other units.
_LARGEST_RANGE = 1.0
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
    not_finite_texels: Mapping[Path, int] = field(default_factory=dict)
    """By image, the number of texels that are NaN or infinite. They read as 0."""

    @property
    def notes(self) -> tuple[str, ...]:
        """For the user, one line each."""
        range_ = height_range(self.values)
        return notes_on_heights(self.not_finite, *range_, self.not_finite_texels)


def notes_on_heights(
    not_finite: float,
    lowest: float,
    scale: float,
    texels: Mapping[Path, int] = MappingProxyType({}),
) -> tuple[str, ...]:
    """What is to be said of heights from `lowest` to `lowest + scale`, of which a share, or texels
    of images, were not finite."""
    notes = [
        f"{count} texels of {path.name}, which the displacement reads, are not finite: they are 0"
        for path, count in texels.items()
    ]
    if not_finite:
        notes.append(
            f"the displacement is not finite at {100 * not_finite:.3g}% of the surface, and "
            "counts as 0 there: look for divisions by zero"
        )
    if not scale and lowest:
        notes.append(
            f"the displacement is {lowest:.3g} everywhere and left out: move the mesh instead"
        )
    elif scale > _LARGEST_RANGE:
        notes.append(
            f"the displacement spans {scale:.3g} times the width of uv, if that is 1 unit "
            "wide: relief shows its highest places only; check its scale"
        )
    return tuple(notes)


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
    not_finite = other.not_finite / max(1, other.places)
    return Heights(values, not_finite, other.non_finite_texels)


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
