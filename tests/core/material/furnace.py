"""The share of uniform white light that a material returns, by quasi-random integration."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from . import closed_forms as forms
from .surfaces import respond

COSINES = (0.05, 0.1, 0.2, 0.35, 0.6, 0.85, 1.0)
_LEAST = 1e-4  # cosine at the light under which a sample counts as below the surface
_COUNT = 1 << 9  # of each way to sample; 128 times as many change no share by more than .004


class Look(NamedTuple):
    """At a place, from a cosine. Lobes of these GGX roughnesses are sampled, and beside them a
    cosine lobe and grazing light, so that neither a peak nor a tail is missed. A roughness is a
    number or a pair."""

    uv: Sequence[float]
    cosine: float
    alphas: Sequence[float | tuple[float, float]]
    count: int = _COUNT
    azimuth: float = 0.0


def returned(teacher, *look, **others):
    """Light returned towards a cosine, (3,)."""
    return returned_each(teacher, [Look(*look, **others)])[0]


def returned_each(teacher, looks):
    """The same for many looks, (N, 3), in one evaluation."""
    drawn = [_drawn(each.cosine, tuple(each.alphas), *each[3:]) for each in looks]
    counts = [len(wi) for wi, _ in drawn]
    uv = np.repeat([each.uv for each in looks], counts, axis=0)
    wo = np.repeat([view(each.cosine, each.azimuth) for each in looks], counts, axis=0)
    found = respond(teacher, uv, np.concatenate([wi for wi, _ in drawn]), wo)
    parts = np.split(found, np.cumsum(counts)[:-1])
    return np.array([weights @ part for (_, weights), part in zip(drawn, parts, strict=True)])


# Many materials are seen from the same directions.
@functools.lru_cache(maxsize=256)
def _drawn(cosine, alphas, count, azimuth):
    """Directions of the light, and what each counts for."""
    wo = view(cosine, azimuth)
    turn, height = _spiral(count)
    parts = [_cosine_lobe(height, turn), _grazing(height, turn)]
    wi = np.concatenate([*parts, *(ggx_lobe(turn, height, wo, alpha) for alpha in alphas)])
    wi = wi[wi[:, 2] > _LEAST].astype(np.float32).astype(np.float64)
    density = wi[:, 2] / np.pi + wi[:, 2] ** (-2 / 3) / (6 * np.pi)
    density = density + sum(ggx_density(wi, wo, alpha) for alpha in alphas)
    return wi.astype(np.float32), 1 / (density * count)


def view(cosine, azimuth=0.0):
    sine = np.sqrt(1 - cosine**2)
    return np.array([sine * np.cos(azimuth), sine * np.sin(azimuth), cosine])


def sequence(count):
    """Roberts's R2 sequence."""
    steps = np.arange(1, count + 1)
    return (0.5 + steps * 0.7548776662466927) % 1, (0.5 + steps * 0.5698402909980532) % 1


def _spiral(count):
    """Turns and heights along a spiral. Its turns lie as evenly as those of the sequence and its
    heights more so: it comes as close with a quarter of the places."""
    steps = np.arange(count)
    return steps * 0.6180339887498949 % 1, (0.5 + steps) / count


def _cosine_lobe(x, y):
    radius, angle = np.sqrt(x), 2 * np.pi * y
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.sqrt(1 - x)], 1)


def _grazing(x, y):
    cosine, angle = x**3, 2 * np.pi * y
    sine = np.sqrt(1 - cosine**2)
    return np.stack([sine * np.cos(angle), sine * np.sin(angle), cosine], 1)


def ggx_lobe(x, y, wo, alpha):
    """Reflections off visible normals, by the spherical caps of Dupuy and Benyoub 2023."""
    scale = np.append(np.broadcast_to(alpha, 2), 1)
    stretched = wo * scale
    stretched /= np.linalg.norm(stretched)
    z = (1 - y) * (1 + stretched[2]) - stretched[2]
    sine, angle = np.sqrt(np.clip(1 - z * z, 0, 1)), 2 * np.pi * x
    h = np.stack([sine * np.cos(angle), sine * np.sin(angle), z], 1) + stretched
    h *= scale
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    return 2 * (h @ wo)[:, None] * h - wo


def ggx_density(wi, wo, alpha):
    h = wi + wo
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    alpha = np.broadcast_to(alpha, 2)
    spread = 1 + ((h[:, :2] / h[:, 2:] / alpha) ** 2).sum(1)
    density = 1 / (np.pi * alpha.prod() * h[:, 2] ** 4 * spread**2)
    seen = 2 / (1 + np.sqrt(1 + ((alpha * wo[:2] / wo[2]) ** 2).sum()))
    return density * seen / (4 * wo[2])


def bounces(cosine, alpha, steps=96):
    """One bounce off a GGX surface of white facets: cosines at the half vector, and the share of
    the light that comes from each. An integral of the closed form, by Gauss's nodes."""
    x, y = (nodes(count) for count in (steps // 2, steps))
    turn, turn_weight = x[0] / 2, x[1]  # either half is the mirror of the other
    height, height_weight = y[0] ** 2 * (3 - 2 * y[0]), y[1] * 6 * y[0] * (1 - y[0])
    wo = np.array([np.sqrt(1 - cosine**2), 0.0, cosine])
    wi = ggx_lobe(np.tile(turn, steps), np.repeat(height, steps // 2), wo, alpha)
    weight = np.outer(height_weight, turn_weight).ravel()
    above = wi[:, 2] > 1e-9
    wi, weight = wi[above], weight[above]
    share = forms.ggx(wi, wo[None], alpha, alpha) / ggx_density(wi, wo, alpha) * weight
    return (wi * forms.half_vector(wi, wo[None])).sum(1), share


@functools.cache
def nodes(count):
    """Gauss's nodes and weights on the unit interval."""
    places, weights = np.polynomial.legendre.leggauss(count)
    return (places + 1) / 2, weights / 2


def integrated(lobe, cosine, steps=64):
    """What a lobe without a peak, a function of (wi, wo) with the cosine, returns of white."""
    root, weight = nodes(steps)
    light, light_weight = root**3, weight * 3 * root**2
    turn, turn_weight = nodes(steps)
    light, angle = (grid.ravel() for grid in np.meshgrid(light, np.pi * turn, indexing="ij"))
    sine = np.sqrt(1 - light**2)
    wi = np.stack([sine * np.cos(angle), sine * np.sin(angle), light], 1)
    wo = np.tile([np.sqrt(1 - cosine**2), 0.0, cosine], (len(wi), 1))
    return 2 * np.pi * np.outer(light_weight, turn_weight).ravel() @ lobe(wi, wo)[:, 0]
