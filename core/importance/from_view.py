"""Makes importance maps from the size of each texel in a camera's picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import MeshError, SettingsError
from verdigris.core.geometry.raster import PaintedTile, Touches, paint_tile, rasterize
from verdigris.core.geometry.uv_layout import place_in_tiles
from verdigris.core.importance.from_mesh import (
    MapSettings,
    WeightMaps,
    find_spanning,
    finish_tile,
    require_touched_tiles,
    warn_of_overlaps,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Doubles
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.importance.camera import Camera


# A texel is hidden if another surface is nearer by more than the width of so many pixels. With
# fewer pixels, curved surfaces would hide themselves.
_BIAS_PIXELS = 2.0


@dataclass(frozen=True)
class ViewSettings:
    """The range of the weights. Visible texels have a mean of 1 before clipping."""

    hidden: float = 0.1
    """The smallest weight, and the weight of hidden texels."""

    most: float = 8.0
    """The largest weight, so that a few texels near the camera do not take all samples."""

    def __post_init__(self) -> None:
        if not 0 <= self.hidden <= self.most < float("inf") or self.most == 0:
            raise SettingsError(
                f"hidden is {self.hidden} and most is {self.most}: use 0 <= hidden <= most, and "
                "most above 0"
            )


class DepthBuffer:
    """The nearest triangle at each pixel, as a plane, which is exact between pixel centres."""

    def __init__(self, triangles: Doubles, camera: Camera) -> None:
        """`triangles` (T, 3, 3) are in camera space."""
        clipped = clip_near(triangles, camera.near)
        self._camera = camera
        width, height = camera.resolution
        corners = camera.project(clipped)
        # the inverse of the distance is linear on the screen
        inverse = 1.0 / clipped[..., 2]
        cover = rasterize(corners.astype(np.float32), (-inverse).astype(np.float32), width, height)
        self._triangle = cover.triangle
        self._planes = _planes(corners, inverse)

    def is_visible(self, seen: Doubles) -> NDArray[np.bool_]:
        """Whether positions (N, 3) in camera space are inside the picture and not hidden."""
        camera = self._camera
        width, height = camera.resolution
        is_ahead = seen[:, 2] > camera.near
        pixel = camera.project(np.where(is_ahead[:, None], seen, 1.0))
        is_inside = is_ahead & ((pixel >= 0) & (pixel < (width, height))).all(1)
        x, y = np.where(is_inside[:, None], pixel, 0.0).T
        nearest = self._triangle[y.astype(np.int64), x.astype(np.int64)]
        a, b, c = self._planes[nearest].T
        with np.errstate(divide="ignore"):
            inverse = 1.0 / np.where(is_ahead, seen[:, 2], np.inf)
        is_first = inverse >= (a * x + b * y + c) / (1.0 + _BIAS_PIXELS / camera.pixels_per_unit)
        return np.asarray(is_inside & ((nearest < 0) | is_first))


def _planes(corners: Doubles, values: Doubles) -> Doubles:
    """Coefficients (T + 1, 3) of a x + b y + c with these values (T, 3) at these corners. The last
    row is 0, for the triangle number -1."""
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
    scale = np.divide(1.0, area, out=np.zeros_like(area), where=area != 0)
    step1, step2 = values[:, 1] - values[:, 0], values[:, 2] - values[:, 0]
    a = (step1 * second[:, 1] - step2 * first[:, 1]) * scale
    b = (step2 * first[:, 0] - step1 * second[:, 0]) * scale
    c = values[:, 0] - a * corners[:, 0, 0] - b * corners[:, 0, 1]
    return np.concatenate([np.stack([a, b, c], 1), np.zeros((1, 3))])


def clip_near(triangles: Doubles, near: float) -> Doubles:
    """Clips triangles (T, 3, 3) at the distance `near`; returns triangles."""
    ahead = triangles[..., 2] > near
    count = ahead.sum(1)
    parts = [triangles[count == 3]]
    for keeps in (1, 2):
        chosen = triangles[count == keeps]
        if not len(chosen):
            continue
        # rotated so that the corner alone on its side is first
        lone = np.argmax(ahead[count == keeps] == (keeps == 1), axis=1)
        turned = np.take_along_axis(chosen, ((lone[:, None] + np.arange(3)) % 3)[..., None], 1)
        a, b, c = turned[:, 0], turned[:, 1], turned[:, 2]
        on_ab, on_ac = (_at_depth(a, other, near) for other in (b, c))
        if keeps == 1:
            parts.append(np.stack([a, on_ab, on_ac], 1))
        else:
            parts += [np.stack([on_ab, b, c], 1), np.stack([on_ab, c, on_ac], 1)]
    return np.concatenate(parts)


def _at_depth(a: Doubles, b: Doubles, depth: float) -> Doubles:
    share = (depth - a[:, 2]) / (b[:, 2] - a[:, 2])
    place = a + share[:, None] * (b - a)
    place[:, 2] = depth
    return place


def view_maps(
    mesh: Mesh,
    camera: Camera,
    view: ViewSettings | None = None,
    settings: MapSettings | None = None,
) -> WeightMaps:
    """Maps of the area in pixels of each texel, divided by the mean of visible texels.

    Texels outside of all triangles have the weight of hidden ones.
    """
    view, settings = view or ViewSettings(), settings or MapSettings()
    warnings: list[str] = []
    kept = find_spanning(mesh.uv, warnings)
    uv, seen = mesh.uv[kept].astype(np.float64), camera.to_camera(mesh.position)
    depth = DepthBuffer(seen, camera)
    seen = seen[kept]
    placement = place_in_tiles(uv, settings.layout == "repeat", warnings)
    painted: dict[int, PaintedTile] = {}
    total, count = 0.0, 0
    for number, (chosen, offset) in placement.tiles.items():
        corners = (uv[chosen] - offset[:, None]) * settings.size
        tile = paint_tile(
            corners, settings.size, _PixelsPerTexel(corners, seen[chosen], camera, depth)
        )
        visible = tile.values[tile.values > 0]
        total += float(visible.sum(dtype=np.float64))
        count += len(visible)
        painted[number] = tile
    if not count:
        raise MeshError(
            "the mesh is not visible to the camera: check the camera's position, direction and fov"
        )
    mean = total / count
    settings = MapSettings(
        settings.size, settings.dilation, view.hidden, settings.layout, settings.wraps
    )
    tiles = {}
    for number in [*painted]:
        tile = painted.pop(number)
        weights = np.clip(tile.values / mean, view.hidden, view.most)
        weights = np.where(tile.values >= 0, weights, -1).astype(np.float32)
        tiles[number] = finish_tile(PaintedTile(weights, tile.overlapping), settings)
    tiles = require_touched_tiles(tiles)
    warn_of_overlaps(tiles, warnings)
    return WeightMaps(tiles, tuple(warnings))


class _PixelsPerTexel:
    """The area in pixels of the texels that triangles touch; 0 for hidden texels."""

    def __init__(self, corners: Doubles, seen: Doubles, camera: Camera, depth: DepthBuffer) -> None:
        self._seen, self._depth = seen, depth
        a, b, c = seen[:, 0], seen[:, 1], seen[:, 2]
        # the area on the screen is proportional to the plane's distance from the eye over the cube
        # of the point's distance; area times plane distance is the volume of a parallelepiped
        volume = np.abs((a * np.cross(b - a, c - a)).sum(1))
        first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        texels = np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0])
        self._scale = camera.pixels_per_unit**2 * volume / texels

    def __call__(self, found: Touches) -> NDArray[Any]:
        owner = found.triangle
        shares = np.clip(found.shares, 0, None)
        shares /= shares.sum(0)
        place = np.einsum("kn,nkc->nc", shares, self._seen[owner])
        visible = self._depth.is_visible(place)
        distance = np.where(visible, place[:, 2], 1.0)
        return np.asarray(np.where(visible, self._scale[owner] / distance**3, 0.0))
