"""Sums over lights that the material's own sampler draws: a third to a half of the noise."""

from __future__ import annotations

import numpy as np

from verdigris.core.base.colour import LUMINANCE
from verdigris.core.bundle.proxies.lobes import LEAST_DENSITY, PLASTIC
from verdigris.core.bundle.proxies.quadrature import (
    Floats,
    LightSums,
    LightTask,
    Respond,
    SumLights,
    evaluate,
    polar,
    sum_drawn,
)
from verdigris.core.network.light.sampler import draw, lobes_of, look_at, pdf
from verdigris.core.network.numpy_mlp import latents_at_lod
from verdigris.core.network.parameters import Parameters

# Places and lights that the deviation is measured with.
_PILOT_PLACES, _PILOT_LIGHTS = 96, 64
_LEAST_COSINE, _DARK = 0.05, 1e-3


def sums_by_sampler(parameters: Parameters, lod: float) -> SumLights:
    """quadrature.sum_lights for responses of these numbers at this lod; they need a head."""

    def draw_part(part: LightTask) -> tuple[Floats, Floats]:
        return _draw(parameters, lod, part.uv, part.wo, sum(part.counts), part.shift)

    def sum_over(respond: Respond, task: LightTask) -> LightSums:
        return sum_drawn(respond, task, draw_part)

    return sum_over


def deviation_of_sampler(
    parameters: Parameters, respond: Respond, lod: float, random: np.random.Generator
) -> float:
    """Root mean square over places and views of the relative deviation of one light."""
    uv = random.random((_PILOT_PLACES, 2)).astype(np.float32)
    cosine = random.uniform(_LEAST_COSINE, 1, _PILOT_PLACES)
    wo = polar(cosine, 2 * np.pi * random.random(_PILOT_PLACES))
    shift = random.random((2, _PILOT_PLACES), np.float32)
    wi, density = _draw(parameters, lod, uv, wo, _PILOT_LIGHTS, shift)
    light = np.einsum("c,cns->ns", LUMINANCE, evaluate(respond, uv, wi, wo)) / density
    mean = np.maximum(light.mean(1), _DARK)
    return float(np.sqrt(np.mean((light.std(1) / mean) ** 2)))


def _draw(
    parameters: Parameters, lod: float, uv: Floats, wo: Floats, count: int, shift: Floats
) -> tuple[Floats, Floats]:
    """Lights [3, N, count] of N views, and their densities [N, count]."""
    level = np.full(len(uv), lod, np.float32)
    latents = latents_at_lod(parameters, np.asarray(uv, np.float32).T, level)
    lobes = lobes_of(parameters, look_at(parameters, latents, wo))
    points = (np.outer(PLASTIC, np.arange(count))[..., None] + shift[:, None]) % 1
    wi = draw(lobes, points.astype(np.float32))
    # what is drawn below the horizon has no light
    density = np.where(wi[2] > 0, pdf(lobes, wi), np.inf)
    return np.moveaxis(wi, 1, 2), np.maximum(density, LEAST_DENSITY).T.astype(np.float32)
