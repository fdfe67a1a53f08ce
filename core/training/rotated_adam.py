"""Adam for the decoder in the eigenbasis of its gradients (SOAP, Vyas and others, 2024).

The gradients G of a layer's weights are correlated over its outputs and over its inputs. Running
means of G G^T and G^T G estimate these correlations. Adam in the basis of their eigenvectors
scales each direction instead of each weight. The frame matrix and the weights of layers are
rotated; biases use plain Adam. Results: docs/tried/decoder.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.spec import NetworkSpec
from verdigris.core.training.optimiser import DECODER_BETA_2, adam_change
from verdigris.core.training.packed_decoder import PackedDecoder

# Decay of the running means of G G^T and G^T G.
BASIS_BETA = 0.98
# Steps between updates of the bases.
BASIS_STEPS = 20
# Share of the mean eigenvalue that is added to each eigenvalue, so that directions with almost no
# gradient stay distinct.
BASIS_FLOOR = 1e-4
# Sides of the squares that hold matrices on a GPU. Two of the largest fill the memory of a group.
SQUARE_SIDES = (32, 64)


def square_side(spec: NetworkSpec) -> int:
    """Side of the squares that hold this decoder's matrices on a GPU."""
    sides = [spec.frame_rows, spec.place_inputs]
    sides += [side for layer in spec.layers for side in (layer.outputs, layer.inputs)]
    for side in SQUARE_SIDES:
        if max(sides) <= side:
            return side
    raise SettingsError(
        f"decoder {spec.name} has a matrix with a side of {max(sides)}, but the tensor trainer "
        f"supports up to {SQUARE_SIDES[-1]}: use a smaller decoder or the numpy trainer"
    )


@dataclass(frozen=True)
class _Bases:
    """Running means of one matrix and their approximate eigenbases."""

    left_mean: FloatArray
    left: FloatArray
    right_mean: FloatArray
    right: FloatArray


class RotatedAdam:
    """Moments and bases of a decoder."""

    def __init__(self, decoder: PackedDecoder) -> None:
        self._decoder = decoder
        self.m, self.v = np.zeros_like(decoder.vector), np.zeros_like(decoder.vector)
        sides = [side for matrix in decoder.matrices for side in (len(matrix), matrix.shape[1] - 1)]
        self.bases = np.zeros(sum(2 * side * side for side in sides), np.float32)
        squares = _squares(self.bases, sides)
        self._parts = [_Bases(*next(squares), *next(squares)) for _ in decoder.matrices]
        for part in self._parts:
            part.left[:], part.right[:] = np.eye(len(part.left)), np.eye(len(part.right))

    def update(self, gradients: PackedDecoder, rate: float, step: int) -> None:
        """Does one step; `rate` is from adam_rate. Overwrites the gradients."""
        for part, gradient in zip(self._parts, gradients.matrices, strict=True):
            weights = gradient[:, 1:]
            _update_mean(part.left_mean, weights @ weights.T)
            _update_mean(part.right_mean, weights.T @ weights)
            weights[:] = part.left.T @ weights @ part.right
        adam_change(self.m, self.v, gradients.vector, rate, DECODER_BETA_2)
        for part, change in zip(self._parts, gradients.matrices, strict=True):
            change[:, 1:] = part.left @ change[:, 1:] @ part.right.T
        self._decoder.vector -= gradients.vector
        if (step + 1) % BASIS_STEPS == 0:
            for part in self._parts:
                rotate_basis(part.left, part.left_mean)
                rotate_basis(part.right, part.right_mean)


def rotate_basis(basis: FloatArray, mean: FloatArray) -> None:
    """Rotates a basis towards the eigenvectors, largest first, by one step of power iteration.

    It does not change if the mean is zero or not finite.
    """
    trace = np.trace(mean)
    if not 0 < trace < np.inf:
        return
    floor = np.float32(BASIS_FLOOR / len(mean)) * trace
    orthogonal, triangular = np.linalg.qr(mean @ basis + floor * basis)
    # QR does not fix the signs, but moments belong to a direction with its sign
    basis[:] = orthogonal * np.where(np.diag(triangular) < 0, np.float32(-1), np.float32(1))


def _update_mean(mean: FloatArray, new: FloatArray) -> None:
    mean *= np.float32(BASIS_BETA)
    new *= np.float32(1 - BASIS_BETA)
    mean += new


def _squares(vector: FloatArray, sides: list[int]) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Two consecutive square views for each side."""
    start = 0
    for side in sides:
        size = side * side
        first, second = vector[start : start + 2 * size].reshape(2, side, side)
        start += 2 * size
        yield first, second
