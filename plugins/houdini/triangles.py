"""Converts polygons of Houdini to triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.geometry.polygons import triangulate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def triangle_corners(counts: Ints, places: NDArray[Any]) -> tuple[Ints, Ints]:
    """The vertex of each corner (T, 3) and the polygon of each triangle (T,).

    `places` are the positions of the vertices. The winding is reversed: polygons of Houdini turn
    clockwise.
    """
    corners = triangulate(counts, places)[:, ::-1]
    return np.ascontiguousarray(corners), np.repeat(
        np.arange(len(counts)), np.maximum(counts - 2, 0)
    )
