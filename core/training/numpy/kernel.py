"""Forward and backward pass of the student, written for speed. forward_pass.py of the network says
how work arrays are laid out."""

from __future__ import annotations

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network import losses
from verdigris.core.network.activations import exponent_backward, exponent_of
from verdigris.core.network.forward_pass import ForwardPass, cross
from verdigris.core.network.latents.texels import IndexArray
from verdigris.core.network.packed_decoder import PackedDecoder
from verdigris.core.network.spec import (
    AXIS_ROWS,
    HALF_Z_MINIMUM,
    LOGARITHM_SHARE,
    LatentLayout,
    NetworkSpec,
)
from verdigris.core.training.numpy.prepared_batch import PreparedBatch

# Samples per matrix product in a sum over samples: more do not fit into the cache.
_CHUNK = 512


class Kernel(ForwardPass):
    """Work arrays and passes for `count` samples, with `pairs` consecutive samples per point."""

    def __init__(
        self, spec: NetworkSpec, layout: LatentLayout, loss: str, count: int, pairs: int = 1
    ) -> None:
        super().__init__(spec, count, pairs, keeps_slopes=True)
        self.layout = layout
        self.loss_function = losses.FUNCTIONS[loss]
        self.gradients = PackedDecoder(spec)
        self.loss = 0.0
        # Share of the light gradient that is added to the gradient of the loss.
        self.light_share = 0.0
        frames, points = spec.frame_count, self.points
        of_samples, of_points = self._of_samples, self._of_points
        self._g_latent = of_points(spec.latent_channels)
        self._g_rows_of_frames = self._new_rows_of_frames()
        self._g_raw = self._g_rows_of_frames[:, :AXIS_ROWS].reshape(frames, 2, 3, points)
        self._g_bitangent, self._g_axes = of_points(frames, 5), of_points(frames, 3, 3)
        self._scalar = of_points(frames)
        self._g_s = of_samples(frames)
        self._g_hidden = [of_samples(layer.outputs) for layer in spec.layers[:-1]]
        self._g_inputs = of_samples(spec.inputs)

    def run(
        self, decoder: PackedDecoder, latents: FloatArray, batch: PreparedBatch, share: float
    ) -> None:
        """Computes loss and gradients; `share` is the share of a sample in the mean."""
        self.run_forward(decoder, latents, batch.places)
        gradient = self._run_loss(batch, np.float32(share))
        self._run_layers_backward(decoder, gradient)
        self._encode_directions_backward(batch)
        self._build_frames_backward(decoder)

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
        cross(self._tangent, g_b, vector, other)
        g_normal += vector
        cross(g_b, self._normal, vector, other)
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

    def add_latent_gradient(self, other: Kernel) -> None:
        """Adds the gradient by latents of the other side, which has the same points."""
        self._g_latent += other._g_latent

    def scatter(self, batch: PreparedBatch, places: IndexArray, out: FloatArray) -> None:
        """Sums gradients by latents to `out` [channels, texels]; `places` has the column of each
        corner."""
        parts = np.multiply(self._g_latent[:, None], batch.corner_weights, out=self._corners)
        for part, sums in zip(parts.reshape(len(parts), -1), out, strict=True):
            sums[:] = 0
            np.add.at(sums, places, part)


def _normalise_backward(unit: FloatArray, inverse: FloatArray, gradient: FloatArray) -> FloatArray:
    """Converts the gradient of normalised vectors in place to the gradient of the vectors."""
    along = np.einsum("fcn,fcn->fn", unit, gradient)
    gradient -= unit * along[:, None]
    gradient *= inverse[:, None]
    return gradient


def _sum_outer_products(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    """Writes a @ b.T to `out`, summed over chunks of samples."""
    np.matmul(a[:, :_CHUNK], b[:, :_CHUNK].T, out=out)
    for start in range(_CHUNK, a.shape[1], _CHUNK):
        chunk = slice(start, start + _CHUNK)
        out += a[:, chunk] @ b[:, chunk].T
