"""Emission at the texels of a uv set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.texels.tone_curve import CLAMP
from verdigris.core.ladder.unlit.records import mean_texture, records_of
from verdigris.core.ladder.views.reference import emission_at, without_coverage

if TYPE_CHECKING:
    from verdigris.core.ladder.views.scene import Scene
    from verdigris.core.ladder.views.visibility import Seen


def emission_grid(scene: Scene, seen: Sequence[Seen], size: int) -> Grid:
    """Mean emission at the texels, linear; (texels, 3)."""
    lights = [
        without_coverage(emission_at(scene.teacher, each), np.ones(each.count, np.float32))[0]
        for each in seen
    ]
    largest = max(float(each.max()) for each in lights) or 1.0
    grid = mean_texture(records_of(seen, lights, scene.first_set), CLAMP, size, 1 / largest)
    grid.values *= np.float32(largest)
    return grid
