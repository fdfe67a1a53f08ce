"""Draws a material under an environment: pass by pass, so that a picture can be shown meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.kernels import Source
from verdigris.core.lighting.bvh import NOTHING, build_bvh
from verdigris.core.lighting.device_lighting import DeviceBvh, DeviceEnvironment
from verdigris.core.material.evaluator import DEFAULT_SLOPE_STEP, POINT, Footprint
from verdigris.core.pictures.backdrop import (
    Ground,
    environment_behind,
    ground_mesh,
    ground_of,
    in_haze,
    out_of_focus,
    over,
)
from verdigris.core.pictures.gbuffer import FRONT, Camera, GBuffer, check_size, make_gbuffer
from verdigris.core.pictures.listed_light import network_of
from verdigris.core.pictures.render import (
    DIRECTIONS_AT_ONCE,
    DIRECTIONS_ON_CPU,
    PIXELS_AT_ONCE,
    SUBPIXELS,
    DeviceGBuffer,
    largest_size,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats
    from verdigris.core.base.device import Device
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.lighting.environment import Environment
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.pictures.listed_light import NetworkLight
    from verdigris.core.pictures.relief import DeviceHeights


SHADE_ENVIRONMENT = Source("pictures/shade_environment")
_LIST_ENVIRONMENT = Source("pictures/list_environment")
PIXELS_ON_CPU = 1 << 14
# Pairs of directions for each direction to the sun, whose light varies little over its disc.
_PAIRS_A_SUN = 4


@dataclass(frozen=True)
class EnvironmentLighting:
    """An environment and what throws shadows, on a device."""

    environment: DeviceEnvironment
    occluders: DeviceBvh
    emission: float = 1.0
    """Factor of the material's emission; 0 leaves only reflection."""
    passing: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The share of light that passes what throws shadows: a shadow has the colour of a leaf, in its
    direct light. It is a mean, and has no caustics."""
    follows_highlights: bool = True
    """Draws directions about the material's highlights. Without, two materials have the same light,
    whose noise their difference does not contain."""
    transmits: bool = True
    """Whether light from below counts, for a material that transmits it."""

    @classmethod
    def upload(
        cls, device: Device, environment: Environment, mesh: Mesh | None = None
    ) -> EnvironmentLighting:
        """A sphere and a plane throw no shadows on themselves."""
        occluders = build_bvh(mesh.position) if mesh else NOTHING
        uploaded = DeviceEnvironment.upload(device, environment)
        return cls(uploaded, DeviceBvh.upload(device, occluders))


class LitPart:
    """Some pixels of a G-buffer, with the sum of their light."""

    def __init__(
        self, material: DeviceMaterial, gbuffer: DeviceGBuffer, origins: Any,
        rotation: NDArray[np.float64], first: int = 0,
    ) -> None:  # fmt: skip
        """`origins` are where shadow rays start, and `first` is the number of pairs of directions
        that are drawn elsewhere."""
        self._material, self._gbuffer, self._origins = material, gbuffer, origins
        self._rotation = rotation
        self.sum = material.device.new_buffer(np.zeros(4 * gbuffer.count, np.float32), 16)
        self._listed: _Listed | None = None
        self._first = self._pairs = first
        self._suns = first // _PAIRS_A_SUN

    @classmethod
    def upload(
        cls,
        material: DeviceMaterial,
        gbuffer: GBuffer,
        subpixels: int,
        part: slice,
        first: int = 0,
        network: NetworkLight | None = None,
    ) -> LitPart:
        """Uploads these pixels. With a network, numpy evaluates the material."""
        uploaded = DeviceGBuffer.upload(material, gbuffer, subpixels, part)
        origins = material.device.new_buffer(gbuffer.shadow_origin[part])
        made = cls(material, uploaded, origins, gbuffer.rotation, first)
        if network is not None:
            made._listed = _Listed.of(material.device, network, gbuffer.uv[part])
        return made

    @property
    def pairs(self) -> int:
        """The number of pairs of directions in the sum."""
        return self._pairs - self._first

    @property
    def count(self) -> int:
        return self._gbuffer.count

    def add(
        self, lighting: EnvironmentLighting, pairs: int, is_flat: bool, footprint: Footprint
    ) -> None:
        """Adds the light of this many pairs of directions."""
        uniforms = lighting.environment.uniforms()
        has_sun = uniforms["sun"]["height"] > 0
        suns = max(1, pairs // _PAIRS_A_SUN) if has_sun else 0
        gbuffer, material = self._gbuffer, self._material
        # The rotation is orthonormal: its rows turn light into the shape's axes.
        rows = dict(zip(("shapeX", "shapeY", "shapeZ"), self._rotation.tolist(), strict=True))
        parameters: dict[str, Any] = {
            "count": gbuffer.count,
            "width": gbuffer.width,
            "subpixels": gbuffer.subpixels,
            "firstPair": self._pairs,
            "pairs": pairs,
            "firstSun": self._suns,
            "suns": suns,
            "slopeStep": DEFAULT_SLOPE_STEP,
            "emissionScale": lighting.emission,
            "isFlat": int(is_flat),
            "followsHighlights": int(lighting.follows_highlights),
            "firstLeaf": lighting.occluders.first_leaf,
            "indexBelow": material.index_below if lighting.transmits else 0.0,
            "passing": list(lighting.passing),
            "footprint": footprint.uniform(),
            **rows,
            **uniforms,
        }
        variables = {
            "gParameters": parameters,
            **gbuffer.buffers,
            **gbuffer.relief,
            "gOrigins": self._origins,
            **lighting.environment.buffers,
            **lighting.occluders.buffers,
        }
        if self._listed is not None:
            source = replace(_LIST_ENVIRONMENT, linked=gbuffer.linked)
            self._listed.add(source, variables, pairs, 2 * pairs + suns, lighting.emission)
        else:
            material.device.dispatch(
                material.kernel(
                    replace(SHADE_ENVIRONMENT, linked=gbuffer.linked), "shadeEnvironment"
                ),
                gbuffer.count * material.lanes_per_sample,
                {**variables, "gSum": self.sum, **material.bindings()},
            )
        self._pairs += pairs
        self._suns += suns

    def passes(self, samples: int, footprint: Footprint) -> list[int]:
        """Pairs of directions of each dispatch: drivers cancel one that takes seconds."""
        at_once = DIRECTIONS_AT_ONCE
        if self._material.device.is_software:
            at_once = DIRECTIONS_ON_CPU
        most = at_once // (2 * max(1, self.count) * footprint.places)
        # a multiple of those that share a direction to the sun
        most = max(1, most // _PAIRS_A_SUN * _PAIRS_A_SUN)
        full, rest = divmod(-(-samples // 2), most)
        return [most] * full + [rest] * bool(rest)

    def light(self) -> Floats:
        """The mean of all passes, with coverage, (N, 4)."""
        if self._listed is not None:
            total = self._listed.sum
        else:
            total = self.sum.to_numpy().view(np.float32).reshape(self.count, 4)
        return np.asarray(total / np.float32(max(1, self.pairs)))


@dataclass
class _Listed:
    """The light of pixels whose material numpy evaluates."""

    network: NetworkLight
    uv: Floats
    unlit: Floats
    sum: Floats
    highlights: Any
    """On the device."""

    @classmethod
    def of(cls, device: Device, network: NetworkLight, uv: Floats) -> _Listed:
        highlights = device.new_buffer(network.highlights(uv))
        return cls(network, uv, network.unlit(uv), np.zeros((len(uv), 4), np.float32), highlights)

    def add(
        self,
        source: Source,
        variables: dict[str, Any],
        pairs: int,
        directions: int,
        emission: float,
    ) -> None:
        of_each = np.array([emission, emission, emission, 1], np.float32) * np.float32(pairs)
        self.sum += self.unlit * of_each
        self.sum[:, :3] += self.network.lit(
            source,
            "listEnvironment",
            self.uv,
            directions,
            {**variables, "gSeenHighlights": self.highlights},
        )


def light_pass(
    material: DeviceMaterial,
    gbuffer: GBuffer,
    lighting: EnvironmentLighting,
    pairs: int,
    number: int,
    footprint: Footprint,
) -> Floats:
    """Light and coverage (N, 4) of one pass with this many pairs of directions, on the flat unit
    square. Each pass has other directions, by its number: the mean of all passes converges."""
    network = network_of(material, footprint)
    part = LitPart.upload(material, gbuffer, 1, slice(None), number * pairs, network)
    part.add(lighting, pairs, is_flat=True, footprint=footprint)
    return part.light()


def render_under(
    material: DeviceMaterial,
    lighting: EnvironmentLighting,
    kind: str = "sphere",
    size: int = 512,
    mesh: Mesh | None = None,
    samples: int = 64,
    subpixels: int = SUBPIXELS,
    is_flat: bool = False,
    on_progress: Callable[[float], None] = lambda _: None,
    camera: Camera = FRONT,
    relief: DeviceHeights | Mesh | None = None,
) -> Floats:
    """Draws a picture in linear light with coverage, (size, size, 4). `on_progress` gets the part
    that is done, 0 to 1."""
    check_size(size, largest_size(subpixels))
    gbuffer = make_gbuffer(kind, size * subpixels, mesh, camera, relief)
    return draw_under(material, gbuffer, lighting, subpixels, samples, is_flat, on_progress)


def draw_under(
    material: DeviceMaterial,
    gbuffer: GBuffer,
    lighting: EnvironmentLighting,
    subpixels: int,
    samples: int,
    is_flat: bool = False,
    on_progress: Callable[[float], None] = lambda _: None,
) -> Floats:
    """Draws part by part, which bounds the memory."""
    lit, done, total = [], 0, len(gbuffer.pixel) * samples
    network = network_of(material, POINT)
    for each in _slices(gbuffer, material.device):
        part = LitPart.upload(material, gbuffer, subpixels, each, network=network)
        for pairs in part.passes(samples, POINT):
            part.add(lighting, pairs, is_flat, POINT)
            # otherwise dispatches would only be queued
            material.device.gpu.wait_for_idle()
            done += part.count * 2 * pairs
            on_progress(min(1.0, done / total))
        lit.append(part.light())
    return _picture(gbuffer, subpixels, lit)


def draw_behind(
    device: Device,
    lighting: EnvironmentLighting,
    backdrop: str,
    kind: str,
    size: int,
    mesh: Mesh | None = None,
    samples: int = 64,
    camera: Camera = FRONT,
) -> Floats:
    """The backdrop `ground` or `environment` of a picture, (size, size, 3), in linear light."""
    gbuffer = make_gbuffer(kind, 1, mesh, camera)
    soft = out_of_focus(lighting.environment.environment)
    behind = environment_behind(soft, gbuffer.background, size)
    caster = ground_mesh(kind, mesh)
    if backdrop == "environment" or caster is None:
        return behind
    if mesh is None:
        # a sphere throws no shadow on itself
        tree = DeviceBvh.upload(device, build_bvh(caster.position))
        lighting = replace(lighting, occluders=tree)
    floor = ground_of(kind, caster, size, camera)
    ground = draw_under(Ground(device), floor, lighting, 1, samples)
    pixels = ground.reshape(-1, 4)
    pixels[floor.pixel] = in_haze(pixels[floor.pixel], floor)
    return over(ground, behind)


def pixels_at_once(device: Device) -> int:
    """Number of pixels in one dispatch."""
    return PIXELS_ON_CPU if device.is_software else PIXELS_AT_ONCE


def _slices(gbuffer: GBuffer, device: Device) -> list[slice]:
    at_once = pixels_at_once(device)
    return [slice(start, start + at_once) for start in range(0, len(gbuffer.pixel), at_once)]


def _picture(gbuffer: GBuffer, subpixels: int, lit: list[Floats]) -> Floats:
    size = gbuffer.size // subpixels
    fine = np.zeros((gbuffer.size * gbuffer.size, 4), np.float32)
    if lit:
        fine[gbuffer.pixel] = np.concatenate(lit)
    blocks = fine.reshape(size, subpixels, size, subpixels, 4)
    return np.asarray(blocks.mean((1, 3), dtype=np.float32))
