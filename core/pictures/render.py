"""Draws a material on a sphere, a plane or a mesh: evaluates it at each pixel on the device."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from verdigris.core.base.kernels import Source
from verdigris.core.geometry.mesh import normalized
from verdigris.core.material.evaluator import (
    DEFAULT_SLOPE_STEP,
    POINT,
    VIEW,
    Footprint,
    use_material,
)
from verdigris.core.pictures.gbuffer import (
    FRONT,
    LARGEST_SIZE,
    Camera,
    GBuffer,
    check_size,
    make_gbuffer,
)
from verdigris.core.pictures.listed_light import network_of
from verdigris.core.pictures.relief import SHADOWS, relief_variables

if TYPE_CHECKING:
    from collections.abc import Mapping

    import slangpy

    from verdigris.core.base.array_types import Floats
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.pictures.listed_light import NetworkLight
    from verdigris.core.pictures.relief import DeviceHeights


# Default number of sub-pixels along a side of a pixel.
SUBPIXELS = 2
# Size of the sphere that measures a student. With fewer than 4 x 4 sub-pixels, single glints would
# dominate the metrics.
PICTURE_SIZE, PICTURE_SUBPIXELS = 256, 4
# With this many, the largest picture takes minutes on a fast GPU and hours on a CPU.
MOST_STUDIO_SAMPLES = 4096
PIXELS_AT_ONCE = 1 << 19
# Drivers cancel a dispatch that takes seconds.
DIRECTIONS_AT_ONCE = 1 << 24
# A CPU takes a third of a second for this many: keys and progress wait for a dispatch.
DIRECTIONS_ON_CPU = 1 << 18
_LIST_VIEW = Source("pictures/list_view")
ALL = slice(None)


def largest_size(subpixels: int = SUBPIXELS) -> int:
    """The largest picture size in pixels, with this number of sub-pixels along a pixel's side."""
    return LARGEST_SIZE // subpixels


