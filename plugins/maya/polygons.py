"""Maya's polygons as triangles by corner."""

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
    """The face-vertex number of each triangle's corner (T, 3), and each triangle's face (T,).

    Maya numbers triangles by vertex; colours, normals and uvs go by face and vertex.
    """
    faces = np.repeat(np.arange(len(counts)), triangle_counts)
    face_of_corner = np.repeat(np.arange(len(counts)), counts)
    most = int(vertices.max(initial=0)) + 1
    keys = face_of_corner * most + vertices
    order = np.argsort(keys, kind="stable")
    wanted = np.repeat(faces, 3) * most + triangle_vertices
    place = np.searchsorted(keys[order], wanted)
    corners = order[np.minimum(place, len(order) - 1)]
    return corners.reshape(-1, 3), faces


def uv_of_corners(counts: Ints, uv_counts: Ints, uv_ids: Ints, mesh: str) -> Ints:
    """The uv number of each face-vertex; faces without uvs are an error that counts them."""
    if not uv_counts.any():
        raise HostError(f"{mesh}: has no texture coordinates: unwrap it (UV > Automatic) first")
    bare = int((uv_counts != counts).sum())
    if bare:
        raise HostError(
            f"{mesh}: {bare} of {len(counts)} faces have no texture coordinates: unwrap them first"
        )
    return uv_ids
