"""The uv layout of a mesh: its islands (which overlap, which are mirrored, which have no area) and
its UDIM tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import MeshError
from verdigris.core.geometry.raster import bounds_of, touches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import FloatArray, Ints


# Uvs that are closer belong to one vertex.
_SAME = 1e-6
# Texels per side of the map that measures overlaps.
_SIDE = 512
# Texels at the rim of islands, whose centres two triangles share by rounding, stay below this
# share.
_SHARE_OF_OVERLAP = 0.002
FIRST_TILE = 1001
TILES_IN_A_ROW = 10
_LARGEST_ROW = 99
# More repeats of a texture across one triangle are an error of the unwrap.
_MOST_COPIES = 1 << 12
# Uvs this close to a tile's edge are on it, because uvs are stored in 32 bits.
_EDGE = 1e-6


@dataclass(frozen=True)
class UvReport:
    """What the fit of a texture must know about a uv layout."""

    islands: int
    overlapping: int
    """Number of islands that share texels with themselves or another island."""
    overlap: float
    """Share of the covered texels that belong to several places of the surface."""
    mirrored: int
    """Number of triangles whose uv is mirrored."""
    without_area: int
    """Number of triangles without an area in uv."""
    tiles: tuple[tuple[int, int], ...]
    """Unit squares (column, row) that triangles touch."""
    covered: float
    """Share of the tiles' texels that triangles cover."""

    @property
    def is_unique(self) -> bool:
        """Whether each texel belongs to one place of the surface."""
        return self.overlap < _SHARE_OF_OVERLAP

    def describe(self) -> str:
        """One line for a person."""
        found = [f"{self.islands} islands, {self.covered:.0%} covered"]
        if not self.is_unique:
            found.append(f"{self.overlapping} overlap ({self.overlap:.0%} of the texels)")
        if self.mirrored:
            found.append(f"{self.mirrored} triangles are mirrored")
        if self.without_area:
            found.append(f"{self.without_area} triangles have no area")
        if len(self.tiles) > 1:
            found.append(f"{len(self.tiles)} tiles")
        return ", ".join(found)


def report_uv(uv: FloatArray) -> UvReport:
    """Measures the layout of triangles (T, 3, 2)."""
    uv = np.asarray(uv, np.float64)
    step1, step2 = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
    area = step1[:, 0] * step2[:, 1] - step1[:, 1] * step2[:, 0]
    solid = np.abs(area) > 1e-14
    island = _find_islands(uv)
    corner = np.floor(uv.min((0, 1)) + _SAME)
    reach = np.maximum(np.ceil(uv.max((0, 1)) - _SAME) - corner, 1)
    across, down = (int(min(each, 16)) for each in reach)
    width, height = across * _SIDE, down * _SIDE
    times = np.zeros(width * height, np.int32)
    numbers = np.flatnonzero(solid)
    for found in touches((uv[solid] - corner) * _SIDE, width, height):
        np.add.at(times, (found.y * width + found.x)[found.is_inside], 1)
    shared = times > 1
    over = set[int]()
    if shared.any():
        for found in touches((uv[solid] - corner) * _SIDE, width, height):
            at = (found.y * width + found.x)[found.is_inside]
            over |= set(island[numbers[found.triangle[found.is_inside]][shared[at]]].tolist())
    covered = int((times > 0).sum())
    squares = (times.reshape(down, _SIDE, across, _SIDE) > 0).sum((1, 3))
    rows, columns = np.nonzero(squares)
    tiles = tuple(
        (int(column + corner[0]), int(row + corner[1]))
        for row, column in zip(rows, columns, strict=True)
    )
    return UvReport(
        islands=len(np.unique(island[solid])) if solid.any() else 0,
        overlapping=len(over),
        overlap=float(shared.sum() / max(1, covered)),
        mirrored=int((area[solid] < 0).sum()),
        without_area=int((~solid).sum()),
        tiles=tiles,
        covered=covered / max(1, len(tiles) * _SIDE * _SIDE),
    )


