"""Directions of light from below a surface, mirrored to the side of the viewer.

A surface that transmits has two decoders with the same latents: one for light from above, and one
for light from below. The second one is given the direction that a mirror at the half vector would
reflect to the viewer: what passes straight through a thin wall, or is refracted by a facet, looks
to it as a highlight does to the first one. shaders/network/sides.slang has the same functions.

Directions are [3, N].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray

_SHORTEST = 1e-6

THIN = 1.0
"""The index that stands for a thin wall."""


def mirrored(wi: FloatArray, wo: FloatArray, index: float) -> FloatArray:
    """The direction for the decoder of the transmitted side, from that of light below.

    It is straight down where no facet refracts the light to the viewer: the response is zero there.
    """
    if index == THIN:
        return np.stack([wi[0], wi[1], -wi[2]])
    total = -(wo + wi.dtype.type(index) * wi)
    half = total / np.maximum(np.sqrt((total * total).sum(0)), _SHORTEST)
    half = half * np.where(half[2] < 0, -1, 1).astype(wi.dtype)
    seen, lit = (wo * half).sum(0), (wi * half).sum(0)
    result = 2 * seen * half - wo
    down = np.array([0, 0, -1], wi.dtype).reshape(3, *(1,) * (result.ndim - 1))
    return np.asarray(np.where((seen > 0) & (lit < 0), result, down), wi.dtype)


def passed(mirrored_wi: FloatArray, wo: FloatArray, index: float) -> FloatArray:
    """The direction of light below, from that for the decoder. Where a facet reflects all light,
    as one above an index below 1 can, it is straight through."""
    if index == THIN:
        return np.stack([mirrored_wi[0], mirrored_wi[1], -mirrored_wi[2]])
    total = mirrored_wi + wo
    half = total / np.maximum(np.sqrt((total * total).sum(0)), _SHORTEST)
    seen = (wo * half).sum(0)
    ratio = wo.dtype.type(1 / index)
    inner2 = 1 - ratio * ratio * (1 - seen * seen)
    inner = np.sqrt(np.maximum(inner2, 0))
    return np.asarray(np.where(inner2 > 0, (ratio * seen - inner) * half - ratio * wo, -wo))


def passes(mirrored_wi: FloatArray, wo: FloatArray, index: float) -> NDArray[np.bool_]:
    """Whether the facet between both directions lets light pass. Above an index below 1 it reflects
    all light at small cosines."""
    total = mirrored_wi + wo
    half = total / np.maximum(np.sqrt((total * total).sum(0)), _SHORTEST)
    seen = (wo * half).sum(0)
    return np.asarray(1 - seen * seen < index * index)


def density_of_passed(
    wi: FloatArray, mirrored_wi: FloatArray, wo: FloatArray, index: float
) -> FloatArray:
    """The density of directions of light below, by that of their mirrored directions (Walter and
    others 2007, equations 14 and 17)."""
    if index == THIN:
        return np.ones_like(wi[0])
    total = mirrored_wi + wo
    half = total / np.maximum(np.sqrt((total * total).sum(0)), _SHORTEST)
    seen, lit = (wo * half).sum(0), (wi * half).sum(0)
    path = seen + index * lit
    by_half = index**2 * np.abs(lit) / np.maximum(path * path, _SHORTEST)
    return np.asarray(4 * seen * by_half)
