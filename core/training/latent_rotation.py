"""Rotates the channels of latents, so that blocks of BC7 hold more of them. The decoder's frames
and first layer take the rotation back, so that no response changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network.latents.block_lines import QUAD, to_quads
from verdigris.core.network.parameters import FloatArray, Parameters


def rotate_latents(
    parameters: Parameters, state: dict[str, NDArray[Any]], side: int | None = None
) -> tuple[Parameters, dict[str, NDArray[Any]]]:
    """Parameters and state of a trainer with latents along the principal axes of their variation
    inside blocks. Each layer has some of the long axes and some of the short ones: a block holds a
    line of each layer and one channel more. `side`: of the squares that hold bases, if padded."""
    axes = axes_inside_blocks(parameters)
    spec, rotated = parameters.spec, parameters.copy()
    rotated.latents[:] = parameters.latents @ axes
    channels = spec.latent_channels
    for matrix in (rotated.frames(), rotated.weights(spec.layers[0])):
        matrix[:, :channels] = matrix[:, :channels] @ axes
    # moments of the decoder are in bases that turn with its inputs
    bases = state["decoder_bases"].copy()
    shapes = (spec.frame_rows, spec.place_inputs), (spec.layers[0].outputs, spec.inputs)
    _turn_bases(bases, axes, shapes, side)
    squares = state["latents_v"] @ (axes * axes)
    return rotated, {**state, "decoder_bases": bases, "latents_v": squares}


def axes_inside_blocks(parameters: Parameters) -> FloatArray:
    """Orthogonal columns [channels, channels]."""
    channels = parameters.spec.latent_channels
    covariance = np.zeros((channels, channels))
    for texels in parameters.level(0):
        quads = to_quads(texels)
        blocks = quads.swapaxes(1, 2).reshape(len(quads), -1, channels)
        around = (blocks - blocks.mean(1, keepdims=True)).reshape(-1, channels)
        covariance += (around.T @ around).astype(np.float64)
    axes = np.linalg.eigh(covariance)[1][:, ::-1]
    layers = channels // QUAD
    order = [axis for layer in range(layers) for axis in range(layer, channels, layers)]
    return np.ascontiguousarray(axes[:, order], np.float32)


def _turn_bases(
    bases: FloatArray,
    axes: FloatArray,
    shapes: Sequence[tuple[int, int]],
    side: int | None,
) -> None:
    """Turns the mean and the basis of the inputs of frames and of the first layer, in place."""
    start, channels = 0, len(axes)
    for rows, columns in shapes:
        left, right = (side or rows), (side or columns)
        start += 2 * left * left
        mean, basis = bases[start : start + 2 * right * right].reshape(2, right, right)
        start += 2 * right * right
        mean[:channels] = axes.T @ mean[:channels]
        mean[:, :channels] = mean[:, :channels] @ axes
        basis[:channels] = axes.T @ basis[:channels]
