"""An environment and the tree of a mesh on a device, for the kernels that light with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.lighting.bvh import NOTHING, Bvh

if TYPE_CHECKING:
    import slangpy
    from numpy.typing import NDArray

    from verdigris.core.base.device import Device
    from verdigris.core.lighting.environment import Environment


@dataclass(frozen=True)
class DeviceEnvironment:
    """An uploaded environment. It can be turned without another upload."""

    environment: Environment
    buffers: dict[str, Any]

    @classmethod
    def upload(cls, device: Device, environment: Environment) -> DeviceEnvironment:
        import slangpy

        distribution = environment.distribution
        texels = np.concatenate([environment.texels, distribution.density[..., None]], -1)
        height, width = texels.shape[:2]
        texture = device.gpu.create_texture(
            format=slangpy.Format.rgba32_float,
            width=width,
            height=height,
            usage=slangpy.TextureUsage.shader_resource,
            data=np.ascontiguousarray(texels, np.float32),
        )
        buffers = {
            "gEnvironmentTexels": texture,
            "gEnvironmentRows": _buffer(device, distribution.rows),
            "gEnvironmentColumns": _buffer(device, distribution.columns),
        }
        return cls(environment, buffers)

    def turned(self, degrees: float) -> DeviceEnvironment:
        """The environment, rotated further."""
        return replace(self, environment=self.environment.turned(degrees))

    def uniforms(self) -> dict[str, Any]:
        """Fields of the shader's `Environment` and `Sun`, by name."""
        height, width = self.environment.texels.shape[:2]
        sun = self.environment.turned_sun
        return {
            "environment": {
                "width": width,
                "height": height,
                "turn": self.environment.turn / 360.0,
            },
            "sun": {
                "direction": list(sun.direction) if sun else [0.0, 1.0, 0.0],
                "radiance": sun.radiance.tolist() if sun else [0.0, 0.0, 0.0],
                # 1 - cosine, which single floats hold only in this form
                "height": float(2 * np.sin(sun.radius / 2) ** 2) if sun else 0.0,
            },
        }


@dataclass(frozen=True)
class DeviceBvh:
    """An uploaded tree."""

    first_leaf: int
    buffers: dict[str, slangpy.Buffer]

    @classmethod
    def upload(cls, device: Device, bvh: Bvh = NOTHING) -> DeviceBvh:
        buffers = {
            "gBvhBoxes": _buffer(device, bvh.boxes),
            "gBvhTriangles": _buffer(device, bvh.triangles),
        }
        return cls(bvh.first_leaf, buffers)


def _buffer(device: Device, values: NDArray[np.float32]) -> slangpy.Buffer:
    import slangpy

    flat = np.array(values, np.float32).reshape(-1)
    return device.gpu.create_buffer(
        element_count=flat.size, struct_size=4, usage=slangpy.BufferUsage.shader_resource, data=flat
    )
