"""Displaced meshes: the true shape of a relief, to compare it with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.geometry import relief
from verdigris.core.geometry.mesh import Mesh, normalized
from verdigris.core.geometry.shapes import shape_mesh

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Doubles
    from verdigris.core.geometry.height_map import HeightMap

_MOST_TRIANGLES = 1 << 20
_SPHERE_ROWS = 64


def displace(mesh: Mesh, heights: HeightMap) -> Mesh:
    """The mesh in triangles as small as the texels of a height map, if they are not too many, each
    corner moved along the normal by its height. Normals are those of the displaced surface."""
    fine, extent = _divide(mesh, heights)
    uv, normal = fine.uv.reshape(-1, 2), normalized(fine.normal.reshape(-1, 3))
    along_u, along_v = (np.repeat(each, 3, 0) for each in fine.tangents())
    tangent = normalized(along_u - normal * (normal * along_u).sum(1, keepdims=True))
    bitangent = np.cross(normal, tangent)
    bitangent *= np.where((bitangent * along_v).sum(1, keepdims=True) < 0, -1, 1)
    x, y, z = relief.normal(heights, uv, extent).T[..., None]
    position = fine.position.reshape(-1, 3) + normal * relief.height_at(heights, uv)[:, None]
    facing = x * tangent + y * bitangent + z * normal
    moved, turned = (each.reshape(-1, 3, 3).astype(np.float32) for each in (position, facing))
    return Mesh(moved, turned, fine.uv)


def _divide(mesh: Mesh, heights: HeightMap) -> tuple[Mesh, Doubles]:
    """Each triangle in n x n, and the extents of uv at all corners."""
    # corners at the centres of texels and between them
    texels = 2 * np.abs(np.diff(mesh.uv, axis=1)).max((0, 1)) * heights.size
    most = math.isqrt(_MOST_TRIANGLES // len(mesh.uv))
    parts = max(1, min(most, math.ceil(float(texels.max()))))
    corners = _corners(parts)
    position, normal, uv = (
        np.einsum("pck,tkj->tpcj", corners, values).reshape(-1, 3, values.shape[-1])
        for values in (mesh.position, mesh.normal, mesh.uv)
    )
    extent = np.repeat(mesh.extents(), 3 * len(corners), 0).astype(np.float64)
    return Mesh(*(each.astype(np.float32) for each in (position, normal, uv))), extent


def _corners(parts: int) -> Doubles:
    """Barycentric corners (parts * parts, 3, 3) of the parts of a triangle."""
    i, j = (each.ravel() for each in np.mgrid[0:parts, 0:parts])
    upright, turned = i + j < parts, i + j < parts - 1
    found = []
    for chosen, steps in ((upright, ((0, 0), (1, 0), (0, 1))), (turned, ((1, 0), (1, 1), (0, 1)))):
        places = [(i[chosen] + right, j[chosen] + up) for right, up in steps]
        found.append(np.stack([np.stack([parts - a - b, a, b], 1) for a, b in places], 1))
    return np.concatenate(found) / parts


def base_mesh(kind: str, mesh: Mesh | None) -> Mesh:
    """The mesh to displace for a shape."""
    if kind == "plane":
        return _plane()
    return _sphere() if kind == "sphere" else mesh or shape_mesh(kind)


def _plane() -> Mesh:
    """The unit square, facing along z."""
    uv = np.array([[[0, 0], [1, 0], [1, 1]], [[0, 0], [1, 1], [0, 1]]], np.float32)
    position = np.concatenate([uv - 0.5, np.zeros((2, 3, 1))], -1).astype(np.float32)
    return Mesh(position, np.tile(np.array([0, 0, 1], np.float32), (2, 3, 1)), uv)


def _sphere() -> Mesh:
    """A unit sphere, around which u wraps twice."""
    v, u = np.mgrid[0 : _SPHERE_ROWS + 1, 0 : 2 * _SPHERE_ROWS + 1] / _SPHERE_ROWS
    # flat facets below the sphere would be seen
    turn, height = np.pi * (u - 0.5), np.pi * (v - 0.5)
    level = np.cos(height)
    place = np.stack([level * np.sin(turn), np.sin(height), level * np.cos(turn)], -1)

    def corners(values: Doubles) -> Doubles:
        a, b, c, d = values[:-1, :-1], values[:-1, 1:], values[1:, 1:], values[1:, :-1]
        return np.stack([np.stack([a, b, c], 2), np.stack([a, c, d], 2)], 2).reshape(
            -1, 3, values.shape[-1]
        )

    position, uv = (corners(each).astype(np.float32) for each in (place, np.stack([u, v], -1)))
    return Mesh(position, position.copy(), uv)
