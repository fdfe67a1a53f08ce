"""Light of an environment map on a neural material: the oracle of neural_environment.slang.

Arrays are channel-first, as in the sampler: surfaces and directions are [3, N].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from verdigris.core.network.frames import normalise
from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.sampler import Lobes, draw, draw_ggx, ggx_density, halves, pdf
from verdigris.core.network.spec import LENGTH_EPSILON

GOLDEN_RATIO = 0.6180339887498949
# Fixed directions of a GGX lobe, as random numbers: the middle, and to both sides along x.
SPLIT_POINTS = ((0.0, 0.0), (0.0, 0.5), (0.5, 0.5))
_LEAST_DENSITY = 1e-3
_FLAT_COSINE, _BLUR_COSINE, _LARGEST_SOLID_ANGLE = 0.03, 0.1, 6.0

Shade = Callable[[FloatArray], FloatArray]
"""The response of each surface to its direction, both [3, N]."""


class Environment(Protocol):
    """An engine's map; directions are those of each surface's tangent frame."""

    def radiance(self, directions: FloatArray, solid_angle: FloatArray) -> FloatArray:
        """Mean radiance of a solid angle [N] around directions [3, N]."""

    def irradiance(self, normals: FloatArray) -> FloatArray:
        """The integral of radiance times cosine around normals [3, N]."""


def environment_light(
    lobes: Lobes, shade: Shade, environment: Environment, samples: int, random: FloatArray
) -> FloatArray:
    """Filtered importance sampling (Krivanek and Colbert 2008); `random` is [2, N]. The cosine
    lobe's light comes of the irradiance, and the samples correct it: a control variate."""
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
    lobes: Lobes, shade: Shade, environment: Environment, wo: FloatArray
) -> FloatArray:
    """Three fixed directions for each GGX lobe and two for diffuse light: the decoder gives the
    colour of each, and the lobe its share and width."""
    view = lobes.view
    result = np.zeros((3, lobes.weights.shape[1]))
    for frame, seen, widths, weight in zip(
        view.frames, view.seen, lobes.widths, lobes.weights, strict=False
    ):
        along = np.where(widths[1] > widths[0], 0.25, 0.0)
        for turn, height in SPLIT_POINTS:
            point = along + turn, np.full_like(along, height)
            wi = np.einsum("aiN,aN->iN", frame, draw_ggx(seen, widths, *point))
            own = ggx_density(halves(frame, seen, wi), widths**2)
            solid_angle = 1 / (len(SPLIT_POINTS) * np.maximum(own, _LEAST_DENSITY))
            colour = _ratio(lobes, shade, wi)
            light = environment.radiance(wi, solid_angle)
            result += weight / len(SPLIT_POINTS) * colour * light
    diffuse = environment.irradiance(_up(wo.shape[1])) / np.pi
    for wi in _beside_the_viewer(wo):
        result += 0.5 * lobes.weights[-2:].sum(0) * _ratio(lobes, shade, wi) * diffuse
    return result


def environment_light_proxies(
    diffuse: FloatArray,
    albedo: FloatArray,
    normal: FloatArray,
    roughness: FloatArray,
    wo: FloatArray,
    environment: Environment,
) -> FloatArray:
    """Of a bundle's proxies, without a decoder."""
    mirrored = 2 * (normal * wo).sum(0) * normal - wo
    mirrored = normalise(np.stack([*mirrored[:2], np.maximum(mirrored[2], _FLAT_COSINE)]))
    spread = 8 * np.pi * roughness**4 * np.maximum(mirrored[2], _BLUR_COSINE)
    light = environment.radiance(mirrored, np.minimum(spread, _LARGEST_SOLID_ANGLE))
    smooth = np.minimum(diffuse, albedo) * environment.irradiance(normal) / np.pi
    return np.asarray(smooth + np.maximum(albedo - diffuse, 0) * light)


def _ratio(lobes: Lobes, shade: Shade, wi: FloatArray) -> FloatArray:
    density = np.maximum(pdf(lobes, wi), LENGTH_EPSILON)
    return np.asarray(np.where(wi[2] > 0, shade(wi) / density, 0))


def _up(count: int) -> FloatArray:
    return np.repeat(np.array([[0.0], [0.0], [1.0]]), count, axis=1)


def _beside_the_viewer(wo: FloatArray) -> list[FloatArray]:
    """45 degrees to both sides: away from highlights, and half of a cosine lobe is nearer."""
    square = wo[0] ** 2 + wo[1] ** 2
    is_tilted = square > LENGTH_EPSILON
    length = np.sqrt(np.where(is_tilted, square, 1))
    x, y = np.where(is_tilted, -wo[1] / length, 1), np.where(is_tilted, wo[0] / length, 0)
    half = np.sqrt(0.5)
    return [half * np.stack([sign * x, sign * y, np.ones_like(x)]) for sign in (1, -1)]
