"""Fitted glTF textures as a material on a device, to draw them as an engine does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.kernels import Source
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.grid import layout_uniform
from verdigris.core.material.evaluator import DeviceMaterial

if TYPE_CHECKING:
    import slangpy

    from verdigris.core.ladder.texels.grid import Floats, Grid

_SHADER = Source("ladder/pbr/pbr_textures")


class PbrMaterial(DeviceMaterial):
    """The textures of a fit; emission (texels, 3) is linear."""

    def __init__(self, grid: Grid, device: Device, emission: Floats | None = None) -> None:
        self.device = device
        self._kernels = device.new_kernels(is_hasty=True)
        for module in pbr_model.CONSTANTS:
            self._kernels.load(module)
        self.show(grid, emission)

    def show(self, grid: Grid, emission: Floats | None) -> None:
        """Draws these textures from now on."""
        self.is_dark_and_opaque = emission is None
        self._layout = grid.layout
        texels = np.zeros((len(grid.values), pbr_model.DEVICE_CHANNELS), np.float32)
        texels[:, : pbr_model.CHANNELS] = pbr_model.decode(grid.values)
        if emission is not None:
            texels[:, pbr_model.EMISSION] = emission
        self._texels = self.device.new_buffer(texels, 16)

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel:
        return self._kernels.get((source, _SHADER), entry)

    def bindings(self) -> dict[str, Any]:
        return {"gPbr": {"layout": layout_uniform(self._layout)}, "gTexels": self._texels}
