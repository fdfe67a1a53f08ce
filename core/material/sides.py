"""Directions of light from below a surface, mirrored to the side of the viewer.

A surface that transmits has two decoders with the same latents: one for light from above, and one
for light from below. The second one is given the direction that a mirror at the half vector would
reflect to the viewer: what passes straight through a thin wall, or is refracted by a facet, looks
to it as a highlight does to the first one. shaders/network/sides.slang has the same functions.

Directions are [3, N], unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray, Floats

_SHORTEST = 1e-6

THIN = 1.0
"""The index that stands for a thin wall."""


INDICES = 0.05, 20.0
"""The least and the largest index of a solid."""


# What passes is diffuse if light straight from behind is at most this often as bright as Lambert's.
_MOST_OF_DIFFUSE = 2.0
_PLACES = 64


def passes_diffusely(respond: Callable[[Floats, Floats, Floats], FloatArray], share: float) -> bool:
    """Whether light is spread where it passes, as by a leaf; otherwise things are seen through the
    surface. `respond` takes uv and directions as rows; `share` is the mean share that passes."""
    uv = np.random.default_rng(1).random((_PLACES, 2)).astype(np.float32)
    up = np.tile(np.array([0, 0, 1], np.float32), (_PLACES, 1))
    return bool(np.pi * respond(uv, -up, up).mean() <= _MOST_OF_DIFFUSE * share)


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


def refracted(wi: FloatArray, index: float) -> tuple[FloatArray, FloatArray]:
    """Where light comes from that a solid refracts: out of it again, through a smooth interface;
    and the share that this interface lets through. Each place is taken for one of a sphere, on
    which the angles at both interfaces are equal. What is reflected inside goes on straight."""
    cosine = -wi[2]
    up = np.zeros((3, *(1,) * (wi.ndim - 1)), wi.dtype)
    up[2] = 1
    outer2 = 1 - index * index * (1 - cosine * cosine)
    leaves, outer = outer2 > 0, np.sqrt(np.maximum(outer2, 0))
    direction = index * wi + (outer - index * cosine) * (up + 2 * cosine * wi)
    direction /= np.maximum(np.sqrt((direction * direction).sum(0)), _SHORTEST)
    across = (index * cosine - outer) / np.maximum(index * cosine + outer, _SHORTEST)
    along = (cosine - index * outer) / np.maximum(cosine + index * outer, _SHORTEST)
    passed = np.where(leaves, 1 - (across * across + along * along) / 2, 1)
    return np.asarray(np.where(leaves, direction, wi)), np.asarray(passed)


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
