"""The student in plain numpy, forward and backward, in the precision of its inputs.

This is the oracle for every kernel, for the fast trainers and for all other decoders. Arrays are
channel-first, [channels, samples], as in the kernels' matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.material.sides import mirrored
from verdigris.core.network import activations, losses
from verdigris.core.network.activations import exponent_backward, exponent_of, response_of
from verdigris.core.network.directions import (
    build_frame,
    build_frame_backward,
    encode_directions,
    encode_directions_backward,
)
from verdigris.core.network.latents.texels import (
    IndexArray,
    corners,
    gather,
    level_for_lod,
    scatter,
)
from verdigris.core.network.parameters import Parameters, with_live
from verdigris.core.network.spec import AXIS_ROWS, CHANNELS, FRAME_ROWS, NetworkSpec

# Samples in a block of evaluate(), so that they fit into caches.
_AT_ONCE = 1 << 14


@dataclass
class Tape:
    """Values of the forward pass that the backward pass needs."""

    indices: IndexArray
    weights: FloatArray
    wi: FloatArray
    wo: FloatArray
    raw_frames: FloatArray
    layer_inputs: list[FloatArray]
    pre_activations: list[FloatArray]


@dataclass
class Gradients:
    """Gradients of the mean loss, laid out like Parameters."""

    loss: float
    decoder: FloatArray
    latents: FloatArray


def forward(
    spec: NetworkSpec,
    parameters: Parameters,
    uv: FloatArray,
    level: IndexArray | int,
    wi: FloatArray,
    wo: FloatArray,
    material: IndexArray | int = 0,
    live: NDArray[Any] | None = None,
) -> tuple[FloatArray, Tape]:
    """Raw outputs [3 lobes, N] and the tape; uv is [2, N], directions are [3, N], live values
    [N, inputs]."""
    indices, weights = corners(parameters.layout, uv, level, material)
    latent = gather(parameters.latents, indices, weights)
    latent = with_live(parameters, latent, live)
    tape = Tape(indices, weights, wi, wo, parameters.frames() @ latent, [], [])
    return _decode(spec, parameters, tape, latent), tape


def decode_latents(
    spec: NetworkSpec, parameters: Parameters, latent: FloatArray, wi: FloatArray, wo: FloatArray
) -> FloatArray:
    """Raw outputs [3 lobes, N] for gathered latents and live values [inputs of the place, N]."""
    none = np.empty(0, np.int64), np.empty(0, latent.dtype)
    return _decode(
        spec, parameters, Tape(*none, wi, wo, parameters.frames() @ latent, [], []), latent
    )


def decoder_inputs(
    spec: NetworkSpec, raw_frames: FloatArray, latent: FloatArray, wi: FloatArray, wo: FloatArray
) -> FloatArray:
    """Inputs of the first layer, [inputs, N]: those of the place, and directions in each frame."""
    inputs = [latent]
    for frame in range(spec.frame_count):
        axes, stretch = np.split(_rows_of_frame(raw_frames, frame), [AXIS_ROWS])
        inputs.append(encode_directions(build_frame(axes), stretch, wi, wo))
    return np.concatenate(inputs)


def _decode(
    spec: NetworkSpec, parameters: Parameters, tape: Tape, latent: FloatArray
) -> FloatArray:
    x = decoder_inputs(spec, tape.raw_frames, latent, tape.wi, tape.wo)
    activation = activations.FUNCTIONS[spec.activation]
    for layer in spec.layers:
        tape.layer_inputs.append(x)
        x = parameters.weights(layer) @ x + parameters.bias(layer)[:, None]
        tape.pre_activations.append(x)
        if layer is not spec.layers[-1]:
            x = activation.value(x)
    return x


def backward(
    spec: NetworkSpec, parameters: Parameters, tape: Tape, gradient: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gradients by decoder and latents, given the gradient by the raw outputs."""
    result = Parameters(
        spec,
        parameters.layout,
        np.zeros_like(parameters.decoder),
        np.empty_like(parameters.latents),
    )
    activation = activations.FUNCTIONS[spec.activation]
    for index in reversed(range(len(spec.layers))):
        layer = spec.layers[index]
        if layer is not spec.layers[-1]:
            gradient = gradient * activation.derivative(tape.pre_activations[index])
        result.weights(layer)[:] = gradient @ tape.layer_inputs[index].T
        result.bias(layer)[:] = gradient.sum(1)
        gradient = parameters.weights(layer).T @ gradient

    latent = tape.layer_inputs[0][: spec.place_inputs]
    g_raw_frames = np.empty_like(tape.raw_frames)
    for frame in range(spec.frame_count):
        axes, stretch = np.split(_rows_of_frame(tape.raw_frames, frame), [AXIS_ROWS])
        g_inputs = gradient[spec.inputs_of_frame(frame)]
        g_frame, g_stretch = encode_directions_backward(
            build_frame(axes), stretch, tape.wi, tape.wo, g_inputs
        )
        g_axes = build_frame_backward(axes, g_frame)
        _rows_of_frame(g_raw_frames, frame)[:] = np.concatenate([g_axes, g_stretch])
    result.frames()[:] = g_raw_frames @ latent.T

    g_latent = gradient[: spec.place_inputs] + parameters.frames().T @ g_raw_frames
    g_latent = g_latent[: spec.latent_channels]
    latents = scatter(g_latent, tape.indices, tape.weights, parameters.layout.texel_count)
    return result.decoder, latents


