"""Relief in pictures: the places that pixels see, and shadows of the surface on itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from verdigris.core.base.kernels import Source
from verdigris.core.bundle.files.ktx2 import RGBA8
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.bundle.runtime.device_materials import upload_texture
from verdigris.core.geometry.mesh import normalized
from verdigris.core.geometry.teacher_relief import find_relief
from verdigris.core.material.teacher.teacher import Teacher

if TYPE_CHECKING:
    import slangpy

    from verdigris.core.base.device import Device
    from verdigris.core.geometry.height_map import HeightMap
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.pictures.gbuffer import GBuffer

_SEE = Source("pictures/see_relief")
# What kernels that light a G-buffer are linked with.
SHADOWS = ("pictures/relief_shadow",)
# Numbers of a pixel's base: uv, tangent, bitangent, normal, extent, height of the visible place.
_BASE, _HEIGHT = 14, 13
_PIXELS_AT_ONCE = 1 << 18
# As in neural_relief.slang.
_LEAST_COSINE = 0.02
# Texels a side of a teacher's height map, while somebody waits for a picture.
_TEXELS = 512
_found: WeakKeyDictionary[DeviceMaterial, DeviceHeights | None] = WeakKeyDictionary()


@dataclass(frozen=True)
class DeviceHeights:
    """A height map on a device."""

    device: Device
    heights: HeightMap
    texture: slangpy.Texture

    @classmethod
    def upload(cls, device: Device, heights: HeightMap) -> DeviceHeights:
        return cls(device, heights, upload_texture(device, RGBA8, heights.levels))

    def variables(self) -> dict[str, Any]:
        """The variables of shaders/pictures/relief.slang, without those of pixels."""
        numbers = {
            "size": [*self.heights.size, len(self.heights.levels)],
            "scale": self.heights.scale,
            "midlevel": self.heights.midlevel,
        }
        return {"gRelief": numbers, "gHeights": self.texture}

    def seen(self, gbuffer: GBuffer) -> GBuffer:
        """The G-buffer with the places of the relief that its pixels see."""
        if gbuffer.extent is None or not len(gbuffer.pixel):
            return gbuffer
        base = np.zeros((len(gbuffer.pixel), _BASE), np.float32)
        axes = gbuffer.tangent, gbuffer.bitangent, gbuffer.normal
        base[:, :_HEIGHT] = np.concatenate([gbuffer.uv, *axes, gbuffer.extent], 1)
        found = self._see(base, gbuffer.to_eye)
        uv, height, (x, y, z) = found[:, :2], found[:, 2:3], found[:, 3:].T[..., None]
        base[:, :2], base[:, _HEIGHT:] = uv, height
        tangent, bitangent, normal = axes
        facing = x * tangent + y * bitangent + z * normal
        along = normalized(z * tangent - x * normal)
        cosine = np.maximum((gbuffer.to_eye * normal).sum(1, keepdims=True), _LEAST_COSINE)
        # the rotation leads from the axes of positions to those of light
        moved = (height / cosine * gbuffer.to_eye) @ gbuffer.rotation
        return replace(
            gbuffer,
            uv=uv,
            position=(gbuffer.position + moved).astype(np.float32),
            tangent=along.astype(np.float32),
            bitangent=(_handed(axes) * np.cross(facing, along)).astype(np.float32),
            normal=facing.astype(np.float32),
            base=base,
            heights=self,
        )

    def _see(self, base: np.ndarray[Any, Any], to_eye: np.ndarray[Any, Any]) -> Any:
        found = np.empty((len(base), 6), np.float32)
        kernel = self.device.shared_kernels({}, ()).get((_SEE,), "seeRelief")
        for start in range(0, len(base), _PIXELS_AT_ONCE):
            part = slice(start, min(len(base), start + _PIXELS_AT_ONCE))
            count = len(base[part])
            output = self.device.new_space(6 * count)
            variables = {
                "gCount": count,
                "gBase": self.device.new_buffer(base[part]),
                "gToEye": self.device.new_buffer(to_eye[part]),
                "gSeen": output,
                **self.variables(),
            }
            self.device.dispatch(kernel, count, variables)
            found[part] = output.to_numpy().view(np.float32).reshape(count, 6)
        return found


def find_heights(material: object) -> DeviceHeights | None:
    """The relief of a teacher or of a bundle, made once; None for others, and without one."""
    if not isinstance(material, (Teacher, BundleMaterial)):
        return None
    if material not in _found:
        if isinstance(material, BundleMaterial):
            heights = material.heights
        else:
            heights = find_relief(material, _TEXELS).heights
        _found[material] = DeviceHeights.upload(material.device, heights) if heights else None
    return _found[material]


def _handed(axes: tuple[Any, Any, Any]) -> Any:
    """-1 where mirrored uvs make the frame left-handed."""
    tangent, bitangent, normal = axes
    return np.sign((np.cross(normal, tangent) * bitangent).sum(1, keepdims=True))


def relief_variables(gbuffer: GBuffer, part: slice) -> dict[str, Any]:
    """The variables of a kernel that is linked with SHADOWS, for these pixels; none without
    relief."""
    heights = gbuffer.heights
    if heights is None or gbuffer.base is None:
        return {}
    return {"gBase": heights.device.new_buffer(gbuffer.base[part]), **heights.variables()}
