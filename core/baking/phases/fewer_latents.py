"""Textures with fewer latent channels from a trained one.

Latents are projected on their principal axes, each channel weighted by how much responses depend on
it. Frames and first layer of the decoder take the projection back. The optimiser begins again, but
at the same step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.network.latents.quantise import fit_ranges, pack_ranges
from verdigris.core.network.parameters import FloatArray, Parameters
from verdigris.core.network.spec import LatentLayout
from verdigris.core.training.latent_rounding import axes_inside_blocks
from verdigris.core.training.trainer import RANGES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.size_choice import Size
    from verdigris.core.training.trainer import Trainer


def shrunk(large: Parameters, width: int, height: int) -> Parameters:
    """The same student with a texture of this size; both sides are parts of those before."""
    before = large.layout
    layout = LatentLayout(width, height, max(width, height).bit_length(), before.materials)
    latents = np.empty((layout.texel_count, large.spec.latent_channels), large.latents.dtype)
    small = replace(large, layout=layout, decoder=large.decoder.copy(), latents=latents)
    # levels that both sides lose
    lost = min(before.width // width, before.height // height).bit_length() - 1
    for level in range(layout.levels):
        source = large.level(level + lost if level else 0)
        small.level(level)[:] = _boxes(source, *layout.level_size(level))
    return small


def shrunk_state(
    large: Parameters, state: dict[str, NDArray[Any]], width: int, height: int
) -> dict[str, NDArray[Any]]:
    """The optimiser's state for the smaller texture: it continues at the same step."""
    squares = shrunk(replace(large, latents=state["latents_v"]), width, height)
    return {**state, "latents_v": squares.latents}


def _boxes(texels: FloatArray, height: int, width: int) -> FloatArray:
    """Means of [materials, rows, columns, channels] over boxes of texels."""
    materials, rows, columns, channels = texels.shape
    boxes = texels.reshape(materials, height, rows // height, width, columns // width, channels)
    result: FloatArray = boxes.mean((2, 4), dtype=texels.dtype)
    return result


# Least weight of a channel, as a part of the largest.
_LEAST_WEIGHT = 1e-3
_TINY = 1e-30


def shrunk_to(
    large: Parameters, state: dict[str, NDArray[Any]], size: Size
) -> tuple[Parameters, Callable[[Trainer], None]]:
    """The same student with a texture of this size, and what brings a trainer of it to the step of
    `state`."""
    small = shrunk(large, size.width, size.height)
    after = shrunk_state(large, state, size.width, size.height)
    if size.channels == large.spec.latent_channels:
        return small, lambda trainer: trainer.restore(small, after)
    projected, squares = with_fewer_latents(small, after["latents_v"], size.channels)

    def begin(trainer: Trainer) -> None:
        fresh = trainer.state() | {"step": state["step"], "latents_v": squares}
        if RANGES in state:
            fresh[RANGES] = pack_ranges(fit_ranges(projected))
        trainer.restore(projected, fresh)

    return projected, begin


def with_fewer_latents(
    parameters: Parameters, squares: FloatArray, channels: int
) -> tuple[Parameters, FloatArray]:
    """The student with so many channels that gives the nearest responses, and its mean squares of
    gradients."""
    weight = np.sqrt(squares.mean(0, dtype=np.float64))
    weight = np.maximum(weight, _LEAST_WEIGHT * weight.max() + _TINY)
    finest = parameters.level(0).reshape(-1, len(weight)).astype(np.float64)
    # latents keep their size, for which learning rates are made
    weight *= np.sqrt((finest**2).sum() / (((finest * weight) ** 2).sum() + _TINY))
    finest *= weight
    # not around the mean: frames have no bias that could hold it
    axes = np.linalg.eigh(finest.T @ finest)[1][:, ::-1][:, :channels]
    to_fewer = (weight[:, None] * axes).astype(np.float32)
    to_more = (axes.T / weight).astype(np.float32)
    spec = replace(parameters.spec, latent_channels=channels)
    fewer = Parameters(
        spec,
        parameters.layout,
        np.zeros(spec.parameter_count, np.float32),
        parameters.latents @ to_fewer,
        live=parameters.live,
    )
    turn = axes_inside_blocks(fewer)
    fewer.latents[:] = fewer.latents @ turn
    to_more = turn.T @ to_more
    before = parameters.spec
    for layer, old in zip(spec.layers, before.layers, strict=True):
        fewer.weights(layer)[:] = parameters.weights(old)[:, -layer.inputs :]
        fewer.bias(layer)[:] = parameters.bias(old)
    # live values follow the latents of frames, too
    fewer.frames()[:] = parameters.frames()[:, -spec.place_inputs :]
    old_first, first = parameters.weights(before.layers[0]), fewer.weights(spec.layers[0])
    for own, new in ((parameters.frames(), fewer.frames()), (old_first, first)):
        new[:, :channels] = own[:, : before.latent_channels] @ to_more.T
    return fewer, squares @ (to_more.T * to_more.T)
