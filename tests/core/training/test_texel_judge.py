"""Directions that texels are judged by."""

import numpy as np
import pytest

from verdigris.core.baking.measure.texel_judge import Judge
from verdigris.core.base.device import open_device
from verdigris.core.material.evaluator import Footprint
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, NetworkSpec
from verdigris.core.network.student import Student

COUNT = 1 << 16


@pytest.fixture(scope="module")
def student():
    parameters = initialise(NetworkSpec(16, 1), LatentLayout(4, 4), 0)
    return Student(parameters, open_device("software"))


def drawn(student, seed, is_mirrored=False):
    random = np.random.default_rng(seed)
    judge = Judge(student, student, 4, Footprint(0.25, 1), random)
    found = judge.directions(COUNT, is_mirrored)
    return [each.to_numpy().view(np.float32).reshape(COUNT, 3).astype(float) for each in found]


def test_directions_are_uniform_over_the_hemisphere_above_its_lowest(student):
    for found in drawn(student, 0):
        np.testing.assert_allclose((found**2).sum(1), 1, atol=1e-6)
        cosine, turn = found[:, 2], np.arctan2(found[:, 1], found[:, 0]) / (2 * np.pi) + 0.5
        # the distances of what was drawn from a uniform distribution, by Kolmogorov and Smirnov:
        # one of a thousand such tests goes beyond
        most = 1.95 / np.sqrt(COUNT)
        for shares in ((cosine - 0.05) / 0.95, turn):
            ordered = np.sort(shares)
            assert ordered[0] > -1e-6 and ordered[-1] < 1 + 1e-6
            assert np.abs(ordered - (np.arange(COUNT) + 0.5) / COUNT).max() < most


def test_light_and_viewer_know_nothing_of_each_other_unless_one_mirrors_the_other(student):
    wi, wo = drawn(student, 0)
    together = np.corrcoef(np.concatenate([wi, wo], 1).T)[:3, 3:]
    assert np.abs(together).max() < 4 / np.sqrt(COUNT)
    wi, wo = drawn(student, 0, is_mirrored=True)
    np.testing.assert_array_equal(wo, wi * [-1, -1, 1])


def test_a_seed_draws_the_same_again_and_another_does_not(student):
    first, again, other = (drawn(student, seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any(1).mean() > 0.99
