"""Adam for the decoder, along the axes of its own gradients.

Gradients of a layer's weights are correlated, over its outputs and over its inputs. Running means
of G G^T and G^T G tell how, and in the basis of their eigenvectors a scale for each number says
more than it does for the weights themselves (SOAP, Vyas and others, 2024). Frames and layers are
turned so; biases have a scale each, as in Adam. What it gains: docs/tried/decoder.md.
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

# Of the running means of G G^T and G^T G.
BASIS_BETA = 0.98
# Steps from one turn of the bases to the next.
BASIS_STEPS = 20
# Keeps directions with hardly a gradient apart: a part of the mean eigenvalue, added to each.
BASIS_FLOOR = 1e-4
# Of the squares that hold matrices on a GPU: two of the largest fill a group's memory there.
SQUARE_SIDES = (32, 64)


def square_side(spec: NetworkSpec) -> int:
    """Of the squares that hold this decoder's matrices on a GPU."""
    sides = [spec.frame_rows, spec.latent_channels]
    sides += [side for layer in spec.layers for side in (layer.outputs, layer.inputs)]
    for side in SQUARE_SIDES:
        if max(sides) <= side:
            return side
    raise SettingsError(
        f"decoder {spec.name} has a matrix with a side of {max(sides)}, and this trainer takes up "
        f"to {SQUARE_SIDES[-1]}: use a smaller preset or the numpy trainer"
    )


@dataclass(frozen=True)
class _Bases:
    """Of one matrix: the running means, and the bases that follow their eigenvectors."""

    left_mean: FloatArray
    left: FloatArray
    right_mean: FloatArray
    right: FloatArray


class RotatedAdam:
    """Holds the moments and the bases of a decoder."""

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
        """One step; `rate` comes from adam_rate. The gradients are used up."""
        for part, gradient in zip(self._parts, gradients.matrices, strict=True):
            weights = gradient[:, 1:]
            _follow(part.left_mean, weights @ weights.T)
            _follow(part.right_mean, weights.T @ weights)
            weights[:] = part.left.T @ weights @ part.right
        adam_change(self.m, self.v, gradients.vector, rate, DECODER_BETA_2)
        for part, change in zip(self._parts, gradients.matrices, strict=True):
            change[:, 1:] = part.left @ change[:, 1:] @ part.right.T
        self._decoder.vector -= gradients.vector
        if (step + 1) % BASIS_STEPS == 0:
            for part in self._parts:
                turn(part.left, part.left_mean)
                turn(part.right, part.right_mean)


def turn(basis: FloatArray, mean: FloatArray) -> None:
    """Brings a basis nearer to the eigenvectors, largest first, by one step of power iteration.

    Without gradients, or after one beyond all numbers, it stays as it is.
    """
    trace = np.trace(mean)
    if not 0 < trace < np.inf:
        return
    floor = np.float32(BASIS_FLOOR / len(mean)) * trace
    orthogonal, triangular = np.linalg.qr(mean @ basis + floor * basis)
    # QR leaves signs open, and moments belong to an axis with its sign
    basis[:] = orthogonal * np.where(np.diag(triangular) < 0, np.float32(-1), np.float32(1))


def _follow(mean: FloatArray, new: FloatArray) -> None:
    mean *= np.float32(BASIS_BETA)
    new *= np.float32(1 - BASIS_BETA)
    mean += new


def _squares(vector: FloatArray, sides: list[int]) -> Iterator[tuple[FloatArray, FloatArray]]:
    """For each side two square views, one after the other."""
    start = 0
    for side in sides:
        size = side * side
        first, second = vector[start : start + 2 * size].reshape(2, side, side)
        start += 2 * size
        yield first, second
