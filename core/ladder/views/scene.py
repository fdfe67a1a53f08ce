"""The scene that rungs are fitted to and drawn in, and the views of it that a fit compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import SettingsError
from verdigris.core.ladder.views.visibility import DeviceSurface
from verdigris.core.lighting.device_lighting import DeviceEnvironment
from verdigris.core.pictures.environment_render import SHADE_ENVIRONMENT, EnvironmentLighting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats
    from verdigris.core.ladder.mesh.mesh_surface import Atlas, Surface
    from verdigris.core.ladder.views.visibility import Seen
    from verdigris.core.lighting.environment import Environment
    from verdigris.core.material.teacher.teacher import Teacher


# The part of the pixels that checks a fit.
_APART = 0.15


@dataclass(frozen=True)
class Scene:
    """A material on its mesh under a light."""

    teacher: Teacher
    geometry: DeviceSurface
    lighting: EnvironmentLighting
    exposure: float
    """Light is multiplied by it before pictures are compared."""
    first_set: str
    """The uv set of the material: of lit textures and of detail."""
    unique_set: str | None
    """The uv set of stored light, without overlaps; None if no rung needs one."""
    has_emission: bool
    atlas: Atlas | None = None
    """The UDIM tiles of the first set, which is then that of the atlas."""

    @classmethod
    def build(
        cls,
        teacher: Teacher,
        surface: Surface,
        environment: Environment,
        uv_set: str | None,
        needs_unique: bool,
        has_tiles: bool,
    ) -> Scene:
        """Uploads a scene. `uv_set` is that of the material, by default the mesh's first.
        `needs_unique`: stored light needs a uv set without overlaps. With `has_tiles`, unit squares
        of uv are UDIM tiles."""
        first_set, atlas = surface.require_set(uv_set), None
        if has_tiles and len(surface.reports[first_set].tiles) > 1:
            surface, atlas = surface.with_atlas(first_set)
            first_set = atlas.uv_set
        elif needs_unique and not surface.has_unique_set and surface.is_of_tiles(first_set):
            # light differs between tiles that share the material's textures
            surface, _ = surface.with_atlas(first_set)
        geometry = DeviceSurface(teacher.device, surface)
        lit_by = DeviceEnvironment.upload(teacher.device, environment)
        return cls(
            teacher,
            geometry,
            EnvironmentLighting(lit_by, geometry.occluders, follows_highlights=False),
            2.0**environment.exposure,
            first_set,
            surface.require_unique_set() if needs_unique else None,
            not teacher.is_dark_and_opaque,
            atlas,
        )

    def compile(self) -> None:
        """Compiles the kernel that draws, or finds it in the cache."""
        self.teacher.kernel(SHADE_ENVIRONMENT, "shadeEnvironment")

    @property
    def surface(self) -> Surface:
        return self.geometry.surface

    @property
    def tiles_a_side(self) -> int:
        """By this factor, a side of textures on the first set has more texels."""
        return self.atlas.side if self.atlas else 1


@dataclass(frozen=True)
class FitViews:
    """The views of a scene to which rungs are fitted."""

    scene: Scene
    seen: Sequence[Seen]
    weights: Sequence[Floats] | None = None
    """Painted weights of the pixels of each view; None without paint."""

    def split(self, seed: int) -> tuple[FitViews, FitViews]:
        """Splits the pixels of all views: most are fitted to, and the rest checks the fit."""
        rng = np.random.default_rng(seed)
        orders = [rng.permutation(each.count) for each in self.seen]
        ends = [int(_APART * len(order)) for order in orders]
        pairs = list(zip(orders, ends, strict=True))
        return (
            self._take([np.sort(order[end:]) for order, end in pairs]),
            self._take([np.sort(order[:end]) for order, end in pairs]),
        )

    def some(self, most: int, rng: np.random.Generator) -> FitViews:
        """At most about so many pixels of all views, in the same order."""
        part = min(1.0, most / sum(each.count for each in self.seen))
        return self._take(
            [
                np.sort(rng.permutation(each.count)[: max(1, int(each.count * part))])
                for each in self.seen
            ]
        )

    def _take(self, chosen: Sequence[NDArray[np.int64]]) -> FitViews:
        weights = self.weights
        if weights is not None:
            weights = [each[some] for each, some in zip(weights, chosen, strict=True)]
        seen = [each.take(some) for each, some in zip(self.seen, chosen, strict=True)]
        return replace(self, seen=seen, weights=weights)


def painted_weights(seen: Sequence[Seen], surface: Surface, importance: Floats) -> list[Floats]:
    """The weights of an importance map at the pixels, with mean 1. Row 0 of the map is at v = 0."""
    height, width = importance.shape
    found = []
    for each in seen:
        uv = each.mixed(surface.sets[surface.painted_set or surface.first_set])
        u, v = (uv - np.floor(uv)).T
        row = np.minimum((v * height).astype(int), height - 1)
        column = np.minimum((u * width).astype(int), width - 1)
        found.append(importance[row, column])
    mean = float(np.concatenate(found).mean())
    if mean <= 0:
        raise SettingsError("the importance map is 0 wherever a camera looks: paint a seen place")
    return [np.asarray(each / mean, np.float32) for each in found]
