"""Shapes that are made here, to look at materials: a shader ball, a cloth, a tile."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.geometry.mesh import Mesh

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Doubles


BALL, CLOTH, TILE = SHAPES = ("ball", "cloth", "tile")
# Degrees above the horizon from which each shape is seen.
ELEVATIONS = {BALL: 12.0, CLOTH: 14.0, TILE: 30.0}
_AROUND = 96


@cache
def shape_mesh(name: str) -> Mesh:
    """The mesh of a shape of SHAPES."""
    return {BALL: _ball, CLOTH: _cloth, TILE: _tile}[name]()


def find_shape(name: str) -> Mesh | None:
    """The mesh of a shape of SHAPES; None for a sphere, a plane or a mesh of a file."""
    return shape_mesh(name) if name in SHAPES else None


def _grid(position: Doubles, uv: Doubles, along_u: Doubles | None = None) -> Mesh:
    """Two triangles for each square of a grid (rows, columns), with smooth normals. uv grows with
    the columns and with the rows, and the outer side sees both in this order."""
    if along_u is None:
        along_u = np.gradient(position, axis=1)
    normal = np.cross(along_u, np.gradient(position, axis=0))
    length = np.linalg.norm(normal, axis=-1, keepdims=True)
    # corners where rows or columns meet have no direction of their own
    away = position / np.maximum(np.linalg.norm(position, axis=-1, keepdims=True), 1e-12)
    normal = np.where(length > 1e-9, normal / np.maximum(length, 1e-12), away)

    def corners(values: Doubles) -> NDArray[np.float32]:
        a, b = values[:-1, :-1], values[:-1, 1:]
        c, d = values[1:, 1:], values[1:, :-1]
        triangles = np.stack([np.stack([a, b, c], 2), np.stack([a, c, d], 2)], 2)
        return np.ascontiguousarray(triangles.reshape(-1, 3, values.shape[-1]), np.float32)

    return Mesh(corners(position), corners(normal), corners(uv))


def _joined(*meshes: Mesh) -> Mesh:
    arrays = [
        np.concatenate([getattr(each, name) for each in meshes])
        for name in ("position", "normal", "uv")
    ]
    return Mesh(*arrays)


def _lathe(profile: Doubles, u: float, v: tuple[float, float]) -> Mesh:
    """Turns a profile of (radius, height), from bottom to top, about the vertical axis."""
    angle = np.linspace(0, 2 * np.pi, _AROUND + 1)
    radius, height = profile[:, 0, None], profile[:, 1, None]
    radius, height, turn = np.broadcast_arrays(radius, height, angle)
    position = np.stack([radius * np.sin(turn), height, radius * np.cos(turn)], -1)
    # exact, so that there is no seam
    along_u = np.stack([np.cos(turn), np.zeros_like(turn), -np.sin(turn)], -1)
    steps = np.linalg.norm(np.diff(profile, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    along = v[0] + (v[1] - v[0]) * along / along[-1]
    uv = np.stack(np.broadcast_arrays(u * angle / (2 * np.pi), along[:, None]), -1)
    return _grid(position, uv, along_u)


def _ball() -> Mesh:
    """A ball with a groove around its waist, which shows edges, on a foot."""
    polar = np.linspace(np.pi - 0.55, 1e-3, 96)
    groove = 0.055 * np.exp(-(((polar - 1.83) / 0.07) ** 4))
    radius = 1.0 - groove
    ball = np.stack([radius * np.sin(polar), radius * np.cos(polar)], 1)
    foot = np.array([[0.92, -1.22], [0.95, -1.19], [0.95, -1.12], [0.90, -1.07], [0.62, -1.03]])
    neck = np.array([[0.55, -0.98], [0.50, -0.90], [0.50, -0.84]])
    fine = [
        start + (end - start) * np.linspace(0, 1, 6, endpoint=False)[:, None]
        for start, end in pairwise(foot)
    ]
    stand = _lathe(np.concatenate([*fine, foot[-1:], neck]), 2.0, (0.0, 0.3))
    return _joined(stand, _lathe(ball, 2.0, (0.0, 1.0)))


def _cloth() -> Mesh:
    """A cloth that hangs over a ball, in folds that grow towards its hem."""
    side = np.linspace(-1.35, 1.35, 97)
    x, z = np.meshgrid(side, -side)
    away = np.hypot(x, z)
    angle = np.arctan2(z, x)
    over = np.clip(away - 0.62, 0, None)
    drop = np.where(over > 0, 0.32 * over + 0.42 * over**2, 0)
    top = 0.9 * np.sqrt(np.clip(1 - (np.minimum(away, 0.98) / 1.15) ** 2, 0, 1))
    folds = 0.10 * over * (np.sin(7 * angle + 0.6) + 0.5 * np.sin(11 * angle + 2.0))
    creases = 0.012 * np.sin(9 * x + 4 * z) * np.exp(-((away - 0.7) ** 2) * 3)
    height = top - 0.9 * drop + folds + creases
    scale = 1 - 0.16 * over
    position = np.stack([x * scale, height, z * scale], -1)
    uv = np.stack([(x + 1.35) / 2.7, (1.35 - z) / 2.7], -1)
    return _grid(position, uv)


def _tile() -> Mesh:
    """A slab with round edges, as a sample of stone or ceramics."""
    edge, half, thick = 0.06, 1.0, 0.16
    turn = np.linspace(0, np.pi / 2, 7)
    # from the outer rim inwards: down the side, around the edge, over the top
    profile = np.concatenate(
        [[half], half - edge + edge * np.cos(turn), np.linspace(half - edge, 0, 17)[1:]]
    )
    level = np.concatenate([[-thick], -edge + edge * np.sin(turn), np.zeros(16)])
    across = np.concatenate([-profile, profile[::-1][1:]])
    fall = np.concatenate([level, level[::-1][1:]])
    x, z = np.meshgrid(across, -across)
    height = np.minimum(*np.meshgrid(fall, fall))
    position = np.stack([x, height, z], -1)
    uv = np.stack([(x + half) / (2 * half), (half - z) / (2 * half)], -1)
    return _grid(position, uv)


@cache
def sphere_mesh() -> Mesh:
    """A unit sphere of triangles, to throw shadows: pictures draw the exact one."""
    rows, columns = _AROUND // 2, _AROUND
    u, v = np.meshgrid(np.linspace(0, 2, columns + 1), np.linspace(0, 1, rows + 1))
    along, up = np.pi * u, np.pi * (v - 0.5)
    position = np.stack([np.cos(up) * np.sin(along), np.sin(up), np.cos(up) * np.cos(along)], -1)
    return _grid(position, np.stack([u, v], -1))
