"""Height maps: displacement by uv, with the extrema that a relief march needs (docs/FORMAT.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import SettingsError
from verdigris.core.material.domain import height_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Doubles, Floats

# A height has 16 bits, in two bytes; an extremum has 8.
_MOST, _OF_BYTE = 65535, 257
# The height of a texel: this, times 256 times its first channel plus its second.
MEAN_OF_BYTES = 255 / _MOST


@dataclass(frozen=True)
class HeightMap:
    """Heights above the base surface. Row 0 is at v = 0.5 / height."""

    levels: Sequence[NDArray[np.uint8]]
    """Mip levels [height, width, 4], finest first: the mean height in two bytes, the larger first;
    then the least and the largest height between the texel's centre and those of the next row and
    column, over all finest texels that a texel stands for."""
    scale: float
    """Height in world units between the stored values 0 and 1."""
    midlevel: float
    """Stored value of the base surface; may be below 0 or above 1."""

    @property
    def size(self) -> tuple[int, int]:
        """Texels in u and in v."""
        rows, columns = self.levels[0].shape[:2]
        return columns, rows

    def stored(self, level: int = 0) -> Doubles:
        """Mean heights of a level, from 0 to 1."""
        high, low = (self.levels[level][..., index].astype(np.float64) for index in (0, 1))
        return np.asarray((256 * high + low) / _MOST)

    def bounds(self, level: int) -> tuple[Doubles, Doubles]:
        """The least and the largest height of a level's texels, from 0 to 1."""
        low, high = (self.levels[level][..., index] / 255.0 for index in (2, 3))
        return low, high

    def heights(self, level: int = 0) -> Doubles:
        """In world units."""
        return np.asarray(self.scale * (self.stored(level) - self.midlevel))


def make_height_map(heights: Floats) -> HeightMap | None:
    """The map of finite heights in world units, [height, width] in powers of two; None if they are
    constant."""
    rows, columns = heights.shape
    for side in (rows, columns):
        if side < 1 or side & (side - 1):
            raise SettingsError(f"a height map has {columns} x {rows} texels: use powers of two")
    values = heights.astype(np.float64)
    lowest, scale = height_range(values)
    if not scale:
        return None
    finest = np.rint((values - lowest) / scale * _MOST).astype(np.int64)
    return HeightMap(texels_of(finest), scale, -lowest / scale)


def texels_of(finest: NDArray[np.int64]) -> list[NDArray[np.uint8]]:
    """The levels of a map with these heights, which have 16 bits."""
    # a cell lies between the centres of a texel and of its neighbours
    corners = [np.roll(finest, (-down, -right), (0, 1)) for down in (0, 1) for right in (0, 1)]
    low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
    mean = finest.astype(np.float64)
    levels = [_texels(mean, low, high)]
    while mean.size > 1:
        mean = _blocks(mean).mean((1, 3))
        low, high = _blocks(low).min((1, 3)), _blocks(high).max((1, 3))
        levels.append(_texels(mean, low, high))
    return levels


def _blocks(values: NDArray[Any]) -> NDArray[Any]:
    """The texels [rows, 2, columns, 2] that each texel of the next level stands for."""
    rows, columns = values.shape
    down, across = min(2, rows), min(2, columns)
    return values.reshape(rows // down, down, columns // across, across)


def _texels(mean: Doubles, low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.uint8]:
    whole = np.rint(mean).astype(np.int64)
    # bounds are rounded outwards
    channels = [whole >> 8, whole & 255, low // _OF_BYTE, -(-high // _OF_BYTE)]
    return np.stack(channels, -1).astype(np.uint8)