@dataclass(frozen=True)
class Lighting:
    """One directional light and a studio environment."""

    direction: tuple[float, float, float] = (-0.45, 0.6, 0.66)
    """Direction to the light: x to the right, y up, z to the eye; for a mesh, in its axes, y up."""
    colour: tuple[float, float, float] = (2.4, 2.3, 2.2)
    """Irradiance on a surface that faces the light, linear Rec.709."""
    environment: float = 0.8
    """Brightness of the studio; 0 leaves only the light."""
    emission: float = 1.0
    """Factor of the material's emission; 0 leaves only reflection."""
    samples: int = 32
    """Number of directions of the studio at each sub-pixel."""

    @property
    def directions(self) -> int:
        """The number of directions: to the light, and of the studio."""
        return 1 + (self.samples if self.environment > 0 else 0)

    @property
    def pixels_at_once(self) -> int:
        """Number of pixels in one dispatch."""
        return min(PIXELS_AT_ONCE, max(1, DIRECTIONS_AT_ONCE // max(1, self.samples)))


def render(
    material: DeviceMaterial,
    kind: str = "sphere",
    size: int = 512,
    mesh: Mesh | None = None,
    lighting: Lighting | None = None,
    subpixels: int = SUBPIXELS,
    is_flat: bool = False,
    camera: Camera = FRONT,
    relief: DeviceHeights | Mesh | None = None,
) -> Floats:
    """Draws a picture in linear light with coverage, (size, size, 4).

    With `is_flat`, the material is evaluated on the flat unit square, as in a bake, and wrapped
    around the shape by uv. Without it, 3D patterns are evaluated on the shape itself. `relief` is
    seen on the shape: by heights, or as the displaced mesh.
    """
    check_size(size, largest_size(subpixels))
    gbuffer = make_gbuffer(kind, size * subpixels, mesh, camera, relief)
    return draw(material, gbuffer, lighting or Lighting(), subpixels, is_flat)


def draw(
    material: DeviceMaterial,
    gbuffer: GBuffer,
    lighting: Lighting,
    subpixels: int,
    is_flat: bool = False,
    footprint: Footprint = POINT,
    uploads: Uploads | None = None,
) -> Floats:
    """Draws a G-buffer; `subpixels` x `subpixels` of its pixels make one of the picture. `uploads`
    keeps it on the device for other materials; without it, nothing is kept."""
    size = gbuffer.size // subpixels
    fine = np.zeros((gbuffer.size * gbuffer.size, 4), np.float32)
    at_once = lighting.pixels_at_once
    for start in range(0, len(gbuffer.pixel), at_once):
        part = slice(start, start + at_once)
        lit = shade(material, gbuffer, lighting, is_flat, footprint, part, subpixels, uploads)
        fine[gbuffer.pixel[part]] = lit
    blocks = fine.reshape(size, subpixels, size, subpixels, 4)
    return np.asarray(blocks.mean((1, 3), dtype=np.float32))


def over_backdrop(picture: Floats) -> Floats:
    """Puts a picture, premultiplied by coverage, over a soft grey backdrop."""
    height = len(picture)
    shade = np.linspace(0.11, 0.035, height, dtype=np.float32)[:, None, None]
    return np.asarray(picture[..., :3] + (1.0 - picture[..., 3:]) * shade, np.float32)


@dataclass(frozen=True)
class DeviceGBuffer:
    """Pixels of a G-buffer on a device, uploaded once to draw them under several lights."""

    count: int
    width: int
    """Width of the G-buffer in pixels."""
    subpixels: int
    """Number of its pixels along a side of the picture's pixel."""
    buffers: Mapping[str, slangpy.Buffer]
    relief: Mapping[str, Any] = field(default_factory=dict)
    """The variables of its relief, if it has one."""

    @property
    def linked(self) -> tuple[str, ...]:
        """Modules that kernels which light it are linked with."""
        return SHADOWS if self.relief else ()

    @classmethod
    def upload(
        cls, material: DeviceMaterial, gbuffer: GBuffer, subpixels: int, part: slice = ALL
    ) -> DeviceGBuffer:
        """Uploads pixels to a material's device."""
        uv = gbuffer.uv[part]
        new = material.device.new_buffer
        buffers = {
            "gPixel": new(gbuffer.pixel[part].astype(np.float32)),
            "gUv": new(uv),
            "gFrames": new(gbuffer.frames(part)),
            "gToEye": new(gbuffer.to_eye[part]),
        }
        relief = relief_variables(gbuffer, part)
        return cls(len(uv), gbuffer.size, subpixels, buffers, relief)

    def new_output(self, material: DeviceMaterial) -> slangpy.Buffer:
        """A buffer for light and coverage of each pixel."""
        return material.device.new_space(self.count, 16)


Uploads: TypeAlias = dict[int, DeviceGBuffer]
"""Parts of one G-buffer on one device, by their first pixel."""


def shade(
    material: DeviceMaterial,
    gbuffer: GBuffer,
    lighting: Lighting,
    is_flat: bool = False,
    footprint: Footprint = POINT,
    part: slice = ALL,
    subpixels: int = 1,
    uploads: Uploads | None = None,
) -> Floats:
    """Light towards the eye with coverage, (N, 4), at some pixels of a G-buffer."""
    network = network_of(material, footprint)
    if network is not None:
        return _shade_listed(network, material, gbuffer, lighting, part, subpixels)
    uploaded = None if uploads is None else uploads.get(part.start)
    if uploaded is None:
        uploaded = DeviceGBuffer.upload(material, gbuffer, subpixels, part)
    if uploads is not None:
        uploads[part.start] = uploaded
    lit = shade_on_device(material, uploaded, lighting, is_flat, footprint)
    return np.asarray(lit.to_numpy().view(np.float32).reshape(uploaded.count, 4))


def shade_on_device(
    material: DeviceMaterial,
    gbuffer: DeviceGBuffer,
    lighting: Lighting,
    is_flat: bool = False,
    footprint: Footprint = POINT,
) -> slangpy.Buffer:
    """Shades an uploaded G-buffer; the result stays on the device."""
    output = gbuffer.new_output(material)
    buffers = dict(gbuffer.buffers)
    use_material(
        material,
        VIEW,
        gbuffer.count,
        DEFAULT_SLOPE_STEP,
        {
            "gLight": _light_uniform(lighting, gbuffer, material.index_below),
            "gOutgoing": buffers.pop("gToEye"),
            **buffers,
            **gbuffer.relief,
            "gLit": output,
        },
        linked=gbuffer.linked,
        hasFrames=int(not is_flat),
        footprint=footprint.uniform(),
    )
    return output


def _light_uniform(
    lighting: Lighting, gbuffer: DeviceGBuffer, index_below: float = 0.0
) -> dict[str, Any]:
    direction = normalized(np.array(lighting.direction, np.float32))
    return {
        "environmentSamples": lighting.directions - 1,
        "width": gbuffer.width,
        "subpixels": gbuffer.subpixels,
        "lightDirection": direction.tolist(),
        "environmentScale": lighting.environment,
        "lightColour": list(lighting.colour),
        "emissionScale": lighting.emission,
        "indexBelow": index_below,
    }


def _shade_listed(
    network: NetworkLight,
    material: DeviceMaterial,
    gbuffer: GBuffer,
    lighting: Lighting,
    part: slice,
    subpixels: int,
) -> Floats:
    uv = gbuffer.uv[part]
    lit = network.unlit(uv)
    lit[:, :3] *= np.float32(lighting.emission)
    first, at_once = part.start or 0, max(1, DIRECTIONS_ON_CPU // lighting.directions)
    for start in range(0, len(uv), at_once):
        inside = slice(start, min(len(uv), start + at_once))
        pixels = slice(first + inside.start, first + inside.stop)
        uploaded = DeviceGBuffer.upload(material, gbuffer, subpixels, pixels)
        buffers = {name: uploaded.buffers[name] for name in ("gPixel", "gFrames", "gToEye")}
        lit[inside, :3] += network.lit(
            replace(_LIST_VIEW, linked=uploaded.linked),
            "listView",
            uv[inside],
            lighting.directions,
            {
                "gLight": _light_uniform(lighting, uploaded),
                "gCount": uploaded.count,
                **buffers,
                **uploaded.relief,
            },
        )
    return lit