def loss_and_gradients(
    spec: NetworkSpec,
    parameters: Parameters,
    batch: NDArray[np.void],
    loss: str = "cbrt_log",
    light_share: float = 0.0,
) -> Gradients:
    """The mean of weight times loss over a batch of TRAINING_SAMPLE from one side, and its
    gradients with a share of the light gradient."""
    dtype = parameters.decoder.dtype
    uv, wi, wo, response = (batch[name].astype(dtype).T for name in ("uv", "wi", "wo", "response"))
    level, material = _whole(batch["level"]), _whole(batch["material"])
    live = batch["live"][:, : spec.live_inputs]
    raw, tape = forward(spec, parameters, uv, level, wi, wo, material, live)
    exponent, shares = exponent_of(spec, raw)
    target = losses.clamp_response(response)
    values, gradient = losses.FUNCTIONS[loss](exponent, target)
    if light_share:
        gradient = gradient + light_share * losses.light_gradient(exponent, target)
    share = batch["weight"].astype(dtype) / len(batch)
    by_outputs = exponent_backward(shares, gradient * share)
    decoder, latents = backward(spec, parameters, tape, by_outputs)
    return Gradients(float((values * share).sum()), decoder, latents)


def evaluate(
    spec: NetworkSpec,
    parameters: Parameters,
    uv: NDArray[Any],
    level: NDArray[Any] | int,
    wi: NDArray[Any],
    wo: NDArray[Any],
    material: NDArray[Any] | int = 0,
    live: NDArray[Any] | None = None,
) -> FloatArray:
    """The response [N, 3] on a mip level, in the parameters' precision; uv is [N, 2], wi and wo are
    [N, 3]. Light from below a surface that transmits has a negative wi.z."""
    dtype = parameters.decoder.dtype
    if parameters.transmitted is not None:
        return _of_both_sides(
            parameters,
            wi,
            wo,
            lambda side, wi: evaluate(spec, side, uv, level, wi, wo, material, live),
        )
    uv, wi, wo = (np.asarray(array, dtype).T for array in (uv, wi, wo))
    count = uv.shape[1]
    level = np.broadcast_to(_whole(level), count)
    material = np.broadcast_to(_whole(material), count)
    if live is not None:
        live = np.broadcast_to(live, (count, spec.live_inputs))
    result = np.empty((count, CHANNELS), dtype)
    for start in range(0, count, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        raw, _ = forward(
            spec,
            parameters,
            uv[:, part],
            level[part],
            wi[:, part],
            wo[:, part],
            material[part],
            None if live is None else live[part],
        )
        result[part] = response_of(spec, raw).T
    return result


def evaluate_at_lod(
    parameters: Parameters,
    uv: NDArray[Any],
    lod: NDArray[Any],
    wi: NDArray[Any],
    wo: NDArray[Any],
    live: NDArray[Any] | None = None,
) -> FloatArray:
    """The response [N, 3] for a footprint, in the decoder's precision; `lod` is log2 of its width
    in finest texels. Live values are [N, inputs], or the same for all."""
    dtype = parameters.decoder.dtype
    if parameters.transmitted is not None:
        return _of_both_sides(
            parameters, wi, wo, lambda side, wi: evaluate_at_lod(side, uv, lod, wi, wo, live)
        )
    uv, wi, wo = (np.asarray(array, dtype).T for array in (uv, wi, wo))
    latent = latents_at_lod(parameters, uv, np.asarray(lod, dtype), live)
    raw = decode_latents(parameters.spec, parameters, latent, wi, wo)
    response = response_of(parameters.spec, raw)
    response[:, (wi[2] <= 0) | (wo[2] <= 0)] = 0
    return np.ascontiguousarray(response.T)


def _of_both_sides(
    parameters: Parameters,
    wi: NDArray[Any],
    wo: NDArray[Any],
    evaluate_side: Callable[[Parameters, NDArray[Any]], FloatArray],
) -> FloatArray:
    """The response [N, 3] of the side that each light is on. A side is evaluated for all."""
    dtype = parameters.decoder.dtype
    above, below = parameters.sides
    from_below = mirrored(
        np.asarray(wi, dtype).T, np.asarray(wo, dtype).T, parameters.index_below
    ).T
    is_below = (wi[:, 2] < 0) & (wo[:, 2] > 0) & (from_below[:, 2] > 0)
    reflected = evaluate_side(above, np.where(is_below[:, None], [0, 0, 1], wi))
    passed = evaluate_side(below, np.where(is_below[:, None], from_below, [0, 0, 1]))
    result = np.where(is_below[:, None], passed, reflected)
    result[(wi[:, 2] <= 0) & ~is_below] = 0
    return np.asarray(result, dtype)


def latents_at_lod(
    parameters: Parameters, uv: FloatArray, lod: FloatArray, live: NDArray[Any] | None = None
) -> FloatArray:
    """Trilinear latents, then live values, [inputs of the place, N]. uv is [2, N]; live values are
    [N, inputs], or the parameters' own."""
    layout = parameters.layout
    level = level_for_lod(layout, lod)
    finer = np.floor(level).astype(np.int64)
    coarser = np.minimum(finer + 1, layout.levels - 1)
    part = (level - finer).astype(uv.dtype)
    fine, coarse = (
        gather(parameters.latents, *corners(layout, uv, each)) for each in (finer, coarser)
    )
    latent: FloatArray = fine + (coarse - fine) * part
    return with_live(parameters, latent, live)


def _rows_of_frame(rows: FloatArray, frame: int) -> FloatArray:
    return rows[FRAME_ROWS * frame : FRAME_ROWS * (frame + 1)]


def _whole(value: NDArray[Any] | int) -> IndexArray:
    return np.asarray(value).astype(np.int64)
