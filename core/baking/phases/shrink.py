"""Smaller latent textures from a trained one.

The finest level is a box filter of the finest level before. Coarser levels are those that were
trained for them: a level averages twice the width of its own texels, the finest one only its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.network.parameters import FloatArray, Parameters
from verdigris.core.network.spec import LatentLayout

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
