"""The brush with its mirror and the pressure of a pen, for the texture and for the viewport."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.importance.mirror import MeshMirror
from verdigris.ui.paint.weight_map import Brush, WeightMap
from verdigris.ui.signals.signal import Signal

# Mirrors: none, over the middle of the texture, over the plane x = 0 of the mesh.
NO_MIRROR, MIRROR_U, MIRROR_X = "none", "u", "x"
# What the pressure of a pen changes.
STRENGTH, SIZE, BOTH, NOTHING = "strength", "size", "both", "nothing"
SMALLEST, LARGEST = 0.01, 0.5
"""Radii of the brush, as shares of the texture."""
_SIZE_STEP = 1.15
_LEAST_PRESSURE = 0.05


class BrushTools:
    """Settings that strokes have in common. `find_mesh` returns the name and the triangles of the
    mesh in the view, or None."""

    def __init__(
        self, weights: WeightMap, find_mesh: Callable[[], tuple[str, Callable[[], Mesh]] | None]
    ) -> None:
        self._weights, self._find_mesh = weights, find_mesh
        self.brush = Brush()
        self.mirror = NO_MIRROR
        self.pen_changes = STRENGTH
        self.opacity = 0.7
        """Of the paint over the pictures."""
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
        """Applies the brush at a place, and at the one opposite of it."""
        brush = self._pressed(max(_LEAST_PRESSURE, pressure))
        brush = replace(brush, erases=brush.erases or erases)
        for place in self.places(u, v):
            self._weights.dab(*place, brush)

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
