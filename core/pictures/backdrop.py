"""The backdrop of a shape: grey, the environment out of focus, or the ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.kernels import Kernels, Source
from verdigris.core.lighting.blur import blurred
from verdigris.core.lighting.environment import Environment
from verdigris.core.material.evaluator import DeviceMaterial

if TYPE_CHECKING:
    from typing import Any

    import slangpy

    from verdigris.core.base.array_types import Floats
    from verdigris.core.pictures.gbuffer import Background


BACKDROPS = ("ground", "environment", "plain")
# Standard deviation of the blur in degrees, about that of a portrait lens.
BACKDROP_BLUR = 3.0
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


def out_of_focus(environment: Environment) -> Environment:
    """The environment as a backdrop. The sun is left out."""
    return blurred(environment, BACKDROP_BLUR)
