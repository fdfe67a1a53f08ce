"""Light from an environment map on a neural material: the oracle for neural_environment.slang.

Arrays are channel-first, as in the sampler: values of surfaces and directions are [3, N].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network.directions import normalise
from verdigris.core.network.light.sampler import (
    Lobes,
    all_head_views,
    draw,
    draw_ggx,
    ggx_density,
    halves,
    pdf,
    run_head,
)
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import LENGTH_EPSILON

GOLDEN_RATIO = 0.6180339887498949
# Split-sum lighting. The directions of a lobe are fixed points of the square from which it is
# drawn. The decoder is evaluated at the middle and at both sides along the larger width, with these
# shares.
SPLIT_POINTS = ((0.0, 0.0), (0.0, 0.5), (0.5, 0.5))
SPLIT_SHARES = (0.2, 0.4, 0.4)
# Look-ups of the map for each of these points and for the border around them, and the share of the
# lobe that each look-up covers. Look-ups along the larger width cover equal parts of the lobe.
SPLIT_LOOKS = (
    (((0.0, 0.0),), 0.2),
    (((0.0, 0.102), (0.0, 0.472)), 0.2),
    (((0.5, 0.102), (0.5, 0.472)), 0.2),
    (tuple((turn / 6, 0.85) for turn in range(6)), 0.1),
)
# Tilt of the normals for diffuse light beside the surface's own.
SPLIT_TILT = math.radians(40)
# Limits of the head's outputs, and of a ratio in its inputs.
SPLIT_LIMITS = (-4.0, 2.0)
LEAST_RATIO = 0.01
_LEAST_DENSITY = 1e-3
_FLAT_COSINE, _BLUR_COSINE, _LARGEST_SOLID_ANGLE = 0.03, 0.1, 6.0

Shade = Callable[[FloatArray], FloatArray]
"""The response of each surface to its direction, both [3, N]."""


class Environment(Protocol):
    """An engine's map; directions are in each surface's tangent frame."""

    def radiance(self, directions: FloatArray, solid_angle: FloatArray) -> FloatArray:
        """The mean radiance in a solid angle [N] around directions [3, N]."""

    def irradiance(self, normals: FloatArray) -> FloatArray:
        """The integral of radiance times cosine around normals [3, N]."""


def environment_light(
    lobes: Lobes, shade: Shade, environment: Environment, samples: int, random: FloatArray
) -> FloatArray:
    """Filtered importance sampling (Krivanek and Colbert 2008); `random` is [2, N]. The irradiance
    gives the light of the cosine lobe, and the samples correct it: it is a control variate."""
    sampled, albedo, cosine_lobe = (np.zeros((3, random.shape[1])) for _ in range(3))
    for index in range(samples):
        point = np.array([[(index + 0.5) / samples], [index * GOLDEN_RATIO]])
        wi = draw(lobes, ((point + random) % 1).astype(random.dtype))
        density = np.where(wi[2] > 0, np.maximum(pdf(lobes, wi), LENGTH_EPSILON), np.inf)
        ratio = shade(wi) / density
        light = environment.radiance(wi, 1 / (samples * density))
        sampled += ratio * light
        albedo += ratio
        cosine_lobe += np.maximum(wi[2], 0) / (np.pi * density) * light
    smooth = environment.irradiance(_up(random.shape[1])) / np.pi - cosine_lobe / samples
    result = (sampled + lobes.weights[-2:].sum(0) * albedo * smooth) / samples
    return np.asarray(np.maximum(result, 0))


def environment_light_split(
    parameters: Parameters, lobes: Lobes, shade: Shade, environment: Environment, wo: FloatArray
) -> FloatArray:
    """Split-sum lighting. Each term is the decoder's colour in a fixed direction, times the map's
    light around it, times a factor from the split's head."""
    assert parameters.head is not None
    ratios = split_ratios(lobes, shade, wo)
    views = all_head_views(parameters.spec, parameters.head)[4:]
    raw = run_head(views, split_inputs(lobes, ratios))[2]
    colours = split_factors(raw)[part_of_term(lobes)][:, None] * split_colours(lobes, ratios)
    lights = split_lights(lobes, environment, wo)
    # a surface does not reflect more light than it receives
    return np.asarray((colours * lights).sum(0) / np.maximum(colours.sum(0), 1))


def split_ratios(lobes: Lobes, shade: Shade, wo: FloatArray) -> FloatArray:
    """Response over density of three directions of each GGX lobe and of two for diffuse light,
    [evaluations, 3, N]; 0 below the horizon."""
    directions = [
        _lobe_direction(lobes, index, point)
        for index in range(len(lobes.widths))
        for point in SPLIT_POINTS
    ]
    return np.stack([_ratio(lobes, shade, wi) for wi in (*directions, *_beside_the_viewer(wo))])


def split_inputs(lobes: Lobes, ratios: FloatArray) -> FloatArray:
    """The inputs of the split's head."""
    logarithms = np.log(np.maximum(ratios.mean(1), LEAST_RATIO))
    return np.concatenate([lobes.view.inputs, logarithms])


def split_factors(raw: FloatArray) -> FloatArray:
    """The factor of each part, [parts, N], from the head's outputs."""
    return np.asarray(np.exp(np.clip(raw, *SPLIT_LIMITS)))


