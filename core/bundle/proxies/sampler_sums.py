"""Sums over lights that the material's own sampler draws: a third to a half of the noise."""

from __future__ import annotations

import numpy as np

from verdigris.core.bundle.proxies.lobes import LEAST_DENSITY, PLASTIC
from verdigris.core.bundle.proxies.quadrature import (
    Floats,
    LightSums,
    LightTask,
    Respond,
    SumLights,
    sum_drawn,
)
from verdigris.core.network.numpy_decoder import latents_at_lod
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.sampler import draw, lobes_of, look_at, pdf


def sums_by_sampler(parameters: Parameters, lod: float) -> SumLights:
    """quadrature.sum_lights for responses of these numbers at this lod; they need a head."""

    def draw_part(part: LightTask) -> tuple[Floats, Floats]:
        level = np.full(len(part.uv), lod, np.float32)
        latents = latents_at_lod(parameters, np.asarray(part.uv, np.float32).T, level)
        lobes = lobes_of(parameters, look_at(parameters, latents, part.wo))
        steps = np.outer(np.arange(sum(part.counts)), PLASTIC)
        points = (steps[:, :, None] + part.shift) % 1
        wi = np.stack([draw(lobes, each.astype(np.float32)) for each in points], axis=1)
        # what is drawn below the horizon has no light
        density = np.where(wi[2] > 0, pdf(lobes, wi), np.inf)
        return np.moveaxis(wi, 1, 2), np.maximum(density, LEAST_DENSITY).T.astype(np.float32)

    def sum_over(respond: Respond, task: LightTask) -> LightSums:
        return sum_drawn(respond, task, draw_part)

    return sum_over
