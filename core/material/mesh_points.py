"""The surface of a mesh as a picture in uv, on which a teacher is evaluated in a bake."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.tiles import Tiles

    Floats = NDArray[np.float32]

QUADS = 5
"""Groups of four numbers in a texel: position, normal, tangent and bitangent, each with a number of
the painted colour behind it, and two uv sets. `shaders/material/teacher/material.slang` reads it.
"""
MOST_SETS = 2


@dataclass(frozen=True)
class MeshPoints:
    """Points of a mesh at the texel centres of its uv."""

    texels: Floats
    """(size, size, 4 * quads), row 0 at v = 0. Texels beside islands continue them."""
    covered: NDArray[np.bool_]
    """(size, size): whether a triangle is there."""
    sets: int
    """Number of uv sets that the graph can read, at most MOST_SETS."""
    tiles: Tiles | None = None
    """UDIM tiles of the uv, whose atlas the texels are."""
    properties: tuple[str, ...] = ()
    """Names of properties of the geometry; each has four more numbers in a texel."""
    has_colours: bool = True
    """Whether the mesh has painted colours."""
    source: Mapping[str, Any] = field(default_factory=dict)
    """The files of the mesh and the uv set, as manifests record them."""

    @property
    def size(self) -> int:
        return len(self.texels)

    @property
    def quads(self) -> int:
        """Groups of four numbers in a texel, with those of properties."""
        return QUADS + len(self.properties)

    @cached_property
    def digest(self) -> str:
        """Of all values: a bake of another mesh is another bake."""
        return hashlib.sha256(self.texels.tobytes()).hexdigest()[:24]
