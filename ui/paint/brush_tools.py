"""The brush with its mirror and the pressure of a pen, for the texture and for the viewport."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.geometry.raster import rasterize
from verdigris.ui.paint.brush_space import (
    OBJECT,
    TEXTURE,
    VIEW,
    Surface,
    length_in_view,
    plane,
    sphere,
    surface_of,
)
from verdigris.ui.paint.weight_map import Brush, WeightMap
from verdigris.ui.signals import Signal

# Mirrors: none, over the middle of the texture, over the plane x = 0 of the mesh.
NO_MIRROR, MIRROR_U, MIRROR_X = "none", "u", "x"
# What the pressure of a pen changes.
STRENGTH, SIZE, BOTH, NOTHING = "strength", "size", "both", "nothing"
SMALLEST, LARGEST = 0.01, 0.5
"""Radii of the brush, as shares of the texture, the object or the view."""
# Half a texel of the map.
_LEAST_RADIUS = 0.004
_SIZE_STEP = 1.15
_LEAST_PRESSURE = 0.05
# A side of the map in which a place is mirrored.
_TEXELS = 256
# Parts of the mesh that have no counterpart are not mirrored: the largest distance to it, as a
# share of the mesh's size.
_REACH = 0.03


class BrushTools:
    """Settings that all strokes share. `find_mesh` returns the name and the triangles of the mesh
    in the view, or None."""

    def __init__(
        self,
        weights: WeightMap,
        find_mesh: Callable[[], tuple[str, Callable[[], Mesh]] | None],
        find_places: Callable[[], tuple[str, Any]] = lambda: ("sphere", None),
    ) -> None:
        self._weights, self._find_mesh = weights, find_mesh
        self._find_places = find_places
        self.space = TEXTURE
        """What the radius of the brush is a share of."""
        self._surface_of: tuple[str, Surface] = ("sphere", sphere())
        self.brush = Brush()
        self.mirror = NO_MIRROR
        self.pen_changes = STRENGTH
        self.opacity = 0.7
        """The opacity of the paint over the pictures."""
        self.changed = Signal()
        self._mirror_of: tuple[str, MeshMirror | None] = ("", None)

    def set(self, **values: Any) -> None:
        """Changes settings of the brush, or of the tools."""
        own = {name: values.pop(name) for name in [*values] if hasattr(self, name)}
        for name, value in own.items():
            setattr(self, name, value)
        self.brush = replace(self.brush, **values)
        self.changed.emit()

    def resize(self, steps: int) -> None:
        """Makes the brush larger or smaller."""
        radius = self.brush.radius * _SIZE_STEP**steps
        self.set(radius=min(LARGEST, max(SMALLEST, radius)))

    def dab(self, u: float, v: float, pressure: float = 1.0, erases: bool = False) -> None:
        """Applies the brush at a place, and at the mirrored one."""
        brush = self._pressed(max(_LEAST_PRESSURE, pressure))
        brush = replace(brush, erases=brush.erases or erases)
        for place in self.places(u, v):
            self._weights.dab(*place, replace(brush, radius=self.radius_at(*place, brush.radius)))

    def radius_at(self, u: float, v: float, radius: float | None = None) -> float:
        """The radius of the brush at a place, as a share of the texture."""
        found = self.brush.radius if radius is None else radius
        if self.space == OBJECT:
            found *= self.surface.extent * self.surface.length_at(u, v)
        elif self.space == VIEW:
            found *= length_in_view(self._find_places()[1], u, v) or 1.0
        return min(LARGEST, max(_LEAST_RADIUS, found))

    @property
    def surface(self) -> Surface:
        """The shape in the view."""
        found, shape = self._find_mesh(), self._find_places()[0]
        name = found[0] if found is not None else shape
        if name != self._surface_of[0]:
            self._surface_of = name, self._measure(found, shape)
        return self._surface_of[1]

    def _measure(self, found: tuple[str, Callable[[], Mesh]] | None, shape: str) -> Surface:
        try:
            if found is not None:
                return surface_of(found[1]())
        except VerdigrisError:
            # the viewport has reported why it cannot be read
            pass
        return plane() if shape == "plane" else sphere()

    def places(self, u: float, v: float) -> list[tuple[float, float]]:
        """The place, and the mirrored one."""
        other = None
        if self.mirror == MIRROR_U:
            other = 1.0 - u, v
        elif self.mirror == MIRROR_X:
            found = self._mesh_mirror()
            # a sphere and a plane are symmetric over the middle of their texture
            other = found.place(u, v) if found else (1.0 - u, v)
        return [(u, v)] if other is None else [(u, v), other]

    def _mesh_mirror(self) -> MeshMirror | None:
        found = self._find_mesh()
        if found is None:
            return None
        name, load = found
        if name != self._mirror_of[0]:
            try:
                self._mirror_of = name, MeshMirror(load())
            except VerdigrisError:
                # the viewport has reported why it cannot be read
                self._mirror_of = name, None
        return self._mirror_of[1]

    def _pressed(self, pressure: float) -> Brush:
        brush = self.brush
        if self.pen_changes in (STRENGTH, BOTH):
            brush = replace(brush, strength=brush.strength * pressure)
        if self.pen_changes in (SIZE, BOTH):
            brush = replace(brush, radius=max(SMALLEST, brush.radius * pressure))
        return brush


class MeshMirror:
    """Finds the uv of the surface at (-x, y, z) for the uv of the surface at (x, y, z)."""

    def __init__(self, mesh: Mesh) -> None:
        uv = mesh.uv - np.floor(mesh.uv.mean(1, keepdims=True))
        cover = rasterize(
            (uv * _TEXELS).astype(np.float32), np.zeros(uv.shape[:2], np.float32), _TEXELS, _TEXELS
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
