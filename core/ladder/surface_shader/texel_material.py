"""A surface shader whose inputs are read from a grid of texels on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.kernels import Source, constants_module
from verdigris.core.ladder.texels.grid import layout_uniform
from verdigris.core.material.analyse.unlit import is_dark_and_opaque
from verdigris.core.material.codegen.generate_teacher import generate
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.material.load.mtlx_document import parse_document

if TYPE_CHECKING:
    import slangpy

    from verdigris.core.ladder.surface_shader.surface_document import SurfaceShader
    from verdigris.core.ladder.texels.grid import Floats, Grid


class TexelMaterial(DeviceMaterial):
    """Draws the texels, and compiles the kernels of a fit of them. Its values are those of images:
    the shader's document decodes them."""

    def __init__(self, shader: SurfaceShader, device: Device) -> None:
        document = parse_document(shader.write(), name=shader.name)
        material = document.require_material()
        self.device, self.shader = device, shader
        self.generated = generate(document, material, has_atlas=False, has_texels=True)
        self.lanes_per_sample = self.generated.lanes_per_sample
        self.is_dark_and_opaque = is_dark_and_opaque(document.nodes_of(material))
        self.width = -(-max(1, shader.channels) // 4) * 4
        self._kernels = device.new_kernels(is_hasty=True)
        self._kernels.load(constants_module("network_constants", {"kLatentChannels": self.width}))
        self._source = Source(f"texels_{self.generated.digest}", self.generated.source)
        self.texels: Any = None
        self.layout: Any = None

    def show(self, grid: Grid) -> None:
        """Sets the texels."""
        padded = np.zeros((len(grid.values), self.width), np.float32)
        padded[:, : self.shader.channels] = grid.values
        self.texels = self.device.new_buffer(padded, 16)
        self.layout = layout_uniform(grid.layout)

    def values(self) -> Floats:
        """The texels as they are on the device, (texels, channels)."""
        found = self.texels.to_numpy().view(np.float32).reshape(-1, self.width)
        return np.asarray(found[:, : self.shader.channels])

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel:
        return self._kernels.get((source, self._source), entry)

    def bindings(self) -> dict[str, Any]:
        block = dict(self.generated.uniforms)
        found = {"gTexels": self.texels, "gTexelLayout": self.layout}
        return {**found, "pixelCB": block} if block else found
