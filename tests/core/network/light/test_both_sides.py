"""Directions over the whole sphere: their density against quadrature, and against what is drawn."""

import numpy as np
import pytest

from verdigris.core.material.sides import mirrored
from verdigris.core.network.light.both_sides import SphereSampler
from verdigris.core.network.light.sampler import pdf
from verdigris.core.network.parameters import TransmittedSide

from ...bundle.bundles import lively_parameters

PLACES, ROWS, COLUMNS = 200, 160, 256


def sampler(index, places=PLACES, share=0.5):
    """A material's sampler at random places and views, grazing ones too."""
    parameters, below = (lively_parameters(seed=seed) for seed in (3, 4))
    # lobes that the rows and columns do not miss
    parameters.head *= 0.5
    parameters.transmitted = TransmittedSide(below.decoder, index, -parameters.head)
    random = np.random.default_rng(8)
    latents = 0.3 * random.standard_normal((parameters.spec.latent_channels, places))
    cosine, turn = random.uniform(0.02, 1, places), 2 * np.pi * random.random(places)
    cosine[:20] = np.linspace(0.02, 0.1, 20)[: len(cosine[:20])]
    sine = np.sqrt(1 - cosine**2)
    wo = np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine])
    return SphereSampler.at(parameters.astype(np.float64), latents, wo, share)


def sphere():
    """Directions with equal solid angles, row by row."""
    turn = 2 * np.pi * (np.arange(COLUMNS) + 0.5) / COLUMNS
    for z in (np.arange(ROWS) + 0.5) / ROWS * 2 - 1:
        sine = np.sqrt(1 - z * z)
        yield np.stack([sine * np.cos(turn), sine * np.sin(turn), np.full(COLUMNS, z)])


def integrals(found):
    """Of the density, and of the shares of both sides' draws that carry no light."""
    total, lost = np.zeros(PLACES), np.zeros(PLACES)
    for row in sphere():
        wi = np.repeat(row[:, :, None], PLACES, 2)
        total += found.pdf(wi).sum(0)
        if row[2, 0] < 0:
            shares = found.share * pdf(found.above, wi) + (1 - found.share) * pdf(found.below, wi)
            lost += shares.sum(0)
    return (4 * np.pi / (ROWS * COLUMNS) * each for each in (total, lost))


def test_the_density_of_a_wall_integrates_to_one_over_the_sphere():
    total, lost = integrals(sampler(1.0, share=0.3))
    np.testing.assert_allclose(total + lost, 1, atol=1e-3)
    assert lost.mean() < 0.3 and total.mean() > 0.6


def test_the_density_of_a_solid_integrates_to_one_over_the_sphere():
    found = sampler(1.5)
    total, lost = integrals(found)
    # refraction narrows lobes to widths that rows and columns miss
    error = total + lost - 1
    assert np.median(np.abs(error)) < 1e-3
    assert abs(error.mean()) < 0.01


@pytest.mark.parametrize("index", [1.0, 1.5, 0.7])
def test_an_estimate_with_drawn_directions_is_the_integral(index):
    """Of a function on the directions from which light can come."""
    draws, places = 6_000, 3
    found = sampler(index, places)
    random = np.random.default_rng(6)
    wanted = np.zeros(places)
    for row in sphere():
        wi = np.repeat(row[:, :, None], places, 2)
        is_lit = (wi[2] > 0) | (mirrored(wi, found.wo[:, None], index)[2] > 0)
        wanted += np.where(is_lit, light(wi), 0).sum(0) * 4 * np.pi / (ROWS * COLUMNS)
    samples = estimates(found, random.random((draws, 2, places)))
    error = np.abs(samples.mean(0) - wanted)
    assert (error < 4 * samples.std(0) / np.sqrt(draws)).all()
    assert (samples.std(0) / np.sqrt(draws) < 0.03 * wanted).all()


def light(wi):
    return np.where(wi[2] > 0, 1 + wi[0], 2 + wi[1]) * np.abs(wi[2])


def estimates(found, numbers):
    result = []
    for random in numbers:
        wi = found.draw(random)
        is_lit = (wi != 0).any(0)
        safe = np.where(is_lit, wi, [[0.0], [0], [1]])
        result.append(np.where(is_lit, light(safe) / found.pdf(safe), 0))
    return np.array(result)
