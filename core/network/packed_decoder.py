"""The decoder's memory layout for BLAS: each bias is the first column of its weights."""

from __future__ import annotations

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import FRAME_ROWS, NetworkSpec

# Raw normal, tangent and stretch that give the geometric frame.
_GEOMETRIC_FRAME = [0, 0, 1, 1, 0, 0, 0, 0]


class PackedDecoder:
    """Frame matrix and layers as views [outputs, 1 + inputs] of one vector, the bias first."""

    def __init__(self, spec: NetworkSpec) -> None:
        shapes = [(spec.frame_rows, 1 + spec.place_inputs)]
        shapes += [(layer.outputs, 1 + layer.inputs) for layer in spec.layers]
        self.spec = spec
        self.vector = np.zeros(sum(rows * columns for rows, columns in shapes), np.float32)
        self.matrices: list[FloatArray] = []
        start = 0
        for rows, columns in shapes:
            end = start + rows * columns
            self.matrices.append(self.vector[start:end].reshape(rows, columns))
            start = end

    @property
    def frames(self) -> FloatArray:
        return self.matrices[0]

    @property
    def layers(self) -> list[FloatArray]:
        return self.matrices[1:]

    def copy(self) -> PackedDecoder:
        decoder = PackedDecoder(self.spec)
        decoder.vector[:] = self.vector
        return decoder

    def pack(self, parameters: Parameters) -> None:
        """Copies the decoder of these parameters into this layout."""
        # zero latents give the geometric normal and tangent
        rows = self.frames.reshape(self.spec.frame_count, FRAME_ROWS, -1)
        rows[:, :, 0] = _GEOMETRIC_FRAME
        self.frames[:, 1:] = parameters.frames()
        for matrix, layer in zip(self.layers, self.spec.layers, strict=True):
            matrix[:, 0] = parameters.bias(layer)
            matrix[:, 1:] = parameters.weights(layer)

    def unpack(self, parameters: Parameters) -> None:
        """Copies this decoder into the parameters."""
        parameters.frames()[:] = self.frames[:, 1:]
        for matrix, layer in zip(self.layers, self.spec.layers, strict=True):
            parameters.bias(layer)[:] = matrix[:, 0]
            parameters.weights(layer)[:] = matrix[:, 1:]


def packed(parameters: Parameters) -> PackedDecoder:
    """The decoder of one side in this layout."""
    decoder = PackedDecoder(parameters.spec)
    decoder.pack(parameters)
    return decoder
