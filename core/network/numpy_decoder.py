"""Evaluates a material at a footprint, in numpy: the oracle for every other decoder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network.latents.texels import corners, gather, level_for_lod
from verdigris.core.network.numpy_mlp import decode_latents
from verdigris.core.network.output import response_of
from verdigris.core.network.parameters import FloatArray, Parameters, with_live


def evaluate_at_lod(
    parameters: Parameters,
    uv: NDArray[Any],
    lod: NDArray[Any],
    wi: NDArray[Any],
    wo: NDArray[Any],
    live: NDArray[Any] | None = None,
) -> FloatArray:
    """The response [N, 3] in the decoder's precision; `lod` is log2 of a width in finest texels.
    Live values are [N, inputs], or the same for all."""
    dtype = parameters.decoder.dtype
    uv, wi, wo = (np.asarray(array, dtype).T for array in (uv, wi, wo))
    latent = latents_at_lod(parameters, uv, np.asarray(lod, dtype), live)
    raw = decode_latents(parameters.spec, parameters, latent, wi, wo)
    response = response_of(parameters.spec, raw)
    response[:, (wi[2] <= 0) | (wo[2] <= 0)] = 0
    return np.ascontiguousarray(response.T)


def latents_at_lod(
    parameters: Parameters, uv: FloatArray, lod: FloatArray, live: NDArray[Any] | None = None
) -> FloatArray:
    """Trilinear latents, then live values [N, inputs] or the parameters' own, [inputs of the place,
    N]; uv is [2, N]."""
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
