"""Meshes to try the example on, of about unit size: stripes and spots make errors visible."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from kit import Floats
from mesh import Mesh, normals_of
from numpy.typing import NDArray

from verdigris.core.geometry.mesh import load_mesh

TRAY = Path(__file__).resolve().parents[2] / "tray.obj"


def with_looks(vertices: Floats, triangles: NDArray[np.integer], spots: float) -> Mesh:
    """Centred and scaled, with smooth normals, and with stripes and spots."""
    vertices = vertices - (vertices.max(0) + vertices.min(0)) / 2
    vertices = (vertices / np.linalg.norm(vertices, axis=1).max()).astype(np.float32)
    x, y, z = spots * vertices.T
    share = 0.5 + 0.25 * (np.sin(x + 2 * np.sin(y)) + np.sin(2 * z + np.sin(x)))
    colours = np.outer(share, [0.95, 0.6, 0.2]) + np.outer(1 - share, [0.1, 0.25, 0.5])
    triangles = triangles.astype(np.int32)
    return Mesh(vertices, triangles, normals_of(vertices, triangles), colours.astype(np.float32))


def grid(rows: int, columns: int, closes_rows: bool) -> NDArray[np.int32]:
    """Triangles of a grid of vertices, whose last column joins the first, and perhaps its rows."""
    row, column = np.mgrid[: rows if closes_rows else rows - 1, :columns]
    corners = [
        (row + i) % rows * columns + (column + j) % columns
        for i, j in ((0, 0), (0, 1), (1, 1), (1, 0))
    ]
    a, b, c, d = (each.ravel() for each in corners)
    return np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


def knot(detail: int) -> Mesh:
    """A tube along a trefoil."""
    turn = np.linspace(0, 2 * np.pi, 6 * detail, endpoint=False)
    around = np.linspace(0, 2 * np.pi, detail, endpoint=False)
    reach = 2 + np.cos(3 * turn)
    centre = np.stack([reach * np.cos(2 * turn), reach * np.sin(2 * turn), np.sin(3 * turn)], 1)
    along = np.roll(centre, -1, 0) - np.roll(centre, 1, 0)
    side = np.cross(along, [0, 0, 1.0])
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(side, along)
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    ring = np.cos(around)[:, None, None] * side + np.sin(around)[:, None, None] * up
    vertices = (centre + 0.42 * ring).swapaxes(0, 1).reshape(-1, 3)
    return with_looks(vertices, grid(len(turn), detail, True)[:, ::-1], 9)


def stone(detail: int) -> Mesh:
    """A sphere with bumps."""
    height = np.linspace(0, np.pi, 2 * detail)
    turn = np.linspace(0, 2 * np.pi, 3 * detail, endpoint=False)
    h, t = np.meshgrid(height, turn, indexing="ij")
    unit = np.stack([np.sin(h) * np.cos(t), np.sin(h) * np.sin(t), np.cos(h)], -1).reshape(-1, 3)
    x, y, z = unit.T
    bumps = 1 + 0.12 * np.sin(5 * x + 2) * np.sin(6 * y) + 0.06 * np.sin(13 * z + 4 * x)
    return with_looks(unit * bumps[:, None], grid(len(height), len(turn), False)[:, ::-1], 6)


def tray(_: int) -> Mesh:
    """The tray of the examples."""
    corners = load_mesh(TRAY).position.reshape(-1, 3)
    return with_looks(corners, np.arange(len(corners)).reshape(-1, 3), 8)


def arm(detail: int) -> Mesh:
    """A tube along x from -1 to 1 that is thick at both ends, to bend."""
    along = np.linspace(-1, 1, 6 * detail)
    around = np.linspace(0, 2 * np.pi, 2 * detail, endpoint=False)
    radius = 0.2 + 0.08 * np.cos(4 * along) + 0.02 * np.sin(23 * along)
    x, a = np.meshgrid(along, around, indexing="ij")
    r = np.broadcast_to(radius[:, None], x.shape)
    vertices = np.stack([x, r * np.cos(a), r * np.sin(a)], -1).reshape(-1, 3)
    return with_looks(vertices, grid(len(along), len(around), False), 9)


MESHES = {"tray": tray, "knot": knot, "stone": stone}
