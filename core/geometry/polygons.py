"""Triangulates polygons: convex ones as fans, concave ones by ear clipping."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Doubles, Ints


# Corners that turn inwards by less, relative to the polygon's area, count as straight.
_STRAIGHT = 1e-6


def triangulate(counts: Ints, places: NDArray[Any]) -> Ints:
    """Corner numbers (T, 3) of triangles, in the order of the polygons; a polygon of n corners has
    n - 2. `places` (corners, 3) are the positions of the corners."""
    triangles = fan(counts)
    normals, is_concave = _normals(counts, np.asarray(places, np.float64))
    starts = np.cumsum(counts) - counts
    firsts = np.cumsum(np.maximum(counts - 2, 0)) - np.maximum(counts - 2, 0)
    for polygon in np.flatnonzero(is_concave):
        start, count, first = starts[polygon], counts[polygon], firsts[polygon]
        outline = _flat(places[start : start + count], normals[polygon])
        triangles[first : first + count - 2] = start + ears(outline)
    return triangles


def fan(counts: Ints) -> Ints:
    """Corner numbers (T, 3) of triangle fans around the first corner of each polygon."""
    inner = np.maximum(counts - 2, 0)
    first = np.repeat(np.cumsum(counts) - counts, inner)
    offset = np.arange(inner.sum()) - np.repeat(np.cumsum(inner) - inner, inner)
    return np.stack([first, first + offset + 1, first + offset + 2], axis=1)


def _normals(counts: Ints, places: Doubles) -> tuple[Doubles, NDArray[np.bool_]]:
    """The normal of each polygon, with twice its area as length, and whether it is concave."""
    owner = np.repeat(np.arange(len(counts)), counts)
    start = (np.cumsum(counts) - counts)[owner]
    number = np.arange(len(owner)) - start
    onwards = places[start + (number + 1) % counts[owner]] - places
    backwards = places[start + (number - 1) % counts[owner]] - places
    normals = np.zeros((len(counts), 3))
    away = places - places[start]
    np.add.at(normals, owner, np.cross(away, away + onwards))
    turn = (np.cross(onwards, backwards) * normals[owner]).sum(1)
    is_inwards = turn < -_STRAIGHT * (normals[owner] ** 2).sum(1)
    is_concave = np.zeros(len(counts), bool)
    is_concave[owner[is_inwards]] = True
    return normals, is_concave & (counts > 3)


def _flat(places: NDArray[Any], normal: Doubles) -> Doubles:
    """The polygon projected along the main axis of its normal, counterclockwise."""
    axis = int(np.abs(normal).argmax())
    across, up = (axis + 1) % 3, (axis + 2) % 3
    return np.asarray(places[:, [across, up] if normal[axis] > 0 else [up, across]], np.float64)


def ears(outline: Doubles) -> Ints:
    """Triangles of a counterclockwise polygon. If it crosses itself, the rest becomes a fan."""
    ring = list(range(len(outline)))
    found = []
    while len(ring) > 3:
        ear = next((at for at in range(len(ring)) if _is_ear(outline, ring, at)), None)
        if ear is None:
            break
        found.append((ring[ear - 1], ring[ear], ring[(ear + 1) % len(ring)]))
        del ring[ear]
    found += [(ring[0], *pair) for pair in pairwise(ring[1:])]
    return np.array(found, np.int64)


def _is_ear(outline: Doubles, ring: list[int], at: int) -> bool:
    """Whether the triangle at a corner is convex and contains no other corner."""
    corners = outline[[ring[at - 1], ring[at], ring[(at + 1) % len(ring)]]]
    if not _left_of(corners[0], corners[1], corners[2]) > 0:
        return False
    others = outline[ring]
    is_corner = (others[:, None] == corners).all(2).any(1)
    sides = [_left_of(corners[side - 1], corners[side], others) for side in range(3)]
    return not ((np.min(sides, axis=0) >= 0) & ~is_corner).any()


def _left_of(start: Doubles, end: Doubles, place: Doubles) -> Any:
    """Positive for positions to the left of a line."""
    way, off = end - start, place - start
    return way[0] * off[..., 1] - way[1] * off[..., 0]
