"""UDIM tiles of a material as an atlas: side by side in the unit square that a bake samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.json_fields import Fields

    Floats = NDArray[np.float32]

MOST_ALONG_A_SIDE = 16
_FARTHEST = 1 << 20


@dataclass(frozen=True)
class Tiles:
    """A square of tiles: the uv of the atlas is (uv of the mesh - first) / side."""

    first: tuple[int, int]
    """Column and row of the tile at the lower left."""
    side: int
    """Tiles along a side."""

    def to_atlas(self, uv: Floats) -> Floats:
        """The uv of the atlas for the uv of a mesh."""
        return np.asarray((uv - np.array(self.first, np.float32)) / self.side, np.float32)

    def as_json(self) -> dict[str, Any]:
        """For a manifest."""
        return {"first": list(self.first), "side": self.side}

    @classmethod
    def around(cls, places: Iterable[tuple[int, int]]) -> Tiles:
        """The square around these columns and rows."""
        columns, rows = zip(*places, strict=True)
        first = min(columns), min(rows)
        return cls(first, max(max(columns) - first[0], max(rows) - first[1]) + 1)


def parse_tiles(manifest: Fields) -> Tiles | None:
    """Reads a manifest's `tiles`, if it has them."""
    if "tiles" not in manifest:
        return None
    table = manifest.table("tiles")
    first = table.typed("first", tuple[int, ...])
    holds = len(first) == 2 and all(abs(each) <= _FARTHEST for each in first)
    table.require(holds, "first", "it must be a column and a row")
    return Tiles((first[0], first[1]), table.whole("side", 1, MOST_ALONG_A_SIDE))
