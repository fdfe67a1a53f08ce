"""The unit square that a bake samples: an atlas of UDIM tiles, or the surface of a mesh."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import FloatArray, Floats
    from verdigris.core.base.json_fields import Fields


MOST_ALONG_A_SIDE = 16
_FARTHEST = 1 << 20
QUADS = 5
"""Groups of four numbers in a texel of a mesh: position, normal, tangent and bitangent, each
followed by a number of the painted colour; and two uv sets.
`shaders/material/teacher/material.slang` reads them."""
MOST_SETS = 2
# Heights that differ by less, in parts of the largest, are constant.
_LEAST_RANGE = 1e-6


@dataclass(frozen=True)
class Tiles:
    """A square of UDIM tiles, side by side: uv of the atlas are (uv of the mesh - first) / side."""

    first: tuple[int, int]
    """Column and row of the tile at the lower left."""
    side: int
    """The number of tiles along a side."""

    def to_atlas(self, uv: Floats) -> Floats:
        """Converts the uv of a mesh to the uv of the atlas."""
        return np.asarray((uv - np.array(self.first, np.float32)) / self.side, np.float32)

    def contains(self, other: Tiles) -> bool:
        """Whether all tiles of another square are in this one."""
        return all(
            mine <= its and its + other.side <= mine + self.side
            for mine, its in zip(self.first, other.first, strict=True)
        )

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
    """The `tiles` of a manifest; None if it has none."""
    if "tiles" not in manifest:
        return None
    table = manifest.table("tiles")
    first = table.typed("first", tuple[int, ...])
    holds = len(first) == 2 and all(abs(each) <= _FARTHEST for each in first)
    table.require(holds, "first", "it must be a column and a row")
    return Tiles((first[0], first[1]), table.whole("side", 1, MOST_ALONG_A_SIDE))


@dataclass(frozen=True)
class MeshPoints:
    """Points of a mesh at the texel centres of its uv, as a picture on which a teacher is
    evaluated."""

    texels: Floats
    """(size, size, 4 * quads), row 0 at v = 0. Texels beside islands continue them."""
    covered: NDArray[np.bool_]
    """Whether a triangle covers a texel, (size, size)."""
    sets: int
    """The number of uv sets that the graph can read, at most MOST_SETS."""
    tiles: Tiles | None = None
    """The UDIM tiles whose atlas the texels are."""
    properties: tuple[str, ...] = ()
    """Names of properties of the geometry. Each adds four numbers to a texel."""
    has_colours: bool = True
    """Whether the mesh has painted colours."""
    source: Mapping[str, Any] = field(default_factory=dict)
    """The files of the mesh and the uv set, as manifests record them."""

    @property
    def size(self) -> int:
        return len(self.texels)

    @property
    def quads(self) -> int:
        """The number of groups of four numbers in a texel, with those of properties."""
        return QUADS + len(self.properties)

    @cached_property
    def digest(self) -> str:
        """A digest of all values: a bake on another mesh is another bake."""
        return hashlib.sha256(self.texels.tobytes()).hexdigest()[:24]


def height_range(heights: FloatArray) -> tuple[float, float]:
    """The lowest height, and how much higher the highest is: 0 if they are constant."""
    lowest, highest = float(heights.min()), float(heights.max())
    scale = highest - lowest
    return lowest, scale if scale > _LEAST_RANGE * max(abs(lowest), abs(highest)) else 0.0