def _find_islands(uv: FloatArray) -> Ints:
    """The number of each triangle's island: triangles that share a vertex in uv are connected."""
    keys = np.rint(np.asarray(uv, np.float64).reshape(-1, 2) / _SAME).astype(np.int64)
    _, vertex = np.unique(keys[:, 0] * (1 << 31) + keys[:, 1], return_inverse=True)
    vertex = vertex.reshape(-1, 3)
    label = np.arange(int(vertex.max(initial=-1)) + 1)
    while True:
        least = label[vertex].min(1)
        before = label.copy()
        for corner in range(3):
            np.minimum.at(label, vertex[:, corner], least)
        label = label[label]
        if np.array_equal(label, before):
            break
    _, island = np.unique(label[vertex[:, 0]], return_inverse=True)
    return np.asarray(island, np.int64)


@dataclass(frozen=True)
class Placement:
    """For each tile number: its triangles, and for each triangle the tile's corner in uv."""

    tiles: dict[int, tuple[Ints, FloatArray]]


def place_in_tiles(uv: NDArray[Any], repeats: bool, warnings: list[str]) -> Placement:
    """Sorts triangles (T, 3, 2) by tile. A triangle across a border is in each tile it touches.

    With `repeats` all unit squares are the same tile.
    """
    least, most = bounds_of(uv)
    first = np.floor(least + _EDGE)
    span = np.maximum(np.ceil(most - _EDGE) - first, 1)
    # checked as floats, because huge uvs do not fit into integers
    too_many = int((span[:, 0] * span[:, 1] > _MOST_COPIES).sum())
    if too_many:
        raise MeshError(
            f"{too_many} triangles span more than {_MOST_COPIES} tiles of uv: scale the uvs down"
        )
    low, span = first.astype(np.int64), span.astype(np.int64)
    copies = span[:, 0] * span[:, 1]
    crossing = int((copies > 1).sum())
    owner = np.repeat(np.arange(len(uv)), copies)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(copies) - copies, copies)
    square = low[owner] + np.stack([place % span[owner, 0], place // span[owner, 0]], 1)
    if repeats:
        outside = int(((uv < -_EDGE) | (uv > 1 + _EDGE)).any((1, 2)).sum())
        if outside:
            warnings.append(
                f"{outside} of {len(uv)} triangles are partly outside of the unit square of uv: "
                "their weights repeat with the texture"
            )
        return Placement({FIRST_TILE: (owner, square.astype(np.float64))})
    if crossing:
        warnings.append(
            f"{crossing} of {len(uv)} triangles cross the border of a UDIM tile and were split"
        )
    is_tile = (square >= 0).all(1) & (square[:, 0] < TILES_IN_A_ROW) & (square[:, 1] < _LARGEST_ROW)
    lost = len(np.unique(owner[~is_tile]))
    if lost:
        warnings.append(
            f"{lost} of {len(uv)} triangles are outside of the UDIM tiles (0 <= u < "
            f"{TILES_IN_A_ROW}, 0 <= v), and these parts were left out"
        )
    if not is_tile.any():
        raise MeshError(
            f"all {len(uv)} triangles are outside of the UDIM tiles: move their uvs to 0 <= u < "
            f"{TILES_IN_A_ROW} and 0 <= v, or choose the layout 'repeat'"
        )
    owner, square = owner[is_tile], square[is_tile]
    number = FIRST_TILE + square[:, 0] + TILES_IN_A_ROW * square[:, 1]
    order = np.argsort(number, kind="stable")
    numbers, starts = np.unique(number[order], return_index=True)
    parts = np.split(order, starts[1:])
    return Placement(
        {
            int(tile): (owner[part], square[part].astype(np.float64))
            for tile, part in zip(numbers, parts, strict=True)
        }
    )