def part_of_term(lobes: Lobes) -> list[int]:
    """The part of each term: the terms for a lobe's middle have one part, its border another."""
    frames = len(lobes.widths)
    terms = [2 * frame + part for frame in range(frames) for part in (0, 0, 0, 1)]
    return [*terms, *range(2 * frames, 2 * frames + 3)]


def split_colours(lobes: Lobes, ratios: FloatArray) -> FloatArray:
    """The colour of each term, [terms, 3, N]."""
    colours = []
    for index, weight in enumerate(lobes.weights[:-2]):
        middle = [share * weight * ratios[3 * index + i] for i, share in enumerate(SPLIT_SHARES)]
        colours += [*middle, sum(middle)]
    diffuse = 0.5 * lobes.weights[-2:].sum(0) * (ratios[-1] + ratios[-2])
    return np.stack([*colours, diffuse, diffuse, diffuse])


def split_lights(lobes: Lobes, environment: Environment, wo: FloatArray) -> FloatArray:
    """The light of each term, [terms, channels, N]: the mean of its look-ups above the horizon."""
    flat = environment.irradiance(_up(wo.shape[1])) / np.pi
    result = []
    for index, widths in enumerate(lobes.widths):
        frame, seen = lobes.frames[index], lobes.seen[index]
        for points, share in SPLIT_LOOKS:
            total, count = np.zeros_like(flat), np.zeros(wo.shape[1])
            for point in points:
                wi = _lobe_direction(lobes, index, point)
                own = ggx_density(halves(frame, seen, wi), widths**2)
                light = environment.radiance(wi, share / np.maximum(own, _LEAST_DENSITY))
                total += np.where(wi[2] > 0, light, 0)
                count += wi[2] > 0
            result.append(np.where(count > 0, total / np.maximum(count, 1), flat))
    tilted = [environment.irradiance(each) / np.pi for each in _tilted(wo)]
    return np.stack([*result, flat, *tilted])


def environment_light_proxies(
    diffuse: FloatArray,
    albedo: FloatArray,
    normal: FloatArray,
    roughness: FloatArray,
    wo: FloatArray,
    environment: Environment,
    transmitted: FloatArray | None = None,
) -> FloatArray:
    """Light on a bundle's proxies, without a decoder. Light from below, if there is a transmitted
    albedo, is seen as if it were diffuse."""
    mirrored = 2 * (normal * wo).sum(0) * normal - wo
    mirrored = normalise(np.stack([*mirrored[:2], np.maximum(mirrored[2], _FLAT_COSINE)]))
    spread = 8 * np.pi * roughness**4 * np.maximum(mirrored[2], _BLUR_COSINE)
    light = environment.radiance(mirrored, np.minimum(spread, _LARGEST_SOLID_ANGLE))
    smooth = np.minimum(diffuse, albedo) * environment.irradiance(normal) / np.pi
    if transmitted is not None:
        smooth = smooth + transmitted * environment.irradiance(-normal) / np.pi
    return np.asarray(smooth + np.maximum(albedo - diffuse, 0) * light)


def _lobe_direction(lobes: Lobes, index: int, point: tuple[float, float]) -> FloatArray:
    """The direction that a lobe draws for a fixed point of the square, which begins along its
    larger width."""
    widths = lobes.widths[index]
    along = np.where(widths[1] > widths[0], 0.25, 0.0).astype(widths.dtype)
    height = np.full_like(along, point[1])
    local = draw_ggx(lobes.seen[index], widths, along + along.dtype.type(point[0]), height)
    return np.asarray(np.einsum("aiN,aN->iN", lobes.frames[index], local))


def _ratio(lobes: Lobes, shade: Shade, wi: FloatArray) -> FloatArray:
    density = np.maximum(pdf(lobes, wi), LENGTH_EPSILON)
    return np.asarray(np.where(wi[2] > 0, shade(wi) / density, 0))


def _up(count: int) -> FloatArray:
    return np.repeat(np.array([[0.0], [0.0], [1.0]]), count, axis=1)


def _beside_the_viewer(wo: FloatArray) -> list[FloatArray]:
    """Directions 45 degrees to both sides: away from highlights, with half of a cosine lobe nearer
    to the normal."""
    x, y = _flat(wo)
    half = np.sqrt(0.5)
    return [half * np.stack([sign * -y, sign * x, np.ones_like(x)]) for sign in (1, -1)]


def _tilted(wo: FloatArray) -> list[FloatArray]:
    """Normals for diffuse light, towards the viewer's side and away from it."""
    x, y = _flat(wo)
    sine, up = np.sin(SPLIT_TILT), np.full_like(x, np.cos(SPLIT_TILT))
    return [np.stack([sign * sine * x, sign * sine * y, up]) for sign in (1, -1)]


def _flat(wo: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The viewer's side as a unit vector in the surface."""
    square = wo[0] ** 2 + wo[1] ** 2
    is_tilted = square > LENGTH_EPSILON
    length = np.sqrt(np.where(is_tilted, square, 1))
    return np.where(is_tilted, wo[0] / length, 0), np.where(is_tilted, wo[1] / length, -1)
