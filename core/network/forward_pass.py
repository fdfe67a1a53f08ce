"""The decoder by BLAS, for many samples at once, in training and in pictures.

core/network/numpy_mlp.py is the readable form; tests compare the two. The differences are:
- All memory is allocated once, and operations write to existing memory.
- Arrays are channel-first, so that ufuncs process contiguous samples.
- The bias of a layer is the first column of its weights, and the first row of its inputs is 1, so
  that BLAS adds the bias and sums its gradient.
- Half vectors are rotated, not normalised again.

A batch can have several pairs of directions at each point (uv, level, material). Texels and frames
are evaluated once per point. Work arrays hold the first pair of every point, then the second pair
of every point, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network.activations import response_of
from verdigris.core.network.latents.texels import IndexArray
from verdigris.core.network.packed_decoder import PackedDecoder
from verdigris.core.network.spec import (
    AXIS_ROWS,
    COSINE_OFFSET,
    FRAME_INPUTS,
    FRAME_ROWS,
    HALF_Z_MINIMUM,
    LEAKY_SLOPE,
    LENGTH_EPSILON,
    LOGARITHM_SHARE,
    SMELU_WIDTH,
    STRETCH_LIMIT,
    VECTOR_INPUTS,
    NetworkSpec,
)

# Floats between rows of work arrays: one cache line.
_PADDING = 16


class Places(NamedTuple):
    """Texels and directions to evaluate. Samples are ordered [pairs, points]."""

    indices: IndexArray
    """(4, points)"""
    corner_weights: FloatArray
    """(4, points)"""
    directions: FloatArray
    """(2, 3, samples): half vector and wi in the geometric frame."""
    cosine: FloatArray
    """(samples): cosine between half vector and wi."""
    live: FloatArray
    """(3, points)"""


class ForwardPass:
    """Work arrays for `count` samples, with `pairs` consecutive samples per point."""

    def __init__(
        self, spec: NetworkSpec, count: int, pairs: int = 1, keeps_slopes: bool = False
    ) -> None:
        """`keeps_slopes`: whether a backward pass needs the derivatives of activations."""
        self.spec, self.count, self.pairs = spec, count, pairs
        self.points = points = count // pairs
        self._keeps_slopes = keeps_slopes
        # Rounds gathered latents of the texels with these indices in place; None: no rounding.
        self.round_latents: Callable[[FloatArray, IndexArray], None] | None = None
        of_samples, of_points = self._of_samples, self._of_points

        channels, frames = spec.latent_channels, spec.frame_count
        place = spec.place_inputs
        self._rows = np.empty((4 * points, channels), np.float32)
        self._corners = np.empty((channels, 4, points), np.float32)

        # 1, the latent, the live values
        self._latent = of_points(1 + place)
        self._latent[0] = 1
        self._rows_of_frames = self._new_rows_of_frames()
        self._raw = self._rows_of_frames[:, :AXIS_ROWS].reshape(frames, 2, 3, points)
        # Components x y z x y, so that a cross product is two products of slices.
        self._normal, self._tangent = of_points(frames, 5), of_points(frames, 5)
        self._axes = of_points(frames, 3, 3)
        self._vector, self._other = of_points(frames, 3), of_points(frames, 3)
        self._inverse_n, self._inverse_t, self._along = (of_points(frames) for _ in range(3))

        self._inputs = of_samples(1 + spec.inputs)
        self._inputs[0] = 1
        self._encoded, self._cosines, self._logarithms = self._split(self._inputs[1 + place :])
        self._shifted = of_samples(frames, 2)
        self._half = of_samples(frames, 3)
        self._limited, self._factors = of_points(frames, 2), of_points(frames, 2)
        self._inverse_h = of_samples(frames)
        self._s, self._divisor = of_samples(frames), of_samples(frames)
        self._step = of_samples(frames, 2)
        widths = [layer.outputs for layer in spec.layers[:-1]]
        self._hidden = [of_samples(1 + width) for width in widths]
        for hidden in self._hidden:
            hidden[0] = 1
        self._scratch = of_samples(max(widths))
        self._slopes = [of_samples(max(widths))] * len(widths)
        if keeps_slopes:
            self._slopes = [of_samples(width) for width in widths]
        self._output = of_samples(spec.outputs)

    def _of_samples(self, *shape: int) -> FloatArray:
        return _new_rows(shape, self.count)

    def _of_points(self, *shape: int) -> FloatArray:
        return _new_rows(shape, self.points)

    def _new_rows_of_frames(self) -> FloatArray:
        frames = self.spec.frame_count
        return self._of_points(FRAME_ROWS * frames).reshape(frames, FRAME_ROWS, self.points)

    def _split(self, inputs: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Views: half and difference vectors [frames, 2, 3, N], cosines and logarithms
        [frames, 2, N]."""
        of_frames = inputs.reshape(self.spec.frame_count, FRAME_INPUTS, -1)
        vectors, cosines, logarithms = np.split(
            of_frames, [VECTOR_INPUTS, VECTOR_INPUTS + 2], axis=1
        )
        return vectors.reshape(len(vectors), 2, 3, -1), cosines, logarithms

    def _by_pair(self, of_samples: FloatArray) -> FloatArray:
        """A view with the samples as [pairs, points]."""
        return of_samples.reshape(*of_samples.shape[:-1], self.pairs, self.points)

    def evaluate(self, decoder: PackedDecoder, latents: FloatArray, batch: Places) -> FloatArray:
        """The response [3, count] for the directions of a batch."""
        self.run_forward(decoder, latents, batch)
        return response_of(self.spec, self._output)

    def frames_of(
        self, decoder: PackedDecoder, latents: FloatArray, batch: Places
    ) -> tuple[FloatArray, FloatArray]:
        """The normals of the learned frames, (frames, 3, points), and the factors by which half
        vectors are stretched along tangent and bitangent, (frames, 2, points)."""
        self._gather(latents, batch)
        self._build_frames(decoder)
        self._find_factors()
        return self._axes[:, 2], self._factors

    def run_forward(self, decoder: PackedDecoder, latents: FloatArray, batch: Places) -> None:
        self._gather(latents, batch)
        self._build_frames(decoder)
        self._encode_directions(batch)
        self._run_layers(decoder)

    def _gather(self, latents: FloatArray, batch: Places) -> None:
        channels = self.spec.latent_channels
        texels = batch.indices.ravel()
        np.take(latents, texels, axis=0, out=self._rows, mode="clip")
        if self.round_latents:
            self.round_latents(self._rows, texels)
        np.copyto(self._corners.reshape(channels, -1), self._rows.T)
        latent = self._latent[1:]
        np.einsum("ckn,kn->cn", self._corners, batch.corner_weights, out=latent[:channels])
        latent[channels:] = batch.live[: self.spec.live_inputs]
        self._by_pair(self._inputs[1 : 1 + len(latent)])[:] = latent[:, None]

    def _build_frames(self, decoder: PackedDecoder) -> None:
        raw = self._raw
        np.matmul(decoder.frames, self._latent, out=self._rows_of_frames.reshape(-1, self.points))
        normal, tangent, axes = self._normal, self._tangent, self._axes
        normalise(raw[:, 0], self._inverse_n, normal[:, :3])
        np.einsum("fcn,fcn->fn", normal[:, :3], raw[:, 1], out=self._along)
        projected = np.multiply(normal[:, :3], self._along[:, None], out=self._vector)
        np.subtract(raw[:, 1], projected, out=projected)
        normalise(projected, self._inverse_t, tangent[:, :3])
        normal[:, 3:], tangent[:, 3:] = normal[:, :2], tangent[:, :2]
        axes[:, 0], axes[:, 2] = tangent[:, :3], normal[:, :3]
        cross(normal, tangent, axes[:, 1], self._other)

    def _encode_directions(self, batch: Places) -> None:
        encoded = self._encoded
        directions = self._by_pair(batch.directions)
        np.einsum("fxcp,dckp->fdxkp", self._axes, directions, out=self._by_pair(encoded))
        half, a = self._half, encoded[:, 1]
        half[:] = encoded[:, 0]
        self._encode_cosines(a[:, 2], batch)
        np.add(half[:, 2], np.float32(1), out=self._divisor)
        np.maximum(self._divisor, np.float32(HALF_Z_MINIMUM), out=self._divisor)
        np.add(a[:, 2], batch.cosine, out=self._s)
        self._s /= self._divisor
        step = np.multiply(half[:, :2], self._s[:, None], out=self._step)
        a[:, :2] -= step
        a[:, 2] = batch.cosine
        self._stretch_halves(encoded[:, 0])

    def _encode_cosines(self, with_wi: FloatArray, batch: Places) -> None:
        cosines, shifted, logarithms = self._cosines, self._shifted, self._logarithms
        cosines[:, 0] = with_wi
        # the length of wi + wo is twice their cosine with the half vector
        np.multiply(self._half[:, 2], batch.cosine, out=cosines[:, 1])
        cosines[:, 1] *= 2
        cosines[:, 1] -= with_wi
        np.maximum(cosines, 0, out=shifted)
        shifted += np.float32(COSINE_OFFSET)
        np.log(shifted, out=logarithms)
        logarithms *= np.float32(LOGARITHM_SHARE)

    def _stretch_halves(self, half: FloatArray) -> None:
        self._find_factors()
        along = self._by_pair(half[:, :2])
        along *= self._factors[:, :, None]
        normalise(half, self._inverse_h, half)

    def _find_factors(self) -> None:
        limit = np.float32(STRETCH_LIMIT)
        np.multiply(self._rows_of_frames[:, AXIS_ROWS:], 1 / limit, out=self._limited)
        np.tanh(self._limited, out=self._limited)
        np.exp(np.multiply(self._limited, limit, out=self._factors), out=self._factors)

    def _run_layers(self, decoder: PackedDecoder) -> None:
        x = self._inputs
        for matrix, hidden, slopes in zip(decoder.layers, self._hidden, self._slopes, strict=False):
            y = hidden[1:]
            np.matmul(matrix, x, out=y)
            slope, scratch = slopes[: len(y)], self._scratch[: len(y)]
            activate(self.spec.activation, y, slope, scratch, self._keeps_slopes)
            x = hidden
        np.matmul(decoder.layers[-1], x, out=self._output)


