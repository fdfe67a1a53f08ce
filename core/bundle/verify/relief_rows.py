"""Rows of the height map: its extrema, and its heights against the graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.bundle.verify.rows import Row
from verdigris.core.geometry.height_map import texels_of
from verdigris.core.material.teacher.heights import heights_at
from verdigris.core.material.teacher.teacher import Teacher

if TYPE_CHECKING:
    from verdigris.core.geometry.height_map import HeightMap
    from verdigris.core.material.evaluator import DeviceMaterial

# Largest differences as parts of the range: of rounded means, and of heights on another device.
_ROUNDED, _SAME = 1e-4, 1e-3


def relief_rows(heights: HeightMap, teacher: DeviceMaterial | None) -> list[Row]:
    """Extrema must contain the surface, or marches miss it. A graph that has no heights any more
    counts as flat."""
    count = sum(level[..., 0].size for level in heights.levels)
    finest = np.rint(heights.stored() * 65535).astype(np.int64)
    wanted = replace(heights, levels=texels_of(finest))
    beyond = apart = 0.0
    for level in range(len(heights.levels)):
        (low, high), (least, most) = heights.bounds(level), wanted.bounds(level)
        beyond = max(beyond, float((low - least).max()), float((most - high).max()))
        apart = max(apart, float(np.abs(heights.stored(level) - wanted.stored(level)).max()))
    rows = [
        Row("extrema of heights", count, "largest excess", beyond, _ROUNDED),
        Row("means of heights", count, "largest", apart, _ROUNDED),
    ]
    if isinstance(teacher, Teacher):
        found = heights_at(teacher, *heights.size)
        now = 0.0 if found is None else found.values
        difference = float(np.abs(heights.heights() - now).mean()) / heights.scale
        texels = heights.levels[0][..., 0].size
        what = "heights against the graph now"
        rows.append(Row(what, texels, "mean of the range", difference, _SAME))
    return rows
