"""Light from an environment map on both sides of a surface that transmits: the oracle for
neural_environment_sides.slang.

Light below a solid is looked up where it leaves the solid again; below a thin wall it goes on
straight. Arrays are channel-first, as in environment_light.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.material.sides import THIN, density_of_passed, passed, passes, refracted
from verdigris.core.network.light.both_sides import SphereSampler
from verdigris.core.network.light.environment_light import (
    GOLDEN_RATIO,
    Environment,
    Shade,
    environment_light_split,
)
from verdigris.core.network.light.sampler import draw, pdf
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import LENGTH_EPSILON

_LEAST_OUTER, _LEAST_CHANGE, _FIXED_LOOKS = 0.1, 1e-3, 12


@dataclass(frozen=True)
class Below:
    """The map below a surface, in the mirrored directions of the second decoder."""

    environment: Environment
    wo: FloatArray
    index: float

    def radiance(self, directions: FloatArray, solid_angle: FloatArray) -> FloatArray:
        wi = passed(directions, self.wo, self.index)
        is_lit = (wi[2] < 0) & (passes(directions, self.wo, self.index) | (self.index == THIN))
        change = density_of_passed(wi, directions, self.wo, self.index)
        outside, share, spread = leave_solid(wi, self.index)
        angle = solid_angle * spread / np.maximum(change, _LEAST_CHANGE)
        return np.asarray(np.where(is_lit, share * self.environment.radiance(outside, angle), 0))

    def irradiance(self, normals: FloatArray) -> FloatArray:
        return self.environment.irradiance(np.stack([*normals[:2], -normals[2]]))


def leave_solid(wi: FloatArray, index: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Where light [3, N] below a solid comes from: its direction outside, the share that the second
    interface lets through, and the solid angle there by that below. Each place is taken for one of
    a sphere. What is reflected inside is taken to go on straight."""
    cosine = -wi[2]
    outer2 = 1 - index**2 * (1 - cosine**2)
    outer = np.sqrt(np.maximum(outer2, _LEAST_OUTER**2))
    is_straight = (outer2 <= 0) | (cosine <= 0) | (index == THIN)
    outside, share = refracted(wi, index)
    spread = np.where(is_straight, 1, index**2 * cosine / outer)
    return np.where(is_straight, wi, outside), np.where(is_straight, 1, share), spread


def environment_light_of_sides(
    sampler: SphereSampler, shade: Shade, environment: Environment, samples: int, random: FloatArray
) -> FloatArray:
    """Filtered importance sampling over the sphere. The irradiance gives the light of the cosine
    lobes, except below a solid."""
    count = random.shape[1]
    sampled, albedo, cosine_lobe = np.zeros((3, count)), *np.zeros((2, 2, 3, count))
    for index in range(samples):
        point = np.array([[(index + 0.5) / samples], [index * GOLDEN_RATIO]])
        wi = sampler.draw(((point + random) % 1).astype(random.dtype))
        is_lit = wi.any(0)
        wi = np.where(is_lit, wi, np.array([[0.0], [0.0], [1.0]]))
        density = np.where(is_lit, np.maximum(sampler.pdf(wi), LENGTH_EPSILON), np.inf)
        ratio = shade(wi) / density
        outside, share, spread = leave_solid(wi, sampler.index)
        light = share * environment.radiance(outside, spread / (samples * density))
        sampled += ratio * light
        for side, is_here in enumerate((wi[2] >= 0, wi[2] < 0)):
            albedo[side] += np.where(is_here, ratio, 0)
            lobe = np.abs(wi[2]) / (np.pi * density) * light
            cosine_lobe[side] += np.where(is_here, lobe, 0)
    lobes = (sampler.above, sampler.below)[: 2 if sampler.index == THIN else 1]
    for side, each in enumerate(lobes):
        normal = np.zeros((3, count))
        normal[2] = 1 - 2 * side
        smooth = environment.irradiance(normal) / np.pi - cosine_lobe[side] / samples
        sampled += each.weights[-2:].sum(0) * albedo[side] * smooth
    return np.asarray(np.maximum(sampled / samples, 0))


def environment_light_split_of_sides(
    parameters: Parameters,
    sampler: SphereSampler,
    shades: tuple[Shade, Shade],
    environment: Environment,
) -> FloatArray:
    """Split-sum lighting of both sides. `shades`: the responses of each decoder, to mirrored
    directions for the second. The split's factors are fitted in mirrored directions, whose solid
    angles a solid changes: below it, a few fixed directions are looked up instead."""
    above, below = parameters.sides
    wo, mapped = sampler.wo, Below(environment, sampler.wo, sampler.index)
    upper = environment_light_split(above, sampler.above, shades[0], environment, wo)
    if sampler.index == THIN:
        return upper + environment_light_split(below, sampler.below, shades[1], mapped, wo)
    total = np.zeros_like(upper)
    for number in range(_FIXED_LOOKS):
        point = np.array([[(number + 0.5) / _FIXED_LOOKS], [(number * GOLDEN_RATIO) % 1]])
        mirrored = draw(sampler.below, np.broadcast_to(point, (2, wo.shape[1])).astype(wo.dtype))
        wi = passed(mirrored, wo, sampler.index)
        is_lit = (mirrored[2] > 0) & (wi[2] < 0) & passes(mirrored, wo, sampler.index)
        own = np.maximum(pdf(sampler.below, mirrored), LENGTH_EPSILON)
        change = density_of_passed(wi, mirrored, wo, sampler.index)
        light = mapped.radiance(mirrored, 1 / (_FIXED_LOOKS * own))
        found = shades[1](mirrored) / (own * np.maximum(change, _LEAST_CHANGE)) * light
        total += np.where(is_lit, found, 0)
    return upper + total / _FIXED_LOOKS