def _new_rows(shape: tuple[int, ...], length: int) -> FloatArray:
    # Rows whose distance is a power of two share cache sets, which halves BLAS' speed.
    return np.empty((*shape, length + _PADDING), np.float32)[..., :length]


def activate(
    name: str, x: FloatArray, slope: FloatArray, scratch: FloatArray, needs_slope: bool = True
) -> None:
    """Replaces `x` by its activation. Writes the derivative to `slope` if it is needed."""
    if name in ("leaky_relu", "relu"):
        # Clips a steep ramp to the two slopes: three passes over memory, where masks need ten.
        np.multiply(x, np.float32(1e20), out=slope)
        low = LEAKY_SLOPE if name == "leaky_relu" else 0
        np.clip(slope, np.float32(low), np.float32(1), out=slope)
        x *= slope
    elif name == "silu":
        np.multiply(x, np.float32(0.5), out=slope)
        np.tanh(slope, out=slope)
        slope *= np.float32(0.5)
        slope += np.float32(0.5)
        x *= slope
        if not needs_slope:
            return
        np.multiply(x, slope, out=scratch)
        slope += x
        slope -= scratch
    else:
        _activate_smelu(x, slope, scratch)


def _activate_smelu(x: FloatArray, slope: FloatArray, scratch: FloatArray) -> None:
    width = np.float32(SMELU_WIDTH)
    gain = np.float32((1 - LEAKY_SLOPE) / (2 * SMELU_WIDTH))
    np.add(x, width, out=slope)
    np.clip(slope, np.float32(0), 2 * width, out=slope)
    np.subtract(x, width, out=scratch)
    np.maximum(scratch, np.float32(0), out=scratch)
    scratch *= 2 * width
    x *= np.float32(LEAKY_SLOPE)
    scratch *= gain
    x += scratch
    np.multiply(slope, slope, out=scratch)
    scratch *= gain / 2
    x += scratch
    slope *= gain
    slope += np.float32(LEAKY_SLOPE)


def normalise(vector: FloatArray, inverse: FloatArray, out: FloatArray) -> None:
    """Writes vectors with length 1 to `out` and the reciprocal lengths to `inverse`."""
    np.einsum("fcn,fcn->fn", vector, vector, out=inverse)
    np.sqrt(inverse, out=inverse)
    np.maximum(inverse, np.float32(LENGTH_EPSILON), out=inverse)
    np.reciprocal(inverse, out=inverse)
    np.multiply(vector, inverse[:, None], out=out)


def cross(a: FloatArray, b: FloatArray, out: FloatArray, scratch: FloatArray) -> None:
    """Writes a x b to `out`. Axis 1 of `a` and `b` has the components x y z x y."""
    np.multiply(a[:, 1:4], b[:, 2:5], out=out)
    np.multiply(a[:, 2:5], b[:, 1:4], out=scratch)
    out -= scratch
