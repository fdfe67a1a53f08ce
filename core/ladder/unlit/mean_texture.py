"""Textures of the mean light that pixels see at each texel: where fits start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder.texels.grid import Grid, fill_holes
from verdigris.core.ladder.texels.tone_curve import ToneCurve
from verdigris.core.ladder.unlit.image_fit import ImageFit, Records
from verdigris.core.ladder.unlit.unlit_models import OneTexture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]


def mean_texture(records: Records, curve: ToneCurve, size: int, factor: float = 1.0) -> Grid:
    """A square texture with the mean stored light of each texel, and filled holes."""
    grid = Grid.of(size, size, np.full(3, 0.5))
    start_from_means(grid, ImageFit(OneTexture(grid, curve), records).means(factor))
    return grid


def start_from_means(grid: Grid, found: tuple[Floats, Floats]) -> None:
    """Sets texels to means, and fills those that no pixel touched."""
    means, weight = found
    seen = weight > 1e-6
    grid.values[seen] = means[seen, : grid.channels]
    fill_holes(grid, seen)
