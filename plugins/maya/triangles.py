"""Converts polygons of Maya to triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import HostError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def triangle_corners(
    counts: Ints, vertices: Ints, triangle_counts: Ints, triangle_vertices: Ints
) -> tuple[Ints, Ints]:
    """The face-vertex of each corner (T, 3) and the face of each triangle (T,).

    Maya stores triangles by vertex, but colours, normals and uvs by face-vertex.
    """
    faces = np.repeat(np.arange(len(counts)), triangle_counts)
    face_of_corner = np.repeat(np.arange(len(counts)), counts)
    most = int(vertices.max(initial=0)) + 1
    keys = face_of_corner * most + vertices
    order = np.argsort(keys, kind="stable")
    corner_keys = np.repeat(faces, 3) * most + triangle_vertices
    place = np.searchsorted(keys[order], corner_keys)
    corners = order[np.minimum(place, len(order) - 1)]
    return corners.reshape(-1, 3), faces


def uv_of_corners(counts: Ints, uv_counts: Ints, uv_ids: Ints, mesh: str) -> Ints:
    """The uv index of each face-vertex. Faces without uvs are an error."""
    if not uv_counts.any():
        raise HostError(f"{mesh} has no texture coordinates: unwrap it (UV > Automatic)")
    bare = int((uv_counts != counts).sum())
    if bare:
        raise HostError(
            f"{mesh}: {bare} of {len(counts)} faces have no texture coordinates: unwrap them"
        )
    return uv_ids


def faces_of_part(part: str, count: int) -> Ints:
    """The faces of a component such as `f[0:3]`. All faces of the mesh if it is empty."""
    if not part:
        return np.arange(count)
    low, colon, high = part.removeprefix("f[").removesuffix("]").partition(":")
    if low == "*":
        return np.arange(count)
    first = int(low)
    return np.arange(first, (int(high) if colon else first) + 1)
