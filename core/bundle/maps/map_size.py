"""As many texels of a map as are needed: its finest levels are dropped if no eye sees them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from verdigris.core.bundle.proxies.sampled_texture import trilinear
from verdigris.core.material.teacher.unlit_maps import levels
from verdigris.core.network.latents.texels import texel_centres

# Mean change of log(1 + value) that is not seen.
_MOST_CHANGE = 3e-4
# Texels per side of the smallest map: a block.
_SMALLEST = 4


def as_small_as_needed(finest: NDArray[np.float32]) -> NDArray[np.float32]:
    """The coarsest level of a square map [size, size, ...] that looks like its finest."""
    size = len(finest)
    wanted = np.log1p(finest).reshape(size * size, -1)
    uv = texel_centres(np.arange(size * size), size)
    chosen = finest
    for level in levels(finest)[1:]:
        if len(level) < _SMALLEST:
            break
        texels = level.reshape(*level.shape[:2], -1).astype(np.float64)
        found = trilinear([texels], uv, np.zeros(len(uv), np.float32))
        if np.abs(np.log1p(found).reshape(wanted.shape) - wanted).mean() > _MOST_CHANGE:
            break
        chosen = level
    return chosen
