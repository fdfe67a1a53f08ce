"""What the size of the brush is a share of: the texture, the object, or the view. A dab is a circle
in the texture. So lengths on the surface and in the view are converted at its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.geometry.raster import rasterize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.geometry.mesh import Mesh

TEXTURE, OBJECT, VIEW = "texture", "object", "view"
_TEXELS = 128
# Where the sphere's texture meets at its poles, it is not stretched further.
_LEAST_COSINE = 0.05
_TINY = 1e-12


@dataclass(frozen=True)
class Surface:
    """The shape that is painted on."""

    extent: float
    """The largest side of the shape, in units of the scene."""
    lengths: NDArray[np.float32]
    """Length in the texture of a length on the surface, by place; row 0 at v = 0."""

    def length_at(self, u: float, v: float) -> float:
        height, width = self.lengths.shape
        row, column = int(v % 1.0 * height) % height, int(u % 1.0 * width) % width
        return float(self.lengths[row, column])


def plane() -> Surface:
    """The unit square."""
    return Surface(1.0, np.ones((1, 1), np.float32))


def sphere() -> Surface:
    """The unit sphere, which its texture wraps twice."""
    latitude = np.pi * ((np.arange(_TEXELS) + 0.5) / _TEXELS - 0.5)
    lengths = 1 / (np.pi * np.sqrt(np.maximum(np.cos(latitude), _LEAST_COSINE)))
    return Surface(2.0, lengths[:, None].astype(np.float32))


def surface_of(mesh: Mesh) -> Surface:
    """A mesh. Parts of the texture without a triangle get the median of the others."""
    position, uv = mesh.position.astype(float), mesh.uv.astype(float)
    first, second = position[:, 1] - position[:, 0], position[:, 2] - position[:, 0]
    area = np.linalg.norm(np.cross(first, second), axis=1)
    (a, b), (c, d) = ((uv[:, corner] - uv[:, 0]).T for corner in (1, 2))
    ratio = np.sqrt(np.abs(a * d - b * c) / np.maximum(area, _TINY))
    is_whole = (area > _TINY) & (ratio > 0)
    usual = float(np.median(ratio[is_whole])) if is_whole.any() else 1.0
    place = uv - np.floor(uv.mean(1, keepdims=True))
    cover = rasterize(
        (place * _TEXELS).astype(np.float32), np.zeros(uv.shape[:2], np.float32), _TEXELS, _TEXELS
    )
    lengths = np.full((_TEXELS, _TEXELS), usual, np.float32)
    row, column = np.nonzero(cover.triangle >= 0)
    lengths[row, column] = np.where(is_whole, ratio, usual)[cover.triangle[row, column]]
    corners = position.reshape(-1, 3)
    size = float((corners.max(0) - corners.min(0)).max()) if len(corners) else 1.0
    return Surface(size or 1.0, lengths)


def length_in_view(places: Any, u: float, v: float) -> float | None:
    """Length in the texture of the shorter side of a view, at a place of the surface, from the uv
    (height, width, 2) of its pixels; None where the place is not in sight."""
    if places is None or places.ndim != 3 or min(places.shape[:2]) < 2:
        return None
    away = _wrapped(places - np.float32((u, v)))
    distance = np.nan_to_num((away**2).sum(-1), nan=np.inf)
    row, column = np.unravel_index(int(distance.argmin()), distance.shape)
    if not np.isfinite(distance[row, column]):
        return None
    slopes = []
    for axis, at in ((0, row), (1, column)):
        count = places.shape[axis]
        low, high = max(0, at - 1), min(count - 1, at + 1)
        ends = [
            places[(end, column) if axis == 0 else (row, end)] - places[row, column]
            for end in (low, high)
        ]
        known = [each for each in map(_wrapped, ends) if np.isfinite(each).all() and each.any()]
        if not known:
            return None
        # towards the pixel on either side, or on the side that has a surface
        slopes.append(known[-1])
    (a, b), (c, d) = slopes
    length = float(np.sqrt(abs(a * d - b * c)))
    return length * min(places.shape[:2]) if length > 0 else None


def _wrapped(away: Any) -> Any:
    """Differences between places on a repeating texture, -0.5 to 0.5."""
    return (away + 0.5) % 1.0 - 0.5
