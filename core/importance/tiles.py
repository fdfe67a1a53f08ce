"""Finds the UDIM tiles of the triangles of a uv layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import MeshError
from verdigris.core.geometry.uv_cover import bounds_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

FIRST_TILE = 1001
TILES_IN_A_ROW = 10
_LARGEST_ROW = 99
# More repeats of a texture across one triangle are an error of the unwrap.
_MOST_COPIES = 1 << 12
# uvs this close to a tile's edge are on it, because uvs are stored in 32 bits.
_EDGE = 1e-6


@dataclass(frozen=True)
class Placement:
    """For each tile number: its triangles, and for each triangle the tile's corner in uv."""

    tiles: dict[int, tuple[Ints, Floats]]


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
