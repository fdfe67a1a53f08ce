"""The scene that rungs are fitted to and drawn in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verdigris.core.ladder.mesh.mesh_surface import Atlas, Surface
    from verdigris.core.ladder.views.visibility import DeviceSurface
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.pictures.environment_render import EnvironmentLighting


@dataclass(frozen=True)
class Scene:
    """What rungs are fitted to and drawn in."""

    teacher: Teacher
    geometry: DeviceSurface
    lighting: EnvironmentLighting
    exposure: float
    """Factor of light, with which pictures are compared."""
    first_set: str
    """The uv set of lit textures and of detail."""
    unique_set: str | None
    """The one of light; None if no rung needs one."""
    has_emission: bool
    atlas: Atlas | None = None
    """UDIM tiles of the first set, which is then the atlas' set."""

    @property
    def surface(self) -> Surface:
        return self.geometry.surface

    @property
    def tiles_a_side(self) -> int:
        """How many times larger textures on the first set are."""
        return self.atlas.side if self.atlas else 1
