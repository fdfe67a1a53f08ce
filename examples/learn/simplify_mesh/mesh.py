"""Triangles with normals and colours at their vertices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from kit import Floats
from numpy.typing import NDArray


class Mesh(NamedTuple):
    vertices: Floats
    triangles: NDArray[np.int32]
    normals: Floats
    colours: Floats


def normals_of(vertices: Floats, triangles: NDArray[np.integer]) -> Floats:
    """Of vertices: sums over their triangles, larger ones count more."""
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    face = np.cross(b - a, c - a)
    total = np.zeros_like(vertices)
    for corner in range(3):
        np.add.at(total, triangles[:, corner], face)
    return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-12)


def welded(mesh: Mesh) -> Mesh:
    """Vertices at one place become one, and triangles without area go."""
    places, first, index = np.unique(
        np.round(mesh.vertices, 5), axis=0, return_index=True, return_inverse=True
    )
    triangles = index.reshape(-1)[mesh.triangles]
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)].astype(np.int32)
    normals = normals_of(places.astype(np.float32), triangles)
    return Mesh(places.astype(np.float32), triangles, normals, mesh.colours[first])
