"""Other ways to quadrature.sum_lights: fewer lights with less noise, or millions on a device.

Lights that the material's own sampler draws have a third to a half of the noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.array_types import Floats
from verdigris.core.base.colour import LUMINANCE
from verdigris.core.base.device import MOST_THREADS
from verdigris.core.base.kernels import Source
from verdigris.core.bundle.proxies.lobes import (
    ALPHAS,
    APART,
    LARGEST_ALPHA,
    LEAST_ALPHA,
    LEAST_DENSITY,
    PLASTIC,
)
from verdigris.core.bundle.proxies.quadrature import (
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
from verdigris.core.network.spec import LEAST_VIEW_COSINES

if TYPE_CHECKING:
    from verdigris.core.material.evaluator import DeviceMaterial

# Places and lights that the deviation is measured with.
_PILOT_PLACES, _PILOT_LIGHTS = 96, 64
_LEAST_COSINE, _DARK = 0.05, 1e-3
_SUM = Source("bundle/proxies/sum_lights")
_SUM_FLOATS = 12
# Counts in the kernel's parameters: four frames of four lobes, and the cosine.
_MOST_COUNTS = 17
# Which of the six sums of products each element of the symmetric matrix is.
_SYMMETRIC = ((0, 3, 4), (3, 1, 5), (4, 5, 2))
_WHOLE = 1 << 32


def sums_by_sampler(parameters: Parameters, lod: float) -> SumLights:
    """quadrature.sum_lights for the responses of these parameters at this lod. They need a head."""

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
    # directions below the horizon have no light
    density = np.where(wi[2] > 0, pdf(lobes, wi), np.inf)
    return np.moveaxis(wi, 1, 2), np.maximum(density, LEAST_DENSITY).T.astype(np.float32)


def sums_on(material: DeviceMaterial) -> SumLights:
    """quadrature.sum_lights with a kernel. `respond` must be this material's response."""

    def sum_over(respond: Respond, task: LightTask) -> LightSums:
        del respond
        parts = [
            _dispatch(material, task.part(slice(start, start + MOST_THREADS)))
            for start in range(0, len(task.uv), MOST_THREADS)
        ]
        sums = np.concatenate(parts).astype(np.float64)
        square = sums[:, 6:][:, np.array(_SYMMETRIC)]
        return LightSums(sums[:, :3], sums[:, 3:6], square)

    return sum_over


def _dispatch(material: DeviceMaterial, task: LightTask) -> Floats:
    count, frames = len(task.uv), task.frames
    views = np.concatenate([task.uv, task.wo.T, task.shift.T, task.lambert.T], axis=1)
    lobes = np.stack(
        [
            np.concatenate([axes.reshape(9, count), narrow]).T
            for axes, narrow in zip(frames.axes, frames.narrowness, strict=True)
        ],
        axis=1,
    )
    output = material.device.new_space(_SUM_FLOATS * count)
    kernel = material.kernel(_SUM, "sumLights")
    material.device.dispatch(
        kernel,
        count,
        {
            "gSum": {
                "count": count,
                "lights": sum(task.counts),
                "frames": len(frames.axes),
                "lobes": len(task.counts) - 1,
                "counts": [*task.counts, *[0] * (_MOST_COUNTS - len(task.counts))],
                "alphas": list(ALPHAS),
                "alphaRange": [LEAST_ALPHA, LARGEST_ALPHA],
                "leastCosines": list(LEAST_VIEW_COSINES),
                "leastDensity": LEAST_DENSITY,
                "plastic": [round(_WHOLE * each) for each in PLASTIC],
                "apart": APART,
            },
            "gViews": material.device.new_buffer(views.astype(np.float32)),
            "gLobes": material.device.new_buffer(lobes.astype(np.float32)),
            "gSums": output,
            **material.bindings(),
        },
    )
    sums: Floats = output.to_numpy().view(np.float32).reshape(count, _SUM_FLOATS)
    return sums
