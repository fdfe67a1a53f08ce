"""The backdrop of a shape: grey, the environment out of focus, or the ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.kernels import Kernels, Source
from verdigris.core.geometry.shapes import sphere_mesh
from verdigris.core.lighting.blur import blurred
from verdigris.core.lighting.environment import Environment
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.pictures.gbuffer import ground_gbuffer, placed_camera

if TYPE_CHECKING:
    from typing import Any

    import slangpy

    from verdigris.core.base.array_types import Floats
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.pictures.gbuffer import Background, Camera, GBuffer


BACKDROPS = ("ground", "environment", "plain")
# Standard deviation of the blur in degrees, about that of a portrait lens.
BACKDROP_BLUR = 3.0
# The sine of the slope at which the ground is seen from which there is no haze.
_HAZE = 0.1
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


class LaidGround(Ground):
    """The ground below a shape, in a picture of its own."""


def ground_mesh(kind: str, mesh: Mesh | None) -> Mesh | None:
    """What throws a shadow on the ground; None for a shape that stands on none."""
    return sphere_mesh() if kind == "sphere" else mesh


def ground_of(kind: str, mesh: Mesh, size: int, camera: Camera) -> GBuffer:
    """The ground below a shape."""
    if kind == "sphere":
        # it is seen from the front
        return ground_gbuffer(mesh, size, camera, np.eye(3))
    return ground_gbuffer(mesh, size, placed_camera(kind, camera))


def in_haze(light: Floats, gbuffer: GBuffer) -> Floats:
    """Light and coverage (N, 4) of the ground, which has no edge at the horizon."""
    share = np.clip(gbuffer.to_eye[:, 1:2] / _HAZE, 0, 1)
    return np.asarray(light * (share * share * (3 - 2 * share)), np.float32)


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
