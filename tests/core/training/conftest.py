"""Analytic materials whose parameters vary over uv: a teacher that needs no device."""

import numpy as np
import pytest

from verdigris.core.sampling.draw_samples import TRAINING_SAMPLE


def hemisphere(random, count, least=0.05):
    """Uniform directions [count, 3] with cosines of at least `least`."""
    z = random.uniform(least, 1, count)
    angle = random.uniform(0, 2 * np.pi, count)
    radius = np.sqrt(1 - z * z)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], 1)


def respond(uv, wi, wo):
    """Lambert and anisotropic GGX over a brushed, tiled and dented surface; [count, 3]."""
    u, v = uv.T
    tile = (np.floor(u * 4) + np.floor(v * 4)) % 2
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * (3 * u + 2 * np.sin(2 * np.pi * v)))
    colour = 0.05 + 0.6 * np.stack([tile, wave * 0.6, 1 - tile], 1)
    specular = np.stack([0.04 + 0.6 * wave, 0.04 + 0.5 * wave, 0.04 + 0.3 * wave], 1)
    rough_x, rough_y = 0.15 + 0.35 * (1 - wave), 0.3 + 0.2 * tile

    slope_x = 0.3 * np.cos(2 * np.pi * 8 * u) * (1 - tile)
    slope_y = 0.3 * np.sin(2 * np.pi * 8 * v) * (1 - tile)
    n = np.stack([slope_x, slope_y, np.ones_like(u)], 1)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    t = np.array([1.0, 0, 0]) - n * n[:, :1]
    t /= np.linalg.norm(t, axis=1, keepdims=True)
    b = np.cross(n, t)

    def cosine(a, c):
        return (a * c).sum(1)

    h = wi + wo
    h /= np.maximum(np.linalg.norm(h, axis=1, keepdims=True), 1e-9)
    n_i, n_o = np.maximum(cosine(n, wi), 0), np.maximum(cosine(n, wo), 1e-3)
    h_x, h_y, h_n = cosine(t, h) / rough_x, cosine(b, h) / rough_y, cosine(n, h)
    density = 1 / (np.pi * rough_x * rough_y * (h_x**2 + h_y**2 + h_n**2) ** 2)
    roughness = np.sqrt(rough_x * rough_y)
    shadow = 2 * n_i / (n_i + np.sqrt(roughness**2 + (1 - roughness**2) * n_i**2) + 1e-9)
    shadow *= 2 * n_o / (n_o + np.sqrt(roughness**2 + (1 - roughness**2) * n_o**2))
    fresnel = specular + (1 - specular) * (1 - np.maximum(cosine(h, wi), 0))[:, None] ** 5
    reflected = fresnel * (density * shadow / (4 * n_o))[:, None]
    return colour / np.pi * n_i[:, None] + reflected


def draw(random, count, mirror_share=0.1, pairs=1):
    """A batch: most directions uniform, some near the mirror's; `pairs` of them at each uv."""
    batch = np.zeros(count, TRAINING_SAMPLE)
    batch["uv"] = np.repeat(random.random((-(-count // pairs), 2)), pairs, axis=0)[:count]
    wi, wo = hemisphere(random, count), hemisphere(random, count)
    near = np.flatnonzero(random.random(count) < mirror_share)
    mirrored = wo[near] * [-1, -1, 1]
    spread = random.uniform(0.01, 0.5, (len(near), 1))
    mirrored += spread * random.standard_normal((len(near), 3))
    mirrored[:, 2] = np.abs(mirrored[:, 2]) + 1e-3
    wi[near] = mirrored / np.linalg.norm(mirrored, axis=1, keepdims=True)
    batch["wi"], batch["wo"], batch["weight"] = wi, wo, 1
    batch["response"] = respond(batch["uv"].astype(np.float64), wi, wo)
    return batch


class AnalyticSource:
    """Implements SampleSource."""

    def __init__(self, seed=0, mirror_share=0.1, pairs=1):
        self.pairs = pairs
        self._seed, self._mirror_share = seed, mirror_share

    def draw(self, step, count):
        random = np.random.default_rng([self._seed, step])
        return draw(random, count, self._mirror_share, self.pairs)


class PoolSource:
    """Batches cut from one pool drawn beforehand: next to free, for timing and long runs."""

    def __init__(self, size, seed=0, mirror_share=0.1, pairs=1):
        self.pairs = pairs
        self._pool = draw(np.random.default_rng(seed), size, mirror_share, pairs)

    def draw(self, step, count):
        index = step % (len(self._pool) // count)
        return self._pool[index * count : (index + 1) * count]


@pytest.fixture
def draw_batch():
    return draw


@pytest.fixture
def analytic_source():
    return AnalyticSource


@pytest.fixture
def pool_source():
    return PoolSource
