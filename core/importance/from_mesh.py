"""Makes importance maps in uv space from weights painted on a mesh, one map for each UDIM tile.

If several triangles touch a texel, the largest weight counts, so that paint wins at the edge of a
stroke and in overlapping islands. Faulty values that can be repaired are counted in warnings; other
faults are errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import MeshError, SettingsError
from verdigris.core.geometry.raster import PaintedTile, Touches, bounds_of, paint_tile
from verdigris.core.geometry.uv_layout import TILES_IN_A_ROW, Placement, place_in_tiles
from verdigris.core.importance.maps import LARGEST_SIDE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Bools, Floats

    Ints = NDArray[np.integer[Any]]

_DOMAINS = ("point", "corner", "face")
_LAYOUTS = ("udim", "repeat")
# A distance in texels, beyond all maps.
_FAR = np.int32(1 << 20)


@dataclass(frozen=True)
class MapSettings:
    """Options of maps from a mesh."""

    size: int = 1024
    """Texels a side of each map."""

    dilation: int = 4
    """Texels that each island is extended by, so that filtering at its edge reads its weights."""

    base: float = 1.0
    """The weight of texels outside of all triangles; 0 excludes them from training."""

    layout: str = "udim"
    """`udim`: each unit square of uv is a tile with its own map. `repeat`: the texture repeats, and
    all uvs are in one map."""

    wraps: bool = False
    """Whether islands are extended over the map's edge to the other side, for repeating textures.
    """

    def __post_init__(self) -> None:
        if not 1 <= self.size <= LARGEST_SIDE:
            raise SettingsError(f"size is {self.size}: use 1 to {LARGEST_SIDE}")
        if not 0 <= self.dilation <= LARGEST_SIDE:
            raise SettingsError(f"dilation is {self.dilation}: use 0 to {LARGEST_SIDE}")
        if not 0 <= self.base < float("inf"):
            raise SettingsError(f"base is {self.base}: use 0 or more")
        if self.layout not in _LAYOUTS:
            raise SettingsError(f"layout is {self.layout!r}: use {' or '.join(_LAYOUTS)}")


@dataclass(frozen=True)
class WeightMap:
    """One tile's weights."""

    weights: Floats
    """(size, size), row 0 at v = 0."""
    covered: int
    """Number of texels that triangles touch, without the extension."""
    overlapping: int
    """Number of texels whose centre is inside more than one triangle: overlapping or mirrored
    islands."""


@dataclass(frozen=True)
class WeightMaps:
    """The maps of a mesh by UDIM number, and warnings about repaired values."""

    tiles: dict[int, WeightMap]
    warnings: tuple[str, ...]


def corner_weights(values: NDArray[Any], triangles: NDArray[Any], domain: str) -> Floats:
    """Weights of the corners of triangles (T, 3), from values on a domain: points, corners or
    faces.

    `triangles` (T, 3) holds point numbers. Several channels of a value are averaged.
    """
    values = np.asarray(values, np.float32)
    triangles = np.asarray(triangles)
    if triangles.ndim != 2 or triangles.shape[1] != 3:
        raise MeshError(f"triangles have shape {triangles.shape}: use (count, 3)")
    if domain == "corner" and values.shape[:2] == triangles.shape:
        values = values.reshape(triangles.size, *values.shape[2:])
    if values.ndim == 2:
        values = values.mean(1)
    if values.ndim != 1:
        raise MeshError(
            f"weights have shape {values.shape}: use one number or one colour for each value"
        )
    if domain == "point":
        most = int(triangles.max(initial=-1))
        if triangles.size and (triangles.min() < 0 or most >= len(values)):
            raise MeshError(
                f"{len(values)} weights for points up to number {most}: use one for each point"
            )
        return np.asarray(values[triangles], np.float32)
    if domain not in _DOMAINS:
        raise SettingsError(f"weights of {domain!r}: use one of {', '.join(_DOMAINS)}")
    expected = triangles.size if domain == "corner" else len(triangles)
    if len(values) != expected:
        raise MeshError(
            f"{len(values)} weights for {expected} {domain}s: use one for each {domain}"
        )
    if domain == "corner":
        return values.reshape(triangles.shape)
    return np.repeat(values[:, None], 3, axis=1)


def weight_maps(
    uv: NDArray[Any] | None, weights: NDArray[Any], settings: MapSettings | None = None
) -> WeightMaps:
    """Maps from uvs (T, 3, 2) and weights (T, 3) of the corners of triangles."""
    settings = settings or MapSettings()
    if uv is None or np.size(uv) == 0:
        raise MeshError("the mesh has no uvs: unwrap it first")
    uv, weights = np.asarray(uv, np.float64), np.asarray(weights, np.float32)
    if uv.ndim != 3 or uv.shape[1:] != (3, 2):
        raise MeshError(f"uvs have shape {uv.shape}: use (triangles, 3, 2)")
    if weights.shape != uv.shape[:2]:
        raise MeshError(
            f"weights have shape {weights.shape}: use {uv.shape[:2]}, one for each corner"
        )
    warnings: list[str] = []
    kept = find_spanning(uv, warnings)
    uv, weights = uv[kept], weights[kept]
    weights = _repair_weights(weights, settings.base, warnings)
    placement = place_in_tiles(uv, settings.layout == "repeat", warnings)
    tiles = require_touched_tiles(
        {number: _fill_tile(uv, weights, placement, number, settings) for number in placement.tiles}
    )
    warn_of_overlaps(tiles, warnings)
    if not any(tile.weights.any() for tile in tiles.values()):
        raise MeshError("the weights are zero everywhere: paint some weights, or use no map")
    return WeightMaps(tiles, tuple(warnings))


