import numpy as np
import pytest

from verdigris.core.bundle.files.reference import hemisphere
from verdigris.core.network.latents.texels import corners, gather
from verdigris.core.network.light.sampler import (
    Lobes,
    View,
    draw,
    lobes_of,
    look_at,
    pdf,
    untilted_lobes,
)

from ...bundle.bundles import lively_parameters

SURFACES = 200


def lobes_at(parameters, count, seed, least_cosine=1e-3):
    """Mixtures of random places and views, half of them grazing."""
    random = np.random.default_rng(seed)
    latents = gather(parameters.latents, *corners(parameters.layout, random.random((2, count)), 0))
    wo = hemisphere(random, count, least_cosine)
    wo[::2, 2] = 10 ** random.uniform(-3, -1, len(wo[::2]))
    wo /= np.linalg.norm(wo, axis=1, keepdims=True)
    return lobes_of(parameters, look_at(parameters, latents.astype(np.float64), wo.T))


def of_surfaces(lobes, chosen):
    frames, seen = ([each[..., chosen] for each in all_of] for all_of in (lobes.frames, lobes.seen))
    return Lobes(lobes.view, frames, seen, lobes.widths[..., chosen], lobes.weights[:, chosen])


@pytest.fixture(scope="module")
def lobes():
    return lobes_at(lively_parameters().with_double_decoder(), SURFACES, 1)


def test_the_density_integrates_to_one_over_all_directions(lobes):
    """Of the GGX lobes below the horizon too: that share is drawn there, and is light lost to no
    estimate, because it counts as zero."""
    rows, columns = 256, 512
    cosine = (np.arange(rows) + 0.5) / rows * 2 - 1
    turn = 2 * np.pi * (np.arange(columns) + 0.5) / columns
    total = np.zeros(SURFACES)
    for z in cosine:
        x, y = np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn)
        wi = np.stack([x, y, np.full(columns, z)])
        total += pdf(lobes, np.repeat(wi[:, :, None], SURFACES, 2)).sum(0)
    total *= 4 * np.pi / (rows * columns)
    np.testing.assert_allclose(total, 1, atol=1e-3)


@pytest.mark.parametrize("surface", range(4))
def test_directions_are_drawn_with_the_density(lobes, surface):
    """A chi-square test on cells of equal area of the sphere, against the integral of the density
    over each cell."""
    rows, columns, draws, fine = 8, 16, 60_000, 24
    random = np.random.default_rng(surface)
    one = of_surfaces(lobes, np.full(draws, surface))
    wi = draw(one, random.random((2, draws)))
    np.testing.assert_allclose(np.linalg.norm(wi, axis=0), 1, atol=1e-9)

    def cell_of(z, turn, parts):
        row = np.minimum((z + 1) / 2 * rows * parts, rows * parts - 1).astype(int)
        column = (turn / (2 * np.pi) % 1 * columns * parts).astype(int) % (columns * parts)
        return row, column

    found = np.zeros((rows, columns))
    np.add.at(found, cell_of(wi[2], np.arctan2(wi[1], wi[0]), 1), 1)
    z = (np.arange(rows * fine) + 0.5) / (rows * fine) * 2 - 1
    turn = 2 * np.pi * (np.arange(columns * fine) + 0.5) / (columns * fine)
    z, turn = np.meshgrid(z, turn, indexing="ij")
    grid = np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z])
    flat = grid.reshape(3, -1)
    density = pdf(of_surfaces(lobes, np.full(flat.shape[1], surface)), flat).reshape(z.shape)
    area = 4 * np.pi / z.size
    expected = density.reshape(rows, fine, columns, fine).sum((1, 3)) * area * draws
    likely = expected > 5
    score = ((found - expected) ** 2 / np.maximum(expected, 1e-9))[likely].sum()
    freedom = likely.sum() - 1
    # five standard deviations of a chi-square sum
    assert abs(score - freedom) < 5 * np.sqrt(2 * freedom)
    assert abs(found[~likely].sum() - expected[~likely].sum()) < 30


def test_an_estimate_with_drawn_directions_is_the_integral(lobes):
    """The mean of cosine over density is pi for every surface, whatever the lobes."""
    draws = 4_000
    random = np.random.default_rng(5)
    for surface in (0, 7, 60):
        one = of_surfaces(lobes, np.full(draws, surface))
        wi = draw(one, random.random((2, draws)))
        weight = np.maximum(wi[2], 0) / pdf(one, wi)
        assert abs(weight.mean() - np.pi) < 4 * weight.std() / np.sqrt(draws)


def test_a_narrow_lobe_meets_its_highlight_at_grazing_views():
    """Samples of a mirror's highlight, which is narrower than the view is high, vary little."""
    width, cosine, draws = 0.006, 0.02, 4000
    wo = np.array([np.sqrt(1 - cosine**2), 0, cosine])[:, None]
    view = View([np.eye(3)[..., None]], [wo], [np.ones((2, 1))], [np.zeros((2, 1))], wo)
    lobes = untilted_lobes(view, np.full((1, 2, 1), width), np.array([[1.0], [0], [0]]))
    one = of_surfaces(lobes, np.zeros(draws, int))
    wi = draw(one, np.random.default_rng(3).random((2, draws)))
    # GGX without shadowing, times the cosine
    half = (wi + wo) / np.linalg.norm(wi + wo, axis=0)
    spread = (half[:2] ** 2).sum(0) / width**2 + half[2] ** 2
    response = 1 / (np.pi * width**2 * spread**2) / (4 * cosine) * (wi[2] > 0)
    samples = response / pdf(one, wi)
    assert samples.std() < 0.6 * samples.mean()
