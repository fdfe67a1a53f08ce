"""Houdini's polygons as triangles by corner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.pictures.mesh import fan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def triangle_corners(counts: Ints) -> tuple[Ints, Ints]:
    """The vertex number of each triangle's corner (T, 3), and each triangle's polygon (T,).

    Houdini's polygons turn clockwise seen from outside, everyone else's the other way.
    """
    corners = fan(counts).reshape(-1, 3)[:, ::-1]
    faces = np.repeat(np.arange(len(counts)), np.maximum(counts - 2, 0))
    return np.ascontiguousarray(corners), faces
