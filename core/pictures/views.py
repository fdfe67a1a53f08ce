"""What a camera sees: for each pixel a place, a frame, and the direction to the eye."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.pictures.mesh import Mesh, normalized
from verdigris.core.pictures.raster import rasterize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_X_AXIS, _Y_AXIS, _Z_AXIS = np.eye(3, dtype=np.float32)
_FIELD_OF_VIEW = np.radians(24.0)
_MARGIN = 1.06
_MESH_PITCH = np.radians(40.0)
_MESH_TURN = np.radians(20.0)


@dataclass(frozen=True)
class View:
    """The pixels that hit something, by their number in the picture, row 0 at the top."""

    size: int
    pixel: NDArray[np.int64]
    uv: Floats
    position: Floats
    tangent: Floats
    bitangent: Floats
    normal: Floats
    to_eye: Floats

    def frames(self) -> Floats:
        parts = (self.position, self.tangent, self.bitangent, self.normal)
        return np.concatenate(parts, axis=1).astype(np.float32)


def plane_view(size: int) -> View:
    """The unit square, filling the picture, seen from above by a camera at its middle."""
    x, y = _pixel_grid(size, 0.5)
    position = np.stack([x, y, np.zeros_like(x)], 1)
    eye = np.array([0.0, 0.0, 0.5 / np.tan(_FIELD_OF_VIEW / 2)])
    count = len(x)
    return View(
        size,
        np.arange(count),
        (position[:, :2] + 0.5).astype(np.float32),
        position.astype(np.float32),
        np.tile(_X_AXIS, (count, 1)),
        np.tile(_Y_AXIS, (count, 1)),
        np.tile(_Z_AXIS, (count, 1)),
        normalized((eye - position).astype(np.float32)),
    )


def sphere_view(size: int) -> View:
    """A unit sphere. u goes round it twice, so that texels are about square."""
    distance = _MARGIN / np.sin(_FIELD_OF_VIEW / 2)
    x, y = _pixel_grid(size, np.tan(_FIELD_OF_VIEW / 2))
    ray = normalized(np.stack([x, y, -np.ones_like(x)], 1))
    # |eye + t ray| = 1 with the eye at (0, 0, distance)
    half_b = distance * ray[:, 2]
    discriminant = half_b**2 - (distance**2 - 1.0)
    hit = np.flatnonzero(discriminant > 0)
    t = -half_b[hit] - np.sqrt(discriminant[hit])
    position = ray[hit] * t[:, None] + [0.0, 0.0, distance]
    normal = normalized(position)
    u = np.arctan2(normal[:, 0], normal[:, 2]) / np.pi + 0.5
    v = 0.5 + np.arcsin(np.clip(normal[:, 1], -1, 1)) / np.pi
    tangent = normalized(np.stack([normal[:, 2], np.zeros_like(u), -normal[:, 0]], 1))
    tangent[~tangent.any(1)] = [1.0, 0.0, 0.0]
    return View(
        size,
        hit,
        np.stack([u, v], 1).astype(np.float32),
        position.astype(np.float32),
        tangent.astype(np.float32),
        np.cross(normal, tangent).astype(np.float32),
        normal.astype(np.float32),
        (-ray[hit]).astype(np.float32),
    )


def mesh_view(mesh: Mesh, size: int) -> View:
    """A mesh, framed whole, seen from above and a little from the side."""
    low, high = mesh.position.min((0, 1)), mesh.position.max((0, 1))
    centre = (low + high) / 2
    radius = float(np.linalg.norm(mesh.position - centre, axis=-1).max()) or 1.0
    turn = _rotation()
    placed = (mesh.position - centre) @ turn.T
    distance = radius * _MARGIN / np.sin(_FIELD_OF_VIEW / 2)
    z = distance - placed[..., 2]
    scale = size / 2 / np.tan(_FIELD_OF_VIEW / 2)
    screen = np.stack(
        [size / 2 + placed[..., 0] / z * scale, size / 2 - placed[..., 1] / z * scale], -1
    )
    cover = rasterize(screen.astype(np.float32), z.astype(np.float32), size, size)
    pixel = np.flatnonzero(cover.triangle >= 0)
    owner = cover.triangle.reshape(-1)[pixel]
    flat = cover.weights.reshape(-1, 3)[pixel]
    weights = flat / z[owner]  # perspective: what is linear is divided by depth
    weights = (weights / weights.sum(1, keepdims=True))[:, :, None]
    position = (mesh.position[owner] * weights).sum(1)
    eye = centre + np.array([0.0, 0.0, distance]) @ turn
    to_eye = normalized((eye - position).astype(np.float32))
    normal = normalized((mesh.normal[owner] * weights).sum(1).astype(np.float32))
    normal = np.where((normal * to_eye).sum(1, keepdims=True) < 0, -normal, normal)
    along_u, along_v = mesh.tangents()
    tangent, bitangent = frame_from(normal, along_u[owner], along_v[owner])
    return View(
        size,
        pixel,
        (mesh.uv[owner] * weights).sum(1).astype(np.float32),
        position.astype(np.float32),
        tangent,
        bitangent,
        normal,
        to_eye,
    )


def frame_from(normal: Floats, along_u: Floats, along_v: Floats) -> tuple[Floats, Floats]:
    """Tangent and bitangent orthonormal with `normal`; mirrored uv keep their handedness."""
    tangent = along_u - normal * (normal * along_u).sum(1, keepdims=True)
    lost = (tangent**2).sum(1) < 1e-12
    axis = np.where(np.abs(normal[:, :1]) < 0.9, _X_AXIS, _Y_AXIS)
    tangent[lost] = np.cross(axis, normal)[lost]
    tangent = normalized(tangent)
    bitangent = np.cross(normal, tangent)
    flip = (bitangent * along_v).sum(1, keepdims=True) < 0
    return tangent.astype(np.float32), np.where(flip, -bitangent, bitangent).astype(np.float32)


def _pixel_grid(size: int, half: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    centre = ((np.arange(size) + 0.5) / size * 2 - 1) * half
    x, y = np.meshgrid(centre, -centre)
    return x.reshape(-1), y.reshape(-1)


def _rotation() -> NDArray[np.float64]:
    cp, sp = np.cos(_MESH_PITCH), np.sin(_MESH_PITCH)
    ct, st = np.cos(_MESH_TURN), np.sin(_MESH_TURN)
    pitch = np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
    yaw = np.array([[ct, 0, st], [0, 1, 0], [-st, 0, ct]])
    return np.asarray(pitch @ yaw)
