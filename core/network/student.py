"""The student on a device: parameters as a material that every kernel for materials accepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import MOST_CONSTANT_BYTES, Device, open_device
from verdigris.core.base.kernels import Kernels, Source, constants_module
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.network.parameters import Parameters, from_joined
from verdigris.core.network.spec import ACTIVATIONS, UNSTRETCHED_WIDTH

if TYPE_CHECKING:
    import slangpy

_STUDENT = Source("network/student")


@dataclass(frozen=True)
class SharedBuffers:
    """Buffers of parameters on a device, owned by a trainer."""

    decoder: slangpy.Buffer
    texels: slangpy.Buffer
    texel_quads: int
    """The distance between texels in float4. A texel starts with its latents."""


class Student(DeviceMaterial):
    """Evaluates parameters in single floats on every device with compute kernels."""

    is_dark_and_opaque = True

    def __init__(
        self,
        parameters: Parameters,
        device: Device | None = None,
        material: int = 0,
        level: float = 0.0,
    ) -> None:
        self.device = device or open_device()
        self.material = material
        self.level = level
        self._spec, self._layout = parameters.spec, parameters.layout
        self.index_below = parameters.index_below
        self.live = parameters.live
        self._decoder: slangpy.Buffer
        self._texels: slangpy.Buffer
        self._quads: list[list[float]] | None
        self._kernels: dict[bool, Kernels] = {}
        self.update(parameters)

    def update(self, parameters: Parameters) -> None:
        """Uploads other parameters of the same shape, without compilation."""
        decoder = parameters.joined_decoders().astype(np.float32)
        latents = parameters.latents.astype(np.float32)
        self._decoder = self.device.new_buffer(decoder)
        self._quads = None
        self._is_shared = False
        # shared with copies of this student
        self._read: list[Parameters] = []
        if self.device.is_software and decoder.nbytes <= MOST_CONSTANT_BYTES:
            # CPUs read a constant buffer in half the time
            self._quads = np.resize(decoder, (-(-decoder.size // 4), 4)).tolist()
        self._texels = self.device.new_buffer(latents, 16)
        self._texel_quads = parameters.spec.latent_channels // 4

    def use_buffers(self, buffers: SharedBuffers) -> None:
        """Evaluates a trainer's buffers from now on, each time with their current values."""
        self._decoder, self._texels = buffers.decoder, buffers.texels
        self._texel_quads = buffers.texel_quads
        self._is_shared = True
        self._quads = None

    def in_numpy(self) -> tuple[Parameters, int] | None:
        """Parameters of the material and the level that is drawn; None while a trainer changes
        them, and between levels."""
        if self._is_shared or self.level % 1:
            return None
        return self.read_parameters(), int(self.level)

    def read_parameters(self) -> Parameters:
        """Parameters of the material, of all sides, read from the device."""
        if not self._read:
            decoders, latents = (
                each.to_numpy().view(np.float32) for each in (self._decoder, self._texels)
            )
            latents = latents.reshape(-1, self._spec.latent_channels)
            self._read.append(
                from_joined(self._spec, self._layout, decoders, latents, self.index_below)
            )
        return self._read[0].of_material(self.material)

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel:
        has_constants = self._quads is not None
        if has_constants not in self._kernels:
            constants = {**self._spec.slang_constants(), "kUnstretchedWidth": UNSTRETCHED_WIDTH}
            self._kernels[has_constants] = self.device.shared_kernels(
                {
                    "ACTIVATION": ACTIVATIONS[self._spec.activation],
                    "DECODER_CONSTANTS": str(int(has_constants)),
                    **({"TRANSMITS": "1"} if self.index_below else {}),
                },
                (constants_module("network_constants", constants),),
            )
        return self._kernels[has_constants].get((source, _STUDENT), entry)

    def bindings(self) -> dict[str, Any]:
        layout = self._layout
        constants = {"gDecoderQuads": {"quads": self._quads}} if self._quads else {}
        return {
            **constants,
            "gStudent": {
                "layout": {
                    "width": layout.width,
                    "height": layout.height,
                    "levels": layout.levels,
                    "materials": layout.materials,
                },
                "material": self.material,
                "level": self.level,
                "texelQuads": self._texel_quads,
                "live": self.live_uniform,
                **({"indexBelow": self.index_below} if self.index_below else {}),
            },
            "gDecoder": self._decoder,
            "gTexels": self._texels,
        }
