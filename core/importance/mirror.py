"""The place on the other side of a mesh's plane x = 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.geometry.raster import rasterize

if TYPE_CHECKING:
    from verdigris.core.geometry.mesh import Mesh

_TEXELS = 256
# Parts of the mesh that have no counterpart are not mirrored: the largest distance to it, as a
# share of the mesh's size.
_REACH = 0.03


class MeshMirror:
    """Finds the uv of the surface at (-x, y, z) for the uv of the surface at (x, y, z)."""

    def __init__(self, mesh: Mesh) -> None:
        uv = mesh.uv - np.floor(mesh.uv.mean(1, keepdims=True))
        cover = rasterize(
            (uv * _TEXELS).astype(np.float32),
            np.zeros(uv.shape[:2], np.float32),
            _TEXELS,
            _TEXELS,
        )
        row, column = np.nonzero(cover.triangle >= 0)
        owner, weights = cover.triangle[row, column], cover.weights[row, column]
        self._uv = np.stack([column + 0.5, row + 0.5], 1) / _TEXELS
        self._position = (mesh.position[owner] * weights[:, :, None]).sum(1)
        low, high = (
            each(mesh.position.reshape(-1, 3), axis=0, initial=0.0) for each in (np.min, np.max)
        )
        self._reach = _REACH * float((high - low).max())

    def place(self, u: float, v: float) -> tuple[float, float] | None:
        """The uv on the other side; None where the mesh has no surface there."""
        if not len(self._uv):
            return None
        away = np.abs(self._uv - (u % 1.0, v % 1.0))
        away = np.minimum(away, 1 - away)
        here = int((away**2).sum(1).argmin())
        if away[here].max() > 2 / _TEXELS:
            return None
        wanted = self._position[here] * (-1.0, 1.0, 1.0)
        distance = ((self._position - wanted) ** 2).sum(1)
        found = int(distance.argmin())
        if distance[found] > self._reach**2:
            return None
        return float(self._uv[found, 0]), float(self._uv[found, 1])
