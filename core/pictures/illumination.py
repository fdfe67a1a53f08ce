"""Light of a view: by few lights while something moves, and pass by pass afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.lighting.bvh import NOTHING, build_bvh
from verdigris.core.lighting.device_lighting import DeviceBvh, DeviceEnvironment
from verdigris.core.material.evaluator import POINT
from verdigris.core.pictures.backdrop import LaidGround, in_haze
from verdigris.core.pictures.environment_render import EnvironmentLighting, light_pass
from verdigris.core.pictures.light_of_view import (
    KEY_COLOUR,
    backdrop_of,
    blurred_light,
    environment_of,
    few_directions,
    light_key,
    read_light,
)
from verdigris.core.pictures.listed_light import network_of
from verdigris.core.pictures.picture_files import resized
from verdigris.core.pictures.quick_light import Lit, frames_of
from verdigris.core.pictures.render import Lighting, shade
from verdigris.core.pictures.tone import CLIP, FILM, Tone
from verdigris.core.pictures.view import GREY

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats
    from verdigris.core.base.device import Device
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.material.evaluator import DeviceMaterial, Footprint
    from verdigris.core.pictures.canvas import Raster
    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.pictures.light_of_view import LightKey
    from verdigris.core.pictures.view import View

    Prepare = Callable[[DeviceMaterial, View, int], tuple[DeviceMaterial, Footprint]]
    """Prepares a material for a view. Returns what to evaluate, and the footprint of a pixel, in
    which this many places are averaged."""

# Directions of the studio: of a quick picture, and at each sub-pixel of a fine one.
_STUDIO_SAMPLES, _FINE_STUDIO_SAMPLES = 24, 32
_PLACES = 4
_QUICK_PAIRS = 16


@dataclass(frozen=True)
class Effort:
    """How finely a picture is drawn while nothing moves in it."""

    passes: int = 12
    """Passes under an environment, each at another place inside the pixels."""
    pairs: int = 4
    """Pairs of directions in each of these passes."""
    studio_subpixels: int = 0
    """The root of the number of passes in the light of the studio. Without one, its quick picture
    is final."""
    emission: float = 0.0
    """Factor of the material's emission; 0 leaves only reflection."""


