"""Houdini's polygons as triangles by corner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.geometry.polygons import triangulate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def triangle_corners(counts: Ints, places: NDArray[Any]) -> tuple[Ints, Ints]:
    """The vertex number of each triangle's corner (T, 3), and each triangle's polygon (T,), of
    polygons whose vertices lie at these places.

    Houdini's polygons turn clockwise seen from outside, everyone else's the other way.
    """
    corners = triangulate(counts, places)[:, ::-1]
    return np.ascontiguousarray(corners), triangle_faces(counts)


def triangle_faces(counts: Ints) -> Ints:
    """Each triangle's polygon (T,)."""
    return np.repeat(np.arange(len(counts)), np.maximum(counts - 2, 0))
