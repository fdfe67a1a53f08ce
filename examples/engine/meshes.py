"""Meshes of simple shapes, with texture coordinates in repeats of a material."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Mesh:
    points: Floats
    normals: Floats
    uvs: Floats
    triangles: NDArray[np.uint32]

    def __post_init__(self) -> None:
        for name in ("points", "normals", "uvs"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), np.float32))
        object.__setattr__(self, "triangles", np.asarray(self.triangles, np.uint32))

    def tiled(self, u: float, v: float | None = None) -> Mesh:
        """With the texture this many times as often."""
        return replace(self, uvs=self.uvs * (u, u if v is None else v))


def joined(*meshes: Mesh) -> Mesh:
    starts = np.cumsum([0, *(len(mesh.points) for mesh in meshes[:-1])])
    return Mesh(
        np.vstack([mesh.points for mesh in meshes]),
        np.vstack([mesh.normals for mesh in meshes]),
        np.vstack([mesh.uvs for mesh in meshes]),
        np.vstack([mesh.triangles + start for mesh, start in zip(meshes, starts, strict=True)]),
    )


def rectangle(corner: tuple, along: tuple, up: tuple, per_repeat: float = 1.0) -> Mesh:
    """A rectangle that faces `along` x `up`; a repeat of the material is `per_repeat` wide."""
    origin, u, v = (np.array(each, float) for each in (corner, along, up))
    normal = np.cross(u, v)
    size = np.array([np.linalg.norm(u), np.linalg.norm(v)]) / per_repeat
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    return Mesh(
        origin + square[:, :1] * u + square[:, 1:] * v,
        np.tile(normal / np.linalg.norm(normal), (4, 1)),
        square * size,
        np.array([[0, 1, 2], [0, 2, 3]]),
    )


def box(low: tuple, high: tuple, per_repeat: float = 1.0) -> Mesh:
    """A box that faces outwards."""
    x, y, z = np.array(high, float) - low
    a, b, c = low
    d, e, f = high
    sides = [
        ((a, b, f), (x, 0, 0), (0, y, 0)),
        ((d, b, c), (-x, 0, 0), (0, y, 0)),
        ((d, b, f), (0, 0, -z), (0, y, 0)),
        ((a, b, c), (0, 0, z), (0, y, 0)),
        ((a, e, f), (x, 0, 0), (0, 0, -z)),
        ((a, b, c), (x, 0, 0), (0, 0, z)),
    ]
    return joined(*(rectangle(*side, per_repeat) for side in sides))


def grid(points: NDArray[np.float64], normals: NDArray[np.float64], uvs: Floats) -> Mesh:
    """Quads between the rows and columns of (rows, columns, 3), without triangles of no area."""
    rows, columns = points.shape[:2]
    first = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = first[:-1, :-1], first[:-1, 1:], first[1:, 1:], first[1:, :-1]
    triangles = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])
    triangles = triangles.reshape(-1, 3)
    flat = points.reshape(-1, 3)
    p, q, r = (flat[triangles[:, corner]] for corner in range(3))
    has_area = np.linalg.norm(np.cross(q - p, r - p), axis=1) > 1e-12
    return Mesh(flat, normals.reshape(-1, 3), uvs.reshape(-1, 2), triangles[has_area])


def lathe(profile: list[tuple[float, float]], repeats: int, segments: int = 48) -> Mesh:
    """A body of revolution around y: (radius, height) from the top to the bottom. u goes around."""
    line = _smooth(np.array(profile, float))
    steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
    length = np.concatenate([[0.0], np.cumsum(steps)])
    angle = np.linspace(0.0, 2.0 * np.pi, segments + 1)
    cosine, sine = np.cos(angle), np.sin(angle)
    radius, height = line[:, :1], line[:, 1:]
    points = np.stack([radius * cosine, np.broadcast_to(height, (len(line), segments + 1)),
                       -radius * sine], -1)  # fmt: skip
    slope = np.gradient(line, axis=0)
    slope /= np.linalg.norm(slope, axis=1, keepdims=True)
    out, up = -slope[:, 1:], slope[:, :1]
    normals = np.stack([out * cosine, np.broadcast_to(up, out.shape) + 0 * cosine, -out * sine], -1)
    widest = 2.0 * np.pi * radius.max() / repeats
    u = np.broadcast_to(angle / (2.0 * np.pi) * repeats, points.shape[:2])
    v = np.broadcast_to((length[-1] - length)[:, None] / widest, points.shape[:2])
    return grid(points, normals, np.stack([u, v], -1))


def _smooth(points: NDArray[np.float64], count: int = 4) -> NDArray[np.float64]:
    """Points along a Catmull-Rom curve through these."""
    p = np.vstack([2 * points[0] - points[1], points, 2 * points[-1] - points[-2]])
    t = np.linspace(0.0, 1.0, count, endpoint=False)[:, None]
    parts = [
        0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2
               + (3 * b - a - 3 * c + d) * t**3)
        for a, b, c, d in zip(p[:-3], p[1:-2], p[2:-1], p[3:], strict=True)
    ]  # fmt: skip
    line = np.vstack([*parts, points[-1:]])
    line[:, 0] = np.maximum(line[:, 0], 0.0)
    return line


def sphere(radius: float, repeats: int = 2) -> Mesh:
    angle = np.linspace(0.0, np.pi, 33)
    profile = np.stack([np.sin(angle), np.cos(angle)], -1)
    columns = np.linspace(0.0, 2.0 * np.pi, 65)
    points = np.stack(
        [
            profile[:, :1] * np.cos(columns),
            np.broadcast_to(profile[:, 1:], (33, 65)),
            -profile[:, :1] * np.sin(columns),
        ],
        -1,
    )
    u, v = np.meshgrid(columns / (2 * np.pi) * 2 * repeats, (1 - angle / np.pi) * repeats)
    return grid(radius * points, points, np.stack([u, v], -1))


def read_obj(path: Path) -> Mesh:
    """A mesh of triangles whose corners have one index for position, normal and uv."""
    rows: dict[str, list[list[str]]] = {"v": [], "vt": [], "vn": [], "f": []}
    for line in path.read_text(encoding="utf-8").splitlines():
        key, *values = line.split() or ("",)
        if key in rows:
            rows[key].append(values)
    points, uvs, normals = (np.array(rows[key], float) for key in ("v", "vt", "vn"))
    triangles = np.array([[corner.split("/")[0] for corner in face] for face in rows["f"]], int) - 1
    return Mesh(points, normals, uvs, triangles)
