"""Rows of reference.json to check a sampler with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network.numpy_decoder import latents_at_lod
from verdigris.core.network.sampler import Lobes, draw, lobes_of, look_at, pdf

if TYPE_CHECKING:
    from verdigris.core.network.parameters import FloatArray, Parameters

Floats = NDArray[np.float32]

COLUMNS: dict[str, tuple[int, ...]] = {
    "random": (2,),
    "pdf": (),
    "drawn": (3,),
    "drawn_pdf": (),
}
_SEED = 20_061
# Least distance of a random number from where another lobe begins: single floats may round over it.
_FROM_EDGE = 1e-3


@dataclass(frozen=True)
class SamplerRows:
    """What a sampler gives at the points of a reference."""

    random: Floats
    """Two uniform numbers for each row."""
    pdf: Floats
    """Density of the row's wi."""
    drawn: Floats
    """The direction that is drawn for `random`."""
    drawn_pdf: Floats
    """Its density."""


def lobes_at(
    parameters: Parameters,
    uv: FloatArray,
    lod: FloatArray,
    wo: FloatArray,
    live: FloatArray | None = None,
) -> Lobes:
    """The mixture at each uv [N, 2], lod [N] and wo [N, 3], in the decoder's precision."""
    dtype = parameters.decoder.dtype
    latents = latents_at_lod(parameters, np.asarray(uv, dtype).T, np.asarray(lod, dtype), live)
    return lobes_of(parameters, look_at(parameters, latents, np.asarray(wo, dtype).T))


def sample_rows(
    parameters: Parameters,
    uv: Floats,
    lod: Floats,
    wi: Floats,
    wo: Floats,
    random: Floats,
    live: Floats | None = None,
) -> SamplerRows:
    """The oracle's rows for these random numbers."""
    lobes = lobes_at(parameters, uv, lod, wo, live)
    dtype = parameters.decoder.dtype
    drawn = draw(lobes, np.asarray(random, dtype).T)
    found = pdf(lobes, np.asarray(wi, dtype).T), drawn.T, pdf(lobes, drawn)
    return SamplerRows(random, *(np.asarray(each, np.float32) for each in found))


def make_sampler_rows(
    parameters: Parameters,
    uv: Floats,
    lod: Floats,
    wi: Floats,
    wo: Floats,
    live: Floats | None = None,
) -> SamplerRows:
    """Rows in double precision, of random numbers away from the edges of lobes."""
    parameters = parameters.with_double_decoder()
    ends = np.cumsum(lobes_at(parameters, uv, lod, wo, live).weights, 0)
    generator = np.random.default_rng(_SEED)
    random = generator.uniform(_FROM_EDGE, 1 - _FROM_EDGE, (len(uv), 2))
    while (close := (np.abs(ends - random[:, 0]) < _FROM_EDGE).any(0)).any():
        random[close, 0] = generator.uniform(_FROM_EDGE, 1 - _FROM_EDGE, int(close.sum()))
    return sample_rows(parameters, uv, lod, wi, wo, random.astype(np.float32), live)
