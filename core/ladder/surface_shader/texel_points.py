"""Points in the texels of a material's textures, and the texels that interpolate their values."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from verdigris.core.geometry.raster import rasterize
from verdigris.core.ladder.texels.grid import Grid, fill_holes
from verdigris.core.ladder.views.visibility import Seen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats
    from verdigris.core.ladder.views.scene import Scene

# Points along a side of a texel, and the most along a side of the texture.
_POINTS, _MOST_POINTS = 4, 2048
_RASTERISERS = 4
# Iterations that solve the normal equations.
_ROUNDS = 8
# The most copies of a triangle whose uv cover several unit squares.
_MOST_COPIES = 16


@dataclass(frozen=True)
class TexelPoints:
    """Values at points of a regular grid in each texel."""

    size: int
    values: list[Floats]
    """For each offset, the values (texels, channels); 0 beside the mesh."""
    covered: list[NDArray[np.bool_]]
    offsets: list[tuple[float, float]]
    """The offsets of points from the centre of a texel."""
    tiles: int | None = None
    """UDIM tiles along a side, each an image of its own; None for a texture that repeats."""

    @classmethod
    def evaluate(
        cls, scene: Scene, size: int, channels: int, values_at: Callable[[Seen], Floats]
    ) -> Self:
        """The points of a texture in the uv set of the material, with what `values_at` finds there,
        (N, channels)."""
        points = max(1, min(_POINTS, _MOST_POINTS // size))
        places = (np.arange(points) + 0.5) / points - 0.5
        offsets = [(float(x), float(y)) for y in places for x in places]
        found = cls(size, [], [], [], scene.atlas.side if scene.atlas else None)
        with ThreadPoolExecutor(_RASTERISERS) as threads:
            parts = threads.map(lambda offset: seen_by_texels(scene, size, offset), offsets)
            for offset, seen in zip(offsets, parts, strict=True):
                values = np.zeros((size * size, channels), np.float32)
                covered = np.zeros(size * size, bool)
                if seen is not None and channels:
                    values[seen.pixel] = values_at(seen)
                    covered[seen.pixel] = True
                found.values.append(values)
                found.covered.append(covered)
                found.offsets.append(offset)
        return found

    def of(self, channels: slice) -> Floats:
        """The values (points, channels) of all points on the mesh."""
        pairs = zip(self.values, self.covered, strict=True)
        return np.concatenate([values[covered, channels] for values, covered in pairs])

    def texture(self, channels: slice, store: Callable[[Floats], Floats]) -> Floats:
        """The texels whose bilinear interpolation is nearest to the stored values of the points, by
        least squares."""
        count, width = self.size**2, channels.stop - channels.start
        means, weight = np.zeros((count, width), np.float32), np.zeros(count, np.float32)
        stored = []
        for values, covered in zip(self.values, self.covered, strict=True):
            stored.append(store(values[:, channels]))
            means += np.where(covered[:, None], stored[-1], 0)
            weight += covered
        means /= np.maximum(weight, 1)[:, None]
        start = Grid(self.size, self.size, means)
        fill_holes(start, weight > 0)
        # the normal equations: points that no triangle covers count as the mean of their texel
        right = np.zeros_like(start.image)
        for found, covered, offset in zip(stored, self.covered, self.offsets, strict=True):
            points = np.where(covered[:, None], found, start.values).reshape(start.image.shape)
            right += self._spread(points, offset)
        right /= len(stored)
        beside = sum(abs(x) * (1 - abs(x)) for x, _ in self.offsets) / len(self.offsets)
        texels = start.image
        for _ in range(_ROUNDS):
            texels = texels + right - self._blurred(texels, beside)
        return np.asarray(texels, np.float32).reshape(count, width)

    def _spread(self, points: Floats, offset: tuple[float, float]) -> Floats:
        """The points of one offset, added by their weights to the texels that interpolate them."""
        for axis, aside in ((1, offset[0]), (0, offset[1])):
            moved = self._moved(points, 1 if aside > 0 else -1, axis)
            points = (1 - abs(aside)) * points + abs(aside) * moved
        return points

    def _blurred(self, texels: Floats, beside: float) -> Floats:
        """Interpolates at the points, and applies the transpose."""
        for axis in (0, 1):
            both = self._moved(texels, 1, axis) + self._moved(texels, -1, axis)
            texels = (1 - 2 * beside) * texels + beside * both
        return texels

    def _moved(self, texels: Floats, by: int, axis: int) -> Floats:
        """An image (size, size, channels) moved by a texel, with its own texels behind an edge of a
        tile."""
        found = np.roll(texels, by, axis)
        if self.tiles is not None:
            side = self.size // self.tiles
            edge = np.arange(0 if by > 0 else side - 1, self.size, side)
            at = (slice(None),) * axis + (edge,)
            found[at] = texels[at]
        return found


def seen_by_texels(scene: Scene, size: int, offset: tuple[float, float]) -> Seen | None:
    """The surface at a point of each texel, as if a camera saw the texture."""
    uv = scene.surface.sets[scene.first_set]
    uv, owner = _in_unit_square(uv)
    corners = np.asarray(uv * size - np.array(offset), np.float32)
    cover = rasterize(corners, np.zeros(corners.shape[:2], np.float32), size, size)
    triangle = cover.triangle.reshape(-1)
    pixel = np.flatnonzero(triangle >= 0)
    if not len(pixel):
        return None
    above = np.array([0, 0, 4 * scene.surface.radius])
    weights = cover.weights.reshape(-1, 3)[pixel]
    return Seen(
        scene.geometry, scene.surface.centre + above, size, pixel, owner[triangle[pixel]], weights,
        1.0,
    )  # fmt: skip


def _in_unit_square(uv: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Copies of triangles, moved by whole units to wherever they reach into the unit square; and
    the number of the triangle of each copy."""
    low = np.floor(uv.min(1)).astype(int)
    spread = np.clip(np.ceil(uv.max(1)).astype(int) - low, 1, _MOST_COPIES)
    copies = spread.prod(1)
    owner = np.repeat(np.arange(len(uv)), copies)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(copies) - copies, copies)
    across = spread[owner, 0]
    shift = low[owner] + np.stack([number % across, number // across], 1)
    return np.asarray(uv[owner] - shift[:, None], np.float32), owner
