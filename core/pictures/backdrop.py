"""The backdrop of a shape: grey, the environment out of focus, or the ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.kernels import Kernels, Source
from verdigris.core.lighting.environment import Environment
from verdigris.core.material.evaluator import DeviceMaterial

if TYPE_CHECKING:
    from typing import Any

    import slangpy

    from verdigris.core.base.array_types import Floats
    from verdigris.core.pictures.gbuffer import Background


BACKDROPS = ("ground", "environment", "plain")
# Standard deviation of the blur in degrees, about that of a portrait lens.
_BLUR = 3.0
_BLURRED_HEIGHT = 128
_GROUND = Source(
    "pictures_ground",
    """import material.teacher.interface;
struct Ground : ITeacher
{
    static float4 look(SurfacePoint point, float3 wi, float3 wo, bool isLit)
    {
        return float4(isLit ? float3(0.18 / 3.14159265 * max(wi.z, 0.0)) : float3(0.0), 1.0);
    }
}
export struct Material : ITeacher = Ground;
export static const uint kLanesPerSample = 1;
""",
)


class Ground(DeviceMaterial):
    """A diffuse grey of albedo .18, on which a mesh lies."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._kernels: Kernels = device.shared_kernels({}, (), is_hasty=True)

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel:
        return self._kernels.get((source, _GROUND), entry)

    def bindings(self) -> dict[str, Any]:
        return {}


def over(picture: Floats, behind: Floats) -> Floats:
    """Puts a picture, premultiplied by coverage, over another."""
    return np.asarray(picture[..., :3] + (1.0 - picture[..., 3:]) * behind, np.float32)


def environment_behind(soft: Environment, background: Background, size: int) -> Floats:
    """A blurred environment, as the camera sees it, (size, size, 3)."""
    seen = soft.radiance(background.rays(size))
    return np.asarray(seen.reshape(size, size, 3), np.float32)


def blurred(environment: Environment) -> Environment:
    """The environment's map out of focus. The sun is left out."""
    texels = environment.texels.astype(np.float64)
    step = max(1, len(texels) // _BLURRED_HEIGHT)
    rows, columns = len(texels) // step, texels.shape[1] // step
    texels = texels[: rows * step, : columns * step]
    texels = texels.reshape(rows, step, columns, step, 3).mean((1, 3))
    sigma = _BLUR / 180.0 * rows
    polar = (np.arange(rows) + 0.5) / rows * np.pi
    # towards the poles a texel spans less
    across = np.minimum(sigma / np.sin(polar), columns)
    frequency = np.fft.rfftfreq(columns)
    damping = np.exp(-2 * (np.pi * frequency * across[:, None]) ** 2)[..., None]
    texels = np.fft.irfft(np.fft.rfft(texels, axis=1) * damping, columns, axis=1)
    mirrored = np.concatenate([texels, texels[::-1]])
    damping = np.exp(-2 * (np.pi * np.fft.rfftfreq(2 * rows) * sigma) ** 2)[:, None, None]
    texels = np.fft.irfft(np.fft.rfft(mirrored, axis=0) * damping, 2 * rows, axis=0)[:rows]
    return Environment.of(np.maximum(texels, 0).astype(np.float32)).turned(environment.turn)
