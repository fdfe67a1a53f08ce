"""Emission and opacity as a bundle stores them: half floats, and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.material.teacher.unlit_maps import levels
from verdigris.core.network.spec import LARGEST_HALF

if TYPE_CHECKING:
    Floats = NDArray[np.float32]


def emission_levels(finest: Floats) -> list[NDArray[Any]]:
    """[height, width, 4] of each mip level of a map [height, width, 3]; the fourth channel is 1."""
    found = []
    for level in levels(finest):
        texels = np.ones((*level.shape[:2], 4), np.float16)
        texels[..., :3] = np.clip(level, 0, LARGEST_HALF)
        found.append(texels)
    return found


def opacity_levels(finest: Floats) -> list[NDArray[Any]]:
    """[height, width, 1] of each mip level of a map [height, width]."""
    return [
        np.rint(np.clip(level, 0, 1) * 255).astype(np.uint8)[..., None] for level in levels(finest)
    ]
