"""Forward and backward pass of the student, written for speed.

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

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network import losses
from verdigris.core.network.activations import exponent_backward, exponent_of, response_of
from verdigris.core.network.latents.texels import IndexArray
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
    LatentLayout,
    NetworkSpec,
)
from verdigris.core.training.numpy.prepared_batch import PreparedBatch
from verdigris.core.training.packed_decoder import PackedDecoder

# Samples per matrix product in a sum over samples: more do not fit into the cache.
_CHUNK = 512
# Floats between rows of work arrays: one cache line.
_PADDING = 16


class Kernel:
    """Work arrays and passes for `count` samples, with `pairs` consecutive samples per point."""

    def __init__(
        self, spec: NetworkSpec, layout: LatentLayout, loss: str, count: int, pairs: int = 1
    ) -> None:
        self.spec, self.layout, self.count, self.pairs = spec, layout, count, pairs
        self.points = points = count // pairs
        self.loss_function = losses.FUNCTIONS[loss]
        self.gradients = PackedDecoder(spec)
        self.loss = 0.0
        # Share of the light gradient that is added to the gradient of the loss.
        self.light_share = 0.0
        # Rounds gathered latents of the texels with these indices in place; None: no rounding.
        self.round_latents: Callable[[FloatArray, IndexArray], None] | None = None

        def rows(shape: tuple[int, ...], length: int) -> FloatArray:
            # Rows whose distance is a power of two share cache sets, which halves BLAS' speed.
            return np.empty((*shape, length + _PADDING), np.float32)[..., :length]

        def of_samples(*shape: int) -> FloatArray:
            return rows(shape, count)

        def of_points(*shape: int) -> FloatArray:
            return rows(shape, points)

        channels, frames = spec.latent_channels, spec.frame_count
        place = spec.place_inputs
        self._rows = np.empty((4 * points, channels), np.float32)
        self._corners = np.empty((channels, 4, points), np.float32)

        # 1, the latent, the live values
        self._latent = of_points(1 + place)
        self._latent[0] = 1
        self._g_latent = of_points(channels)
        self._rows_of_frames, self._g_rows_of_frames = (
            of_points(FRAME_ROWS * frames).reshape(frames, FRAME_ROWS, points) for _ in range(2)
        )
        self._raw, self._g_raw = (
            rows[:, :AXIS_ROWS].reshape(frames, 2, 3, points)
            for rows in (self._rows_of_frames, self._g_rows_of_frames)
        )
        # Components x y z x y, so that a cross product is two products of slices.
        self._normal, self._tangent, self._g_bitangent = (of_points(frames, 5) for _ in range(3))
        self._axes, self._g_axes = of_points(frames, 3, 3), of_points(frames, 3, 3)
        self._vector, self._other = of_points(frames, 3), of_points(frames, 3)
        self._inverse_n, self._inverse_t, self._along = (of_points(frames) for _ in range(3))
        self._scalar = of_points(frames)

        self._inputs = of_samples(1 + spec.inputs)
        self._inputs[0] = 1
        self._encoded, self._cosines, self._logarithms = self._split(self._inputs[1 + place :])
        self._shifted = of_samples(frames, 2)
        self._half = of_samples(frames, 3)
        self._limited, self._factors = of_points(frames, 2), of_points(frames, 2)
        self._inverse_h = of_samples(frames)
        self._s, self._divisor, self._g_s = (of_samples(frames) for _ in range(3))
        self._step = of_samples(frames, 2)
        widths = [layer.outputs for layer in spec.layers[:-1]]
        self._hidden = [of_samples(1 + width) for width in widths]
        for hidden in self._hidden:
            hidden[0] = 1
        self._slopes = [of_samples(width) for width in widths]
        self._scratch = of_samples(max(widths))
        self._g_hidden = [of_samples(width) for width in widths]
        self._output = of_samples(spec.outputs)
        self._g_inputs = of_samples(spec.inputs)

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

    def evaluate(
        self, decoder: PackedDecoder, latents: FloatArray, batch: PreparedBatch
    ) -> FloatArray:
        """The response [3, count] for the directions of a batch."""
        self._run_forward(decoder, latents, batch)
        return response_of(self.spec, self._output)

    def run(
        self, decoder: PackedDecoder, latents: FloatArray, batch: PreparedBatch, share: float
    ) -> None:
        """Computes loss and gradients; `share` is the share of a sample in the mean."""
        self._run_forward(decoder, latents, batch)
        gradient = self._run_loss(batch, np.float32(share))
        self._run_layers_backward(decoder, gradient)
        self._encode_directions_backward(batch)
        self._build_frames_backward(decoder)

    def _run_forward(
        self, decoder: PackedDecoder, latents: FloatArray, batch: PreparedBatch
    ) -> None:
        self._gather(latents, batch)
        self._build_frames(decoder)
        self._encode_directions(batch)
        self._run_layers(decoder)

    def _gather(self, latents: FloatArray, batch: PreparedBatch) -> None:
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
        _normalise(raw[:, 0], self._inverse_n, normal[:, :3])
        np.einsum("fcn,fcn->fn", normal[:, :3], raw[:, 1], out=self._along)
        projected = np.multiply(normal[:, :3], self._along[:, None], out=self._vector)
        np.subtract(raw[:, 1], projected, out=projected)
        _normalise(projected, self._inverse_t, tangent[:, :3])
        normal[:, 3:], tangent[:, 3:] = normal[:, :2], tangent[:, :2]
        axes[:, 0], axes[:, 2] = tangent[:, :3], normal[:, :3]
        _cross(normal, tangent, axes[:, 1], self._other)

    def _encode_directions(self, batch: PreparedBatch) -> None:
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

    def _encode_cosines(self, with_wi: FloatArray, batch: PreparedBatch) -> None:
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
        limit = np.float32(STRETCH_LIMIT)
        np.multiply(self._rows_of_frames[:, AXIS_ROWS:], 1 / limit, out=self._limited)
        np.tanh(self._limited, out=self._limited)
        np.exp(np.multiply(self._limited, limit, out=self._factors), out=self._factors)
        along = self._by_pair(half[:, :2])
        along *= self._factors[:, :, None]
        _normalise(half, self._inverse_h, half)

    def _run_layers(self, decoder: PackedDecoder) -> None:
        x = self._inputs
        for matrix, hidden, slope in zip(decoder.layers, self._hidden, self._slopes, strict=False):
            y = hidden[1:]
            np.matmul(matrix, x, out=y)
            activate(self.spec.activation, y, slope, self._scratch[: len(y)])
            x = hidden
        np.matmul(decoder.layers[-1], x, out=self._output)

    def _run_loss(self, batch: PreparedBatch, share: np.float32) -> FloatArray:
        exponent, shares = exponent_of(self.spec, self._output)
        target = losses.clamp_response(batch.response)
        values, gradient = self.loss_function(exponent, target)
        if self.light_share:
            light = losses.light_gradient(exponent, target)
            light *= np.float32(self.light_share)
            gradient += light
        weight = batch.weight * share
        self.loss = float(values @ weight)
        gradient *= weight
        return exponent_backward(shares, gradient)

    def _run_layers_backward(self, decoder: PackedDecoder, gradient: FloatArray) -> None:
        for index in reversed(range(len(decoder.layers))):
            matrix = decoder.layers[index]
            x = self._hidden[index - 1] if index else self._inputs
            _sum_outer_products(gradient, x, self.gradients.layers[index])
            below = self._g_hidden[index - 1] if index else self._g_inputs
            np.matmul(matrix[:, 1:].T, gradient, out=below)
            if index:
                below *= self._slopes[index - 1]
            gradient = below

    def _encode_directions_backward(self, batch: PreparedBatch) -> None:
        half = self._half
        gradient, g_cosines, g_logarithms = self._split(self._g_inputs[self.spec.place_inputs :])
        g_half, g_a = gradient[:, 0], gradient[:, 1]
        self._stretch_halves_backward(g_half)
        g_s = self._g_s
        np.einsum("fcn,fcn->fn", half[:, :2], g_a[:, :2], out=g_s)
        np.negative(g_s, out=g_s)
        g_s /= self._divisor
        g_half[:, :2] -= np.multiply(g_a[:, :2], self._s[:, None], out=self._step)
        # The last difference input is equal in all frames, so only s has a gradient.
        g_a[:, 2] = g_s
        g_s *= self._s
        g_s *= self._divisor > HALF_Z_MINIMUM
        g_half[:, 2] -= g_s
        self._encode_cosines_backward(g_cosines, g_logarithms)
        g_a[:, 2] += g_cosines[:, 0]
        g_a[:, 2] -= g_cosines[:, 1]
        g_cosines[:, 1] *= batch.cosine
        g_cosines[:, 1] *= 2
        g_half[:, 2] += g_cosines[:, 1]
        directions = self._by_pair(batch.directions)
        np.einsum("fdxkp,dckp->fxcp", self._by_pair(gradient), directions, out=self._g_axes)

    def _encode_cosines_backward(self, g_cosines: FloatArray, g_logarithms: FloatArray) -> None:
        """Adds the gradient through the logarithms to the gradient by the cosines."""
        g_logarithms /= self._shifted
        g_logarithms *= np.float32(LOGARITHM_SHARE)
        g_logarithms *= self._cosines > 0
        g_cosines += g_logarithms

    def _stretch_halves_backward(self, gradient: FloatArray) -> None:
        """Converts the gradient by stretched half vectors to the gradient by half vectors."""
        _normalise_backward(self._encoded[:, 0], self._inverse_h, gradient)
        along = self._by_pair(gradient[:, :2])
        along *= self._factors[:, :, None]
        g_stretch = self._g_rows_of_frames[:, AXIS_ROWS:]
        np.einsum("fcpn,fcpn->fcn", along, self._by_pair(self._half[:, :2]), out=g_stretch)
        g_stretch *= 1 - self._limited * self._limited

    def _build_frames_backward(self, decoder: PackedDecoder) -> None:
        channels = self.spec.latent_channels
        normal, tangent = self._normal[:, :3], self._tangent[:, :3]
        g_tangent, g_normal = self._g_axes[:, 0], self._g_axes[:, 2]
        g_b = self._g_bitangent
        g_b[:, :3], g_b[:, 3:] = self._g_axes[:, 1], self._g_axes[:, 1, :2]
        vector, other, scalar = self._vector, self._other, self._scalar
        _cross(self._tangent, g_b, vector, other)
        g_normal += vector
        _cross(g_b, self._normal, vector, other)
        g_tangent += vector

        g_projected = _normalise_backward(tangent, self._inverse_t, g_tangent)
        np.einsum("fcn,fcn->fn", normal, g_projected, out=scalar)
        np.multiply(normal, scalar[:, None], out=other)
        np.subtract(g_projected, other, out=self._g_raw[:, 1])
        g_projected *= self._along[:, None]
        g_normal -= g_projected
        g_normal -= np.multiply(self._raw[:, 1], scalar[:, None], out=other)
        self._g_raw[:, 0] = _normalise_backward(normal, self._inverse_n, g_normal)

        rows = self._g_rows_of_frames.reshape(-1, self.points)
        _sum_outer_products(rows, self._latent, self.gradients.frames)
        self.gradients.frames[:, 0] = 0
        np.matmul(decoder.frames[:, 1 : 1 + channels].T, rows, out=self._g_latent)
        for g_latent in self._by_pair(self._g_inputs[:channels]).swapaxes(0, 1):
            self._g_latent += g_latent

    def scatter(self, batch: PreparedBatch, places: IndexArray, out: FloatArray) -> None:
        """Sums gradients by latents to `out` [channels, texels]; `places` has the column of each
        corner."""
        parts = np.multiply(self._g_latent[:, None], batch.corner_weights, out=self._corners)
        for part, sums in zip(parts.reshape(len(parts), -1), out, strict=True):
            sums[:] = 0
            np.add.at(sums, places, part)


def activate(name: str, x: FloatArray, slope: FloatArray, scratch: FloatArray) -> None:
    """Replaces `x` by its activation and writes the derivative to `slope`."""
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


def _normalise(vector: FloatArray, inverse: FloatArray, out: FloatArray) -> None:
    """Writes vectors with length 1 to `out` and the reciprocal lengths to `inverse`."""
    np.einsum("fcn,fcn->fn", vector, vector, out=inverse)
    np.sqrt(inverse, out=inverse)
    np.maximum(inverse, np.float32(LENGTH_EPSILON), out=inverse)
    np.reciprocal(inverse, out=inverse)
    np.multiply(vector, inverse[:, None], out=out)


def _normalise_backward(unit: FloatArray, inverse: FloatArray, gradient: FloatArray) -> FloatArray:
    """Converts the gradient of normalised vectors in place to the gradient of the vectors."""
    along = np.einsum("fcn,fcn->fn", unit, gradient)
    gradient -= unit * along[:, None]
    gradient *= inverse[:, None]
    return gradient


def _cross(a: FloatArray, b: FloatArray, out: FloatArray, scratch: FloatArray) -> None:
    """Writes a x b to `out`. Axis 1 of `a` and `b` has the components x y z x y."""
    np.multiply(a[:, 1:4], b[:, 2:5], out=out)
    np.multiply(a[:, 2:5], b[:, 1:4], out=scratch)
    out -= scratch


def _sum_outer_products(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    """Writes a @ b.T to `out`, summed over chunks of samples."""
    np.matmul(a[:, :_CHUNK], b[:, :_CHUNK].T, out=out)
    for start in range(_CHUNK, a.shape[1], _CHUNK):
        chunk = slice(start, start + _CHUNK)
        out += a[:, chunk] @ b[:, chunk].T
