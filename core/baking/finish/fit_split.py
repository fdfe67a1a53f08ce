"""Fits the head of split-sum lighting to the trained decoder, at the end of a bake.

The light of all parts, times the head's factors, should equal the light of the response under any
environment. The squared error of a surface is measured under many small lights and under a white
sky. It is quadratic in the factors, so its coefficients are computed once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.finish.fit_sampler import (
    FEW_TEXELS,
    LONG,
    MANY_OF_FEW_TEXELS,
    Descent,
    slopes_of_layers,
)
from verdigris.core.baking.finish.sampler_examples import Seen, draw_surfaces
from verdigris.core.base.process.profile import profiled
from verdigris.core.network.light.environment_light import (
    GOLDEN_RATIO,
    part_of_term,
    split_colours,
    split_factors,
    split_inputs,
    split_lights,
    split_ratios,
)
from verdigris.core.network.light.sampler import (
    all_head_views,
    draw,
    lobes_of,
    look_at,
    pdf,
    run_head,
)
from verdigris.core.network.spec import NetworkSpec

if TYPE_CHECKING:
    from verdigris.core.baking.finish.fit_sampler import Views
    from verdigris.core.baking.finish.sampler_examples import Responds
    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.base.device import Device
    from verdigris.core.network.parameters import Parameters

_SEED = 20_071
_LEAST_COSINE = 0.03
_DARK = 0.01
# Directions for each surface. Their noise is averaged over surfaces.
_DIRECTIONS = 32
_BATCH, _RATE = 128, 0.005
MOST_SLOPE = 1.0
# Is added to deviations, because an input may be constant.
_LEAST_DEVIATION = 1e-2
# Shares of a lobe's middle and border, and of the three diffuse parts, before the fit.
_FIRST_SHARES, _FIRST_DIFFUSE = (0.7, 0.3), (0.8, 0.1, 0.1)
# Lights and their sharpness: that of a spherical Gaussian exp(sharpness (cosine - 1)).
_LIGHTS, _SHARPNESS = 64, (1.5, 4.0, 12.0, 40.0, 120.0)
# Weight of the white sky, as a share of that of all lights.
_WHITE = 0.5
# Sharpness of a filter times its solid angle.
_FILTER = 9.4
_LEAST_SHARPNESS, _LEAST_SOLID_ANGLE = 1e-3, 1e-5


@dataclass(frozen=True)
class SplitEffort:
    """The size of a fit."""

    surfaces: int
    steps: int


LARGE, SMALL = SplitEffort(4096, 1200), SplitEffort(2048, 600)


# Surfaces with few texels are alike. Light from all around the horizon, as on velvet, takes steps.
_OF_FEW_TEXELS = SplitEffort(1024, 1800)


def split_effort_on(device: Device, samples: float = LONG, texels: float = math.inf) -> SplitEffort:
    """The effort for a bake with this number of training samples and texels. Bakes on a CPU are
    short."""
    if not device.is_software and texels <= FEW_TEXELS and samples >= MANY_OF_FEW_TEXELS:
        return _OF_FEW_TEXELS
    return SMALL if device.is_software or samples < LONG else LARGE


class SmallLights:
    """An environment whose channels are spherical Gaussians all around; the last one is white."""

    def __init__(self) -> None:
        index = np.arange(_LIGHTS)
        # additive recurrences: evenly spread, also a little below the horizon
        height = 1.1 * ((0.7548776662466927 * index + 0.1) % 1) - 0.1
        turn = 2 * np.pi * GOLDEN_RATIO * index
        sine = np.sqrt(1 - height * height)
        towards = np.stack([sine * np.cos(turn), sine * np.sin(turn), height], 1)
        self.towards = np.concatenate([towards, [[0, 0, 1]]]).astype(np.float32)
        sharpness = [*np.resize(_SHARPNESS, _LIGHTS), _LEAST_SHARPNESS]
        self.sharpness = np.array(sharpness, np.float32)[:, None]
        # a narrow light lights few surfaces
        weight = 0.5 * (self.sharpness[:, 0] + 1)
        weight[-1] = _WHITE * weight[:-1].sum()
        self.weight = weight / weight.sum()
        self._cosines = np.linspace(-1, 1, 101)
        self._tables = {
            each: _irradiance(float(each), self._cosines) for each in set(self.sharpness[:, 0])
        }

    def reflected(self, wi: FloatArray, shares: FloatArray) -> FloatArray:
        """Reflected light [channels, 3, N], from directions wi [3, S, N] of which surfaces reflect
        `shares` [3, S, N]."""
        found = [
            np.einsum("csN,sN->cN", shares, np.exp(sharpness * (np.tensordot(at, wi, 1) - 1)))
            for at, sharpness in zip(self.towards, self.sharpness, strict=True)
        ]
        return np.stack(found)

    def radiance(self, directions: FloatArray, solid_angle: FloatArray) -> FloatArray:
        """Radiance through a Gaussian filter, which keeps the integral of each light."""
        of_filter = _FILTER / np.maximum(solid_angle, _LEAST_SOLID_ANGLE)
        both = self.sharpness * of_filter / (self.sharpness + of_filter)
        scale = _integral(self.sharpness) / _integral(both)
        return np.asarray(scale * np.exp(both * (self.towards @ directions - 1)))

    def irradiance(self, normals: FloatArray) -> FloatArray:
        rows = zip(self.towards @ normals, self.sharpness[:, 0], strict=True)
        return np.stack([np.interp(row, self._cosines, self._tables[each]) for row, each in rows])


def _integral(sharpness: FloatArray) -> FloatArray:
    return np.asarray((1 - np.exp(-2 * sharpness)) / sharpness)


def _irradiance(sharpness: float, cosines: FloatArray) -> FloatArray:
    """Irradiance of a light at these cosines to the normal, by quadrature."""
    count = 2048
    index = np.arange(count)
    height, turn = (index + 0.5) / count, 2 * np.pi * GOLDEN_RATIO * index
    sine = np.sqrt(1 - height * height)
    towards = np.stack([np.sqrt(1 - cosines * cosines), cosines], 1)
    dots = towards @ np.stack([sine * np.cos(turn), height])
    return np.asarray(2 * np.pi / count * np.exp(sharpness * (dots - 1)) @ height)


@dataclass
class SplitExamples:
    """Surfaces [N], and the error of factors x there: x' square x - 2 side' x + a constant."""

    inputs: FloatArray
    """Inputs of the head, [channels, N]."""
    square: FloatArray
    """[parts, parts, N]"""
    side: FloatArray
    """[parts, N]"""


@profiled("sampler: split examples")
# numbers at the edges of lights underflow
@np.errstate(under="ignore")
def draw_split_examples(
    parameters: Parameters, student: Responds, effort: SplitEffort
) -> SplitExamples:
    """Examples of one material, from a student with these parameters. Its sampler is fitted."""
    random = np.random.default_rng(_SEED)
    lights, found = SmallLights(), []
    for seen in draw_surfaces(parameters, student, effort.surfaces, _LEAST_COSINE, random):
        found.append(_examples(parameters, student, lights, seen, random))
    return join_split(found)


def _examples(
    parameters: Parameters,
    student: Responds,
    lights: SmallLights,
    surfaces: Seen,
    random: np.random.Generator,
) -> SplitExamples:
    uv, latents, live, wo = surfaces

    def shade(wi: FloatArray) -> FloatArray:
        """Responses [3, ..., N] of directions [3, ..., N]."""
        several = wi.size // wo.size
        found = student.response(
            np.tile(uv.T, (several, 1)),
            np.ascontiguousarray(wi.reshape(3, -1).T, np.float32),
            np.tile(wo.T, (several, 1)),
            live=np.tile(live, (several, 1)) if live.size else None,
        )
        return np.asarray(found.T.reshape(wi.shape))

    lobes = lobes_of(parameters, look_at(parameters, latents, wo))
    shift = random.random((2, wo.shape[1]))
    index = np.arange(_DIRECTIONS)
    points = np.stack([(index + 0.5) / _DIRECTIONS, GOLDEN_RATIO * index])[..., None]
    wi = draw(lobes, ((points + shift[:, None]) % 1).astype(np.float32))
    density = np.where(wi[2] > 0, pdf(lobes, wi), np.inf)
    shares = shade(wi) / density / _DIRECTIONS
    ratios = split_ratios(lobes, shade, wo)
    colours, seen = split_colours(lobes, ratios), split_lights(lobes, lights, wo)
    parts = part_of_term(lobes)
    light = np.zeros((parts[-1] + 1, len(lights.weight), *colours.shape[1:]), np.float32)
    for part, colour, each in zip(parts, colours, seen, strict=True):
        light[part] += colour * each[:, None]
    # relative errors, in which the noise of dark surfaces must not count more
    albedo = np.maximum(shares.sum(1).mean(0), 0.5 * colours.sum(0).mean(0))
    scale = 1 / np.maximum(albedo, _DARK) ** 2
    weighted = light * lights.weight[:, None, None]
    return SplitExamples(
        split_inputs(lobes, ratios),
        (np.einsum("jecN,kecN->jkN", weighted, light) * scale).astype(np.float32),
        (np.einsum("jecN,ecN->jN", weighted, lights.reflected(wi, shares)) * scale).astype(
            np.float32
        ),
    )


def join_split(parts: Sequence[SplitExamples]) -> SplitExamples:
    """Examples of several materials or levels as one set, mixed evenly."""
    order = np.random.default_rng(_SEED).permutation(sum(each.inputs.shape[1] for each in parts))
    names = [field.name for field in fields(SplitExamples)]
    joined = (np.concatenate([getattr(each, name) for each in parts], -1) for name in names)
    return SplitExamples(*(each[..., order] for each in joined))


@profiled("fit sampler: split")
@np.errstate(under="ignore")
def fit_split(
    spec: NetworkSpec, head: FloatArray, examples: SplitExamples, effort: SplitEffort
) -> FloatArray:
    """The same vector with a fitted head of the split, as a bundle stores it: half floats."""
    fitted = _first_guess(spec, len(head))

    def slopes(views: Views, inputs: FloatArray, chosen: slice) -> tuple[FloatArray, ...]:
        return _slopes(views, inputs, examples, chosen)

    descent = Descent(effort.steps, _BATCH, _RATE, _LEAST_DEVIATION)
    descent.run(fitted, lambda each: all_head_views(spec, each)[4:], examples.inputs, slopes)
    own = spec.head_layers[2].weight_offset
    joined = np.concatenate([head[:own], fitted[own:]])
    return joined.astype(np.float16).astype(np.float32)


def _first_guess(spec: NetworkSpec, length: int) -> FloatArray:
    head = np.zeros(length, np.float32)
    weights, _, _, bias = all_head_views(spec, head)[4:]
    random = np.random.default_rng(_SEED)
    weights[:] = random.standard_normal(weights.shape) / np.sqrt(spec.split_inputs)
    bias[:] = np.log([*_FIRST_SHARES * spec.frame_count, *_FIRST_DIFFUSE])
    return head


def _slopes(
    views: Views, inputs: FloatArray, examples: SplitExamples, chosen: slice
) -> tuple[FloatArray, ...]:
    """Gradients of half the mean error by the weights and biases of both layers."""
    hidden, bent, raw = run_head(views, inputs)
    factors = split_factors(raw)
    by_factor = np.einsum("jkN,kN->jN", examples.square[..., chosen], factors)
    by_factor -= examples.side[..., chosen]
    by_raw = np.clip(by_factor * factors, -MOST_SLOPE, MOST_SLOPE) / raw.shape[1]
    return slopes_of_layers(views, inputs, hidden, bent, by_raw)
