"""Adam for the decoder, along the axes of its own gradients.

Gradients of a layer's weights are correlated, over its outputs and over its inputs. Running means
of G G^T and G^T G tell how, and in the basis of their eigenvectors a scale for each number says
more than it does for the weights themselves (SOAP, Vyas and others, 2024). Frames and layers are
turned so; biases have a scale each, as in Adam. What it gains: docs/BENCHMARKS.md, "The optimiser".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.spec import NetworkSpec
from verdigris.core.training.optimiser import DECODER_BETA_2, EPSILON, adam_change
from verdigris.core.training.packed_decoder import PackedDecoder

# Of the running means of G G^T and G^T G.
BASIS_BETA = 0.98
# Steps from one turn of the bases to the next.
BASIS_STEPS = 20
# Keeps directions with hardly a gradient apart: a part of the mean eigenvalue, added to each.
BASIS_FLOOR = 1e-4
# Of a decoder that is not turned: numbers whose gradients are this part of the root mean square of
# their matrix, or smaller, move by less than the rate. Otherwise what hardly matters wanders, and
# weights that have wandered far make every step a larger one.
MOMENT_FLOOR = 0.03
# The largest side of a matrix that is turned, and of the square that holds it on a GPU: there, more
# takes longer than it gains.
MOST_TURNED = 32


def turned_side(spec: NetworkSpec) -> int:
    """Side of the squares on a GPU, or 0 where the decoder is too large to be turned: it has plain
    Adam."""
    sides = [spec.frame_rows, spec.latent_channels]
    sides += [side for layer in spec.layers for side in (layer.outputs, layer.inputs)]
    return MOST_TURNED if max(sides) <= MOST_TURNED else 0


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
        turned = decoder.matrices if turned_side(decoder.spec) else []
        sides = [side for matrix in turned for side in (len(matrix), matrix.shape[1] - 1)]
        self.bases = np.zeros(sum(2 * side * side for side in sides), np.float32)
        squares = _squares(self.bases, sides)
        self._parts = [_Bases(*next(squares), *next(squares)) for _ in turned]
        for part in self._parts:
            part.left[:], part.right[:] = np.eye(len(part.left)), np.eye(len(part.right))

    def update(self, gradients: PackedDecoder, rate: float, step: int) -> None:
        """One step; `rate` comes from adam_rate. The gradients are used up."""
        for part, gradient in zip(self._parts, gradients.matrices, strict=False):
            weights = gradient[:, 1:]
            _follow(part.left_mean, weights @ weights.T)
            _follow(part.right_mean, weights.T @ weights)
            weights[:] = part.left.T @ weights @ part.right
        adam_change(self.m, self.v, gradients.vector, rate, DECODER_BETA_2, self._epsilon())
        for part, change in zip(self._parts, gradients.matrices, strict=False):
            change[:, 1:] = part.left @ change[:, 1:] @ part.right.T
        self._decoder.vector -= gradients.vector
        if (step + 1) % BASIS_STEPS == 0:
            for part in self._parts:
                turn(part.left, part.left_mean)
                turn(part.right, part.right_mean)

    def _epsilon(self) -> float | FloatArray:
        """Of each number, by the moments before the step."""
        if self._parts:
            return EPSILON
        matrices = self._decoder.matrices
        sizes = [matrix.size for matrix in matrices]
        trained = np.array(sizes, np.float32)
        # the constant column of the frames is not
        trained[0] -= len(matrices[0])
        squares = np.add.reduceat(self.v, [0, *np.cumsum(sizes[:-1])])
        floors = np.float32(MOMENT_FLOOR) * np.sqrt(squares / trained)
        return np.repeat(np.float32(EPSILON) + floors, sizes)


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