class Illumination:
    """Lights all materials of a picture alike."""

    def __init__(self, device: Device, prepare: Prepare, effort: Effort) -> None:
        self.device, self._prepare, self._effort = device, prepare, effort
        self._uploaded: dict[LightKey, DeviceEnvironment] = {}
        # the last ones: a sphere throws no shadow on itself, but one on its ground
        self._occluders: list[tuple[Mesh | None, DeviceBvh]] = []

    def check(self, view: View) -> None:
        """Reads the environment of a view; raises an error if that is not possible."""
        if view.lit_by:
            read_light(view.lit_by)

    def passes(self, view: View) -> int:
        """The number of passes that make a picture fine."""
        return self._effort.passes if view.lit_by else self._effort.studio_subpixels**2

    def tone(self, view: View) -> Tone:
        exposure = view.exposure
        if view.lit_by:
            exposure += self.exposure(view)
        # plain lights are made for a screen, and need no shoulder
        is_plain = not view.lit_by and view.tone == FILM
        return Tone(exposure, CLIP if is_plain else view.tone)

    def exposure(self, view: View) -> float:
        """The exposure of the light alone, in stops."""
        return environment_of(view).exposure if view.lit_by else 0.0

    def behind(self, view: View, raster: Raster) -> Floats | None:
        """The light of the backdrop, (N, 3); None for the grey one."""
        if not view.lit_by or view.backdrop == GREY:
            return None
        soft = backdrop_of(view)
        rays, (height, width) = raster.rays()
        seen = soft.radiance(rays).reshape(height, width, 3).astype(np.float32)
        return resized(seen, raster.height, raster.width).reshape(-1, 3)

    def quick(
        self,
        material: DeviceMaterial,
        gbuffer: GBuffer,
        view: View,
        mesh: Mesh | None = None,
        places: int = _PLACES,
        number: int = 0,
    ) -> Lit:
        """Light and coverage at the pixels of a G-buffer, by few directions. Each pass, by its
        number, has others."""
        if not len(gbuffer.pixel):
            return Lit(np.zeros((0, 4), np.float32))
        if isinstance(material, LaidGround):
            return self._on_ground(material, gbuffer, view, number, _QUICK_PAIRS, mesh)
        material, footprint = self._prepare(material, view, places)
        if material.device.is_software:
            return self._by_few(material, gbuffer, view, footprint, number)
        if not view.lit_by:
            return Lit(self._in_studio(material, gbuffer, view, footprint))
        lighting = self._lighting(view, mesh)
        return Lit(light_pass(material, gbuffer, lighting, _QUICK_PAIRS, number, footprint))

    def fine(
        self,
        material: DeviceMaterial,
        gbuffer: GBuffer,
        view: View,
        number: int,
        mesh: Mesh | None = None,
    ) -> Lit:
        """A pass of the whole environment with shadows, or of the studio."""
        if not len(gbuffer.pixel):
            return Lit(np.zeros((0, 4), np.float32))
        if isinstance(material, LaidGround):
            return self._on_ground(material, gbuffer, view, number, self._effort.pairs, mesh)
        material, footprint = self._prepare(material, view, 1)
        if not view.lit_by:
            # the directions of all sub-pixels are spread evenly
            subpixels = self._effort.studio_subpixels
            gbuffer = _subpixel_of(gbuffer, subpixels, number)
            return Lit(self._in_studio(material, gbuffer, view, footprint, subpixels))
        lighting = self._lighting(view, mesh)
        pairs = self._effort.pairs
        return Lit(light_pass(material, gbuffer, lighting, pairs, number, footprint))

    def _on_ground(
        self,
        ground: LaidGround,
        gbuffer: GBuffer,
        view: View,
        number: int,
        pairs: int,
        mesh: Mesh | None,
    ) -> Lit:
        """A pass of the ground, which always has its shadow."""
        lighting = self._lighting(view, mesh)
        return Lit(in_haze(light_pass(ground, gbuffer, lighting, pairs, number, POINT), gbuffer))

    def _in_studio(
        self,
        material: DeviceMaterial,
        gbuffer: GBuffer,
        view: View,
        footprint: Footprint,
        subpixels: int = 1,
    ) -> Floats:
        samples = _STUDIO_SAMPLES if subpixels == 1 else _FINE_STUDIO_SAMPLES
        lighting = Lighting(
            view.light, KEY_COLOUR, view.environment, self._effort.emission, samples
        )
        return shade(material, gbuffer, lighting, True, footprint, subpixels=subpixels)

    def _by_few(
        self,
        material: DeviceMaterial,
        gbuffer: GBuffer,
        view: View,
        footprint: Footprint,
        number: int,
    ) -> Lit:
        network = network_of(material, footprint)
        highlights = None
        if view.lit_by:
            seen = gbuffer.uv, frames_of(gbuffer)[1]
            highlights = network.highlights(seen[0]) if network else material.highlights(*seen)
        directions = few_directions(view, gbuffer, highlights, number, material.index_below)
        count = directions.wi.shape[1]
        if network is not None:
            response = network.responses(gbuffer.uv, directions.wi, directions.wo)
        else:
            uv, wo = np.repeat(gbuffer.uv, count, 0), np.repeat(directions.wo, count, 0)
            response = material.response(uv, directions.wi.reshape(-1, 3), wo, footprint=footprint)
            response = response.reshape(-1, count, 3)
        if material.is_dark_and_opaque:
            return directions.lit(response)
        unlit = material.unlit(gbuffer.uv, directions.wo)
        lit = directions.lit(response, unlit[:, 3])
        lit.light[:, :3] += np.float32(self._effort.emission) * unlit[:, :3]
        return lit

    def _lighting(self, view: View, mesh: Mesh | None) -> EnvironmentLighting:
        key = light_key(view)
        if key not in self._uploaded:
            self._uploaded = {key: DeviceEnvironment.upload(self.device, blurred_light(*key))}
        found = next((tree for each, tree in self._occluders if each is mesh), None)
        if found is None:
            tree = build_bvh(mesh.position) if mesh is not None else NOTHING
            found = DeviceBvh.upload(self.device, tree)
            self._occluders = [*self._occluders[-1:], (mesh, found)]
        rotated = self._uploaded[key].turned(view.rotate)
        return EnvironmentLighting(rotated, found, emission=self._effort.emission)


def _subpixel_of(gbuffer: GBuffer, subpixels: int, number: int) -> GBuffer:
    """The same pixels as one sub-pixel in each pixel of a finer picture."""
    row, column = np.divmod(gbuffer.pixel, gbuffer.size)
    down, right = divmod(number, subpixels)
    row, column = row * subpixels + down, column * subpixels + right
    size = gbuffer.size * subpixels
    return replace(gbuffer, pixel=row * size + column, size=size)
