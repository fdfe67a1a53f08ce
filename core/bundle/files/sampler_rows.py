"""Rows of reference.json to check a sampler with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.network.light.sampler import Lobes, draw, lobes_of, look_at, pdf
from verdigris.core.network.numpy_mlp import latents_at_lod

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
# Largest difference of a component of a drawn direction, in a right sampler.
SAME_DIRECTION = 1e-3
# Of this and of the bound of densities, what single floats may take. Where a rare lobe is drawn, a
# rounded share moves directions by a hundred times as much, and the density of a narrow lobe with
# them; other numbers are chosen there, so often at most.
ROUNDED, _MOST_CHOICES = 0.25, 16


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


def density_errors(found: Floats, wanted: Floats, bounds: Bounds) -> NDArray[np.float64]:
    """Relative to the density from bounds.floor up, and else to the floor."""
    exact = wanted.astype(np.float64)
    difference = np.abs(found - exact) / np.maximum(exact, bounds.floor)
    return np.where(np.isfinite(found), difference, np.inf)


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
    """Rows in double precision, of random numbers away from the edges of lobes, for directions and
    densities that single floats can find."""
    exact = parameters.with_double_decoder()
    rounded = parameters.in_single_floats()
    ends = np.cumsum(lobes_at(exact, uv, lod, wo, live).weights, 0)
    bounds = Bounds()
    generator = np.random.default_rng(_SEED)
    random = np.empty((len(uv), 2))
    chosen: NDArray[np.bool_] = np.ones(len(uv), np.bool_)
    for _ in range(_MOST_CHOICES):
        while chosen.any():
            random[chosen] = generator.uniform(_FROM_EDGE, 1 - _FROM_EDGE, (int(chosen.sum()), 2))
            chosen = np.any(np.abs(ends - random[:, 0]) < _FROM_EDGE, axis=0)
        found, single = (
            sample_rows(each, uv, lod, wi, wo, random.astype(np.float32), live)
            for each in (exact, rounded)
        )
        moved = np.abs(found.drawn - single.drawn).max(1)
        changed = density_errors(single.drawn_pdf, found.drawn_pdf, bounds)
        chosen = (moved > ROUNDED * SAME_DIRECTION) | (changed > ROUNDED * bounds.relative)
        if not chosen.any():
            break
    return found
