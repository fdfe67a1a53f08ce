"""The rung of a texture of light and a map of mirrored light.

The light that moves with the viewer is a second texture, of how much each place reflects, times a
small map by the mirror direction. This takes an engine one more read. Pure metals have nearly no
other light.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.hosts.host import MIRROR_RIM
from verdigris.core.ladder.fitting.image_fit import BY_MIRROR, BY_UNIQUE_UV, Read, Records
from verdigris.core.ladder.fitting.records import mean_texture
from verdigris.core.ladder.rungs.light_document import light_document
from verdigris.core.ladder.rungs.rung import Written
from verdigris.core.ladder.rungs.stored_light import LIGHT, TO_LIGHT, StoredLight
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.texels.tone_curve import ToneCurve, fit_curve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.ladder.views.scene import Scene


# Sides of the reflection map.
_MIRROR_SIDE = 64
# The sun in the map is as wide as a rough surface mirrors it: a lobe of this power of the cosine.
_SUN_POWER = 60
_START_SHARE = 0.15
# The part of the mean light that the texture of light starts with.
_UNMOVED = 0.6
_OCTAHEDRAL = """\
// r is reflect(-toEye, normal) in the mesh's space, y up, with the seen side's normal
// v of the result grows upwards
vec2 octahedral(vec3 r)
{
    r /= abs(r.x) + abs(r.y) + abs(r.z);
    vec2 folded = (1.0 - abs(r.zx)) * vec2(r.x >= 0.0 ? 1.0 : -1.0, r.z >= 0.0 ? 1.0 : -1.0);
    return clamp(0.5 + 0.5 * (r.y >= 0.0 ? r.xz : folded), 0.01, 0.99);
}
"""


@dataclass
class WithReflection:
    """Light that does not move with the viewer, plus a share of a map of mirrored light."""

    texture: Grid
    share: Grid
    mirror: Grid
    """By the mirror direction; `mirror_uv` has the layout."""
    curve: ToneCurve
    mirror_curve: ToneCurve
    kind = 1

    @property
    def reads(self) -> Sequence[Read]:
        return (
            Read(self.texture, BY_UNIQUE_UV, 0),
            Read(self.share, BY_UNIQUE_UV, 3),
            Read(self.mirror, BY_MIRROR, 6),
        )

    @property
    def curves(self) -> tuple[ToneCurve, ToneCurve]:
        return self.curve, self.mirror_curve


@dataclass
class ReflectionRung(StoredLight):
    """A texture of light and a map of mirrored light."""

    name = "reflection"
    title = "Unlit texture and reflection map"
    use = "Phone, glossy"
    stores = "one texture and a map of mirrored light: for metals"
    cost = "3 texture reads, 2 divisions, no light loop"
    snippet = f"""{TO_LIGHT}
{_OCTAHEDRAL}
vec3 light = toLight(texture(lightMap, uv1).rgb, curve);
light += texture(shareMap, uv1).rgb * toLight(texture(mirrorMap, octahedral(r)).rgb, mirrorCurve);
"""
    needs_unique_set = True

    model: WithReflection

    @classmethod
    def start(cls, scene: Scene, records: Records, size: int) -> WithReflection:
        """The texture starts with the light that does not move, the map with the environment."""
        environment = scene.lighting.environment.environment
        directions = mirror_directions(_MIRROR_SIDE)
        around = environment.radiance(directions.T).T * scene.exposure
        sun = environment.turned_sun
        if sun is not None:
            towards = np.maximum(np.array(sun.direction) @ directions, 0)
            lobe = _SUN_POWER / (2 * np.pi) * towards**_SUN_POWER
            around = around + np.outer(sun.irradiance, lobe) * scene.exposure
        mirror_curve = fit_curve(around)
        stored = np.ascontiguousarray(mirror_curve.to_stored(around).T, np.float32)
        return WithReflection(
            mean_texture(records, records.curve, size, _UNMOVED),
            Grid.of(size, size, np.full(3, _START_SHARE)),
            Grid(_MIRROR_SIDE, _MIRROR_SIDE, stored),
            records.curve,
            mirror_curve,
        )

    def grids(self) -> dict[str, Grid]:
        return {LIGHT: self.model.texture, "share": self.model.share, "mirror": self.model.mirror}

    def numbers(self) -> dict[str, Any]:
        return {**super().numbers(), "mirror_curve": self.model.mirror_curve.as_json()}

    def networks(self, written: Written, uv_sets: tuple[str, str]) -> dict[str, str]:
        """A second variant shows the mirrored light, for renderers that know the view direction.
        Not all of them have MaterialX's node for it, and a renderer without the node would show
        nothing."""
        mirrored = light_document(written.files, written.numbers, uv_sets, is_mirrored=True)
        return {**super().networks(written, uv_sets), f"{self.name}_mirrored": mirrored}


def mirror_uv(direction: FloatArray) -> FloatArray:
    """Where a direction (3, N) is on the octahedral map (2, N), with y up."""
    x, y, z = direction / np.maximum(np.abs(direction).sum(0), 1e-9)
    fold_x = np.where(x >= 0, 1, -1) * (1 - np.abs(z))
    fold_z = np.where(z >= 0, 1, -1) * (1 - np.abs(x))
    u, v = np.where(y >= 0, x, fold_x), np.where(y >= 0, z, fold_z)
    return np.asarray(
        np.clip(np.stack([u, v]) * 0.5 + 0.5, MIRROR_RIM, 1 - MIRROR_RIM), direction.dtype
    )


def mirror_directions(side: int) -> NDArray[np.float32]:
    """The directions (3, side * side) of the map's texels."""
    v, u = ((np.indices((side, side)) + 0.5) / side * 2 - 1).reshape(2, -1)
    y = 1 - np.abs(u) - np.abs(v)
    x = np.where(y >= 0, u, np.where(u >= 0, 1, -1) * (1 - np.abs(v)))
    z = np.where(y >= 0, v, np.where(v >= 0, 1, -1) * (1 - np.abs(u)))
    found = np.stack([x, y, z])
    return np.asarray(found / np.linalg.norm(found, axis=0), np.float32)
