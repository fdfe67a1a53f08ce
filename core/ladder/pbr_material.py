"""Fitted glTF textures as a material on a device, to draw them as an engine does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Device, Source, constants_module
from verdigris.core.flatten.flat_model import LARGEST_SLANT, LEAST_ROUGHNESS, LEAST_VIEW_COSINE
from verdigris.core.flatten.viewport import DIELECTRIC_F0
from verdigris.core.ladder import pbr_model
from verdigris.core.material.evaluator import DeviceMaterial

if TYPE_CHECKING:
    import slangpy

    from verdigris.core.ladder.texels import Floats, Grid

_SHADER = Source("ladder/pbr_textures")
_CHANNELS = 12
_MODULES = (
    constants_module("network_constants", {"kLatentChannels": _CHANNELS}),
    constants_module(
        "pbr_constants",
        {
            "kLargestSlant": LARGEST_SLANT,
            "kLeastViewCosine": LEAST_VIEW_COSINE,
            "kLeastRoughness": LEAST_ROUGHNESS,
            "kDielectricF0": DIELECTRIC_F0,
        },
    ),
)


class PbrMaterial(DeviceMaterial):
    """The textures of a fit; emission (texels, 3) is linear."""

    def __init__(self, grid: Grid, device: Device, emission: Floats | None = None) -> None:
        self.device = device
        self.is_dark_and_opaque = emission is None
        self._layout = grid.layout
        self._kernels = device.new_kernels(is_hasty=True)
        for module in _MODULES:
            self._kernels.load(module)
        texels = np.zeros((len(grid.values), _CHANNELS), np.float32)
        texels[:, : pbr_model.CHANNELS] = pbr_model.decode(grid.values)
        if emission is not None:
            texels[:, pbr_model.CHANNELS :] = emission
        self._texels = self.buffer(texels.size, texels, stride=16)

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel:
        return self._kernels.get((source, _SHADER), entry)

    def bindings(self) -> dict[str, Any]:
        layout = self._layout
        shape = {
            "width": layout.width, "height": layout.height,
            "levels": layout.levels, "materials": layout.materials,
        }  # fmt: skip
        return {"gPbr": {"layout": shape}, "gTexels": self._texels}
