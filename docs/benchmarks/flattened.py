"""Flattened textures as a device material, for benchmarks and tests; see flattened.slang."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Device, open_device
from verdigris.core.base.kernels import Source, constants_module
from verdigris.core.flatten.flat_model import (
    CHANNELS,
    LARGEST_SLANT,
    LEAST_VIEW_COSINE,
    FlatTextures,
)
from verdigris.core.material.evaluator import DeviceMaterial

if TYPE_CHECKING:
    import slangpy

_FLATTENED = Source("flattened", Path(__file__).with_suffix(".slang").read_text(encoding="utf-8"))
# A read of a texel has four channels.
_PADDED = -(-CHANNELS // 4) * 4
_TEXELS = constants_module("network_constants", {"kLatentChannels": _PADDED})
_CONSTANTS = constants_module(
    "flattened_constants", {"kLargestSlant": LARGEST_SLANT, "kLeastViewCosine": LEAST_VIEW_COSINE}
)


class Flattened(DeviceMaterial):
    """One mip level of flattened textures, for all kernels that evaluate materials."""

    def __init__(
        self, textures: FlatTextures, device: Device | None = None, level: int = 0
    ) -> None:
        self.device = device or open_device()
        self.level = level
        self._layout = textures.layout
        self._kernels = self.device.new_kernels()
        self._kernels.load(_TEXELS)
        self._kernels.load(_CONSTANTS)
        padded = np.zeros((len(textures.texels), _PADDED), np.float32)
        padded[:, :CHANNELS] = textures.texels
        self._texels = self.device.new_buffer(padded, 16)

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel:
        return self._kernels.get((source, _FLATTENED), entry)

    def bindings(self) -> dict[str, Any]:
        layout = self._layout
        return {
            "gFlattened": {
                "layout": {
                    "width": layout.width,
                    "height": layout.height,
                    "levels": layout.levels,
                    "materials": layout.materials,
                },
                "level": self.level,
            },
            "gTexels": self._texels,
        }