def require_touched_tiles(tiles: dict[int, WeightMap]) -> dict[int, WeightMap]:
    """The tiles that triangles really cover; bounding boxes can reach into others."""
    touched = {number: tile for number, tile in tiles.items() if tile.covered}
    if not touched:
        raise MeshError(
            "all triangles are outside of the UDIM tiles: move their uvs to 0 <= u < "
            f"{TILES_IN_A_ROW} and 0 <= v, or choose the layout 'repeat'"
        )
    return touched


def warn_of_overlaps(tiles: dict[int, WeightMap], warnings: list[str]) -> None:
    for number, tile in tiles.items():
        if tile.overlapping:
            warnings.append(
                f"tile {number}: {tile.overlapping} of {tile.covered} covered texels belong to "
                "overlapping or mirrored islands; they take the largest weight"
            )


def find_spanning(uv: NDArray[Any], warnings: list[str]) -> Bools | slice:
    """A mask of the triangles with finite uvs and an area above 0 in uv; warns of the others."""
    is_finite = np.isfinite(uv).all((1, 2))
    with np.errstate(invalid="ignore", over="ignore"):
        first, second = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
        area = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
    is_flat = is_finite & (area == 0)
    for count, what in (
        (int((~is_finite).sum()), "have uvs that are not finite numbers"),
        (int(is_flat.sum()), "have no area in uv"),
    ):
        if count:
            warnings.append(f"{count} of {len(uv)} triangles {what} and were left out")
    kept = np.asarray(is_finite & ~is_flat)
    if not kept.any():
        raise MeshError(f"none of {len(uv)} triangles has an area in uv: unwrap the mesh first")
    return slice(None) if kept.all() else kept


def _repair_weights(weights: Floats, base: float, warnings: list[str]) -> Floats:
    odd = ~np.isfinite(weights)
    negative = weights < 0
    negative &= ~odd
    if odd.any():
        warnings.append(f"{int(odd.sum())} weights are not finite and were replaced by {base:g}")
        weights = np.where(odd, np.float32(base), weights)
    if negative.any():
        warnings.append(f"{int(negative.sum())} weights are negative and were replaced by 0")
        weights = np.maximum(weights, np.float32(0))
    return weights


def finish_tile(tile: PaintedTile, settings: MapSettings) -> WeightMap:
    """Extends islands at their edges, and fills the remaining texels with the base weight."""
    covered = tile.values >= 0
    grown, is_known = dilate(tile.values, covered, settings.dilation, settings.wraps)
    result = np.where(is_known, grown, np.float32(settings.base))
    return WeightMap(result, int(covered.sum()), tile.overlapping)


def _fill_tile(
    uv: NDArray[Any], weights: Floats, placement: Placement, number: int, settings: MapSettings
) -> WeightMap:
    chosen, offset = placement.tiles[number]
    of_corners = weights[chosen]
    least, most = bounds_of(of_corners)

    def weights_of(found: Touches) -> NDArray[Any]:
        owner = found.triangle
        value = np.einsum("kn,nk->n", found.shares, of_corners[owner])
        # a texel's centre can be outside of the triangle, where extrapolation exceeds the paint
        return np.asarray(np.clip(value, least[owner], most[owner]))

    corners = (uv[chosen] - offset[:, None]) * settings.size
    return finish_tile(paint_tile(corners, settings.size, weights_of), settings)


def dilate(
    weights: Floats, covered: Bools, reach: int, wraps: bool = False
) -> tuple[Floats, Bools]:
    """Gives texels within `reach` texels of a covered one the weight of the nearest covered texel.
    Returns weights and coverage. With `wraps`, the map repeats."""
    if reach < 1 or covered.all() or not covered.any():
        return weights, covered
    if wraps:
        reach = min(reach, *weights.shape)
        padded: Floats = np.pad(weights, reach, mode="wrap")
        padded_cover: Bools = np.pad(covered, reach, mode="wrap")
        grown = _dilate(padded, padded_cover, reach)
        inner = slice(reach, -reach)
        return grown[0][inner, inner], grown[1][inner, inner]
    return _dilate(weights, covered, reach)


def _dilate(weights: Floats, covered: Bools, reach: int) -> tuple[Floats, Bools]:
    """Finds the nearest covered texel in each row, then the best of the rows above and below."""
    column = _nearest_in_row(covered)
    away = column - np.arange(covered.shape[1], dtype=np.int32)
    along = np.minimum(np.abs(away), _FAR // 512) ** 2
    best = along.copy()
    row_step = np.zeros(covered.shape, np.int32)
    for size in range(1, reach + 1):
        # rows further away cannot have a nearer texel
        if size * size >= best.max():
            break
        for step in (size, -size):
            there = slice(max(0, step), min(len(best), len(best) + step))
            here = slice(max(0, -step), min(len(best), len(best) - step))
            distance = along[there] + step * step
            nearer = distance < best[here]
            np.copyto(best[here], distance, where=nearer)
            np.copyto(row_step[here], step, where=nearer)
    found = np.flatnonzero((best <= reach * reach) & ~covered)
    row = found // covered.shape[1] + row_step.ravel()[found]
    source = row * covered.shape[1] + column[row, found % covered.shape[1]]
    grown, grown_cover = weights.copy(), covered.copy()
    grown.ravel()[found] = weights.ravel()[source]
    grown_cover.ravel()[found] = True
    return grown, grown_cover


def _nearest_in_row(covered: Bools) -> Ints:
    """The column of the nearest covered texel in the row; far outside if there is none."""
    columns = np.arange(covered.shape[1], dtype=np.int32)
    before = np.maximum.accumulate(np.where(covered, columns, -_FAR), 1)
    after = np.minimum.accumulate(np.where(covered, columns, _FAR)[:, ::-1], 1)[:, ::-1]
    return np.where(columns - before <= after - columns, before, after)
