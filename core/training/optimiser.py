"""Adam in a rotated basis for the decoder, and lazy RMSProp for the latents.

`RotatedAdam` is Adam in the eigenbasis of the gradients (SOAP, Vyas and others, 2024). Gradients G
of a layer's weights are correlated over its outputs and over its inputs. Running means of G G^T and
G^T G estimate these correlations. Adam in the basis of their eigenvectors scales each direction
instead of each weight. The frame matrix and the weights of layers are rotated; biases use plain
Adam. docs/tried/decoder.md has results.

`LazyRmsProp` updates only the texels that the samples of a step touch. 4,096 samples touch few, so
a step is cheap, and the result is as good as with dense updates. Latents have no momentum: samples
touch a texel of a large texture about once in a hundred steps, so a running mean of its gradients
would be outdated (docs/tried/texels.md, "Momentum").
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.base.errors import SettingsError
from verdigris.core.network.latents.texels import IndexArray
from verdigris.core.network.packed_decoder import PackedDecoder
from verdigris.core.network.spec import NetworkSpec

BETA_1 = 0.9
BETA_2 = 0.999
# BETA_2 for the decoder, whose parameters all have a gradient in every step.
DECODER_BETA_2 = 0.99
# Small, because gradients of dark, smooth materials are small.
EPSILON = 1e-15
# Decay of the running means of G G^T and G^T G.
BASIS_BETA = 0.98
# Steps between updates of the bases.
BASIS_STEPS = 20
# Share of the mean eigenvalue that is added to each eigenvalue, so that directions with almost no
# gradient stay distinct.
BASIS_FLOOR = 1e-4
# Sides of the squares that hold matrices on a GPU. Two of the largest fill the memory of a group.
SQUARE_SIDES = (32, 64)


class RotatedAdam:
    """Adam for a decoder, with its moments and bases."""

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


@dataclass(frozen=True)
class _Bases:
    """Running means of one matrix and their approximate eigenbases."""

    left_mean: FloatArray
    left: FloatArray
    right_mean: FloatArray
    right: FloatArray


def rotate_basis(basis: FloatArray, mean: FloatArray) -> None:
    """Rotates a basis towards the eigenvectors, largest first, by one step of power iteration.

    The basis does not change if the mean is zero or not finite.
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


class LazyRmsProp:
    """RMSProp for some rows of an array [rows, channels] in each step."""

    def __init__(self, values: FloatArray) -> None:
        self.values = values
        self.v = np.zeros_like(values)

    def update(self, rows: IndexArray, gradient: FloatArray, rate: float) -> None:
        """Updates unique rows; `rate` is from scaled_rate. Overwrites the gradient [rows,
        channels]."""
        arrays = (self.values, self.v)
        values, v = (np.take(array, rows, axis=0, mode="clip") for array in arrays)
        gradient /= _update_root(v, gradient, BETA_2)
        gradient *= gradient.dtype.type(rate)
        values -= gradient
        for array, new in zip(arrays, (values, v), strict=True):
            np.put(_as_items(array), rows, _as_items(new), mode="clip")


def _as_items(array: FloatArray) -> NDArray[Any]:
    """Rows as opaque items: numpy copies one item with 32 bytes faster than eight with 4 bytes."""
    return array.view(f"V{array.shape[1] * array.itemsize}")[:, 0]


def adam(
    values: FloatArray, m: FloatArray, v: FloatArray, gradient: FloatArray, rate: float
) -> None:
    """Updates the values in place; `rate` is from adam_rate. Overwrites the gradient."""
    adam_change(m, v, gradient, rate, BETA_2)
    values -= gradient


def adam_rate(rate: float, step: int, beta_2: float = BETA_2) -> float:
    """The rate with both bias corrections of Adam; the first step is 0."""
    return scaled_rate(rate, step, beta_2) / (1 - BETA_1 ** (step + 1))


def scaled_rate(rate: float, step: int, beta_2: float = BETA_2) -> float:
    """The rate with the bias correction of the mean square only, for RMSProp."""
    return rate * math.sqrt(1 - beta_2 ** (step + 1))


def adam_change(
    m: FloatArray, v: FloatArray, gradient: FloatArray, rate: float, beta_2: float
) -> None:
    """Replaces the gradient by the change to subtract from the values."""
    dtype = gradient.dtype.type
    root = _update_root(v, gradient, beta_2)
    m *= dtype(BETA_1)
    gradient *= dtype(1 - BETA_1)
    m += gradient
    np.divide(m, root, out=gradient)
    gradient *= dtype(rate)


def _update_root(v: FloatArray, gradient: FloatArray, beta_2: float) -> FloatArray:
    """Updates a running mean of squares and returns its roots plus EPSILON."""
    dtype = gradient.dtype.type
    square = np.multiply(gradient, gradient)
    square *= dtype(1 - beta_2)
    v *= dtype(beta_2)
    v += square
    np.sqrt(v, out=square)
    square += dtype(EPSILON)
    return square
