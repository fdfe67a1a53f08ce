"""What is drawn follows painted places and chosen directions, also when they change on the way."""

import numpy as np
import pytest

from verdigris.core.network.spec import LatentLayout
from verdigris.core.sampling.distribution import distribution_of
from verdigris.core.sampling.draw_samples import NUMPY_CHUNK_STEPS, DrawnSamples
from verdigris.core.settings.draw_settings import DrawSettings, profile_table

LAYOUT = LatentLayout(64, 64, levels=4)
COUNT = 16_000


def source(teacher, importance=None, **settings):
    return DrawnSamples([teacher], LAYOUT, 5, DrawSettings(**settings), importance)


def cells_of(batch, height, width):
    row = (batch["uv"][:, 1] * height).astype(int)
    return np.bincount(
        row * width + (batch["uv"][:, 0] * width).astype(int), minlength=height * width
    )


def chi_square(counts, expected):
    """In deviations of what independent draws would give."""
    live = expected > 0
    assert counts[~live].sum() == 0
    freedom = live.sum() - 1
    found = ((counts[live] - expected[live]) ** 2 / expected[live]).sum()
    return (found - freedom) / np.sqrt(2 * freedom)


def test_a_map_of_ones_draws_the_bits_of_no_map(teacher):
    ones = source(teacher, np.ones((32, 48), np.float32), importance_in_loss=1.0).draw(3, COUNT)
    assert np.array_equal(ones, source(teacher).draw(3, COUNT))


@pytest.mark.parametrize("size", [(16, 16), (512, 1024), (100, 300)])
def test_a_masked_region_gets_no_sample(teacher, size):
    random = np.random.default_rng(0)
    weights = random.uniform(0.5, 4, size) * (random.random(size) < 0.5)
    weights[:, : size[1] // 3] = 0
    weights[: size[0] // 4] = 0
    drawn = source(teacher, weights)
    for step in range(4):
        counts = cells_of(drawn.draw(step, COUNT), *size)
        assert counts.sum() == COUNT
        assert counts[weights.ravel() == 0].sum() == 0


def test_every_live_texel_is_visited_however_little_it_weighs(teacher):
    weights = np.full((16, 16), 1e-20)
    weights[8:] = 1.0
    counts = sum(cells_of(source(teacher, weights).draw(step, COUNT), 16, 16) for step in range(4))
    assert counts.min() > 4 * COUNT / 256 / 64


def test_a_weight_of_8_is_drawn_eight_times_as_often(teacher):
    weights = np.ones((8, 8))
    weights[2:4, 4:6] = 8
    counts = cells_of(source(teacher, weights).draw(0, COUNT), 8, 8).reshape(8, 8)
    painted, others = counts[weights == 8].mean(), counts[weights == 1].mean()
    assert painted / others == pytest.approx(8, rel=0.02)


def test_the_losss_weight_is_the_density_to_its_power_and_one_on_average(teacher):
    weights = np.ones((8, 8))
    weights[2:4, 4:6] = 8
    batch = source(teacher, weights, importance_in_loss=0.5).draw(0, COUNT)
    cell = (batch["uv"] * 8).astype(int)
    painted = weights[cell[:, 1], cell[:, 0]] == 8
    assert np.ptp(batch["weight"][painted]) < 1e-4
    ratio = batch["weight"][painted][0] / batch["weight"][~painted][0]
    assert ratio == pytest.approx(np.sqrt(8), rel=1e-4)
    assert batch["weight"].mean() == pytest.approx(1, abs=0.01)


def test_a_new_map_holds_from_the_next_batch_on(teacher):
    left, right = np.zeros((2, 4)), np.zeros((2, 4))
    left[:, :2], right[:, 2:] = 1, 3
    drawn = source(teacher, left)
    assert drawn.draw(2, COUNT)["uv"][:, 0].max() < 0.5
    revision = drawn.revision
    # within the steps that were drawn at once, and those that are being drawn
    drawn.set_importance(right)
    assert drawn.revision != revision
    assert drawn.draw(3, COUNT)["uv"][:, 0].min() >= 0.5
    assert drawn.draw(NUMPY_CHUNK_STEPS, COUNT)["uv"][:, 0].min() >= 0.5
    drawn.set_importance(None)
    assert np.array_equal(drawn.draw(2, COUNT), source(teacher).draw(2, COUNT))


def test_directions_follow_a_table(teacher):
    table = ((0.0, 1.0, 2.0), (5.0, 0.5, 0.0))
    drawn = source(teacher, mirror_share=0.0, least_cosine=0.2, direction_table=table)
    counts = np.zeros(6)
    for step in range(4):
        batch = drawn.draw(step, COUNT)
        unit = [(batch[name][:, 2] - 0.2) / 0.8 for name in ("wo", "wi")]
        cell = np.minimum((unit[0] * 2).astype(int), 1) * 3 + np.minimum(
            (unit[1] * 3).astype(int), 2
        )
        counts += np.bincount(cell, minlength=6)
    expected = np.ravel(table) / np.sum(table) * counts.sum()
    # rounding at a cell's edge puts a direction next to it
    counts[expected == 0] = np.where(counts[expected == 0] < 5, 0, counts[expected == 0])
    assert chi_square(counts, expected) < 4


@pytest.mark.parametrize(
    ("profile", "who", "mean"),
    [
        # of x under 1 + 7 x^4, and under 1 + 7 (1 - x)^4
        ("head-on", "wo", (1 / 2 + 7 / 6) / (1 + 7 / 5)),
        ("grazing", "wo", (1 / 2 + 7 / 30) / (1 + 7 / 5)),
        ("overhead-light", "wi", (1 / 2 + 7 / 6) / (1 + 7 / 5)),
        ("low-light", "wi", (1 / 2 + 7 / 30) / (1 + 7 / 5)),
    ],
)
def test_directions_follow_a_profile(teacher, profile, who, mean):
    batch = source(teacher, mirror_share=0.0, least_cosine=0.0, directions=profile).draw(0, COUNT)
    assert batch[who][:, 2].mean() == pytest.approx(mean, abs=0.01)
    other = "wi" if who == "wo" else "wo"
    assert batch[other][:, 2].mean() == pytest.approx(0.5, abs=0.01)


def test_pairs_around_the_mirror_direction_keep_to_the_table(teacher):
    table = np.ones((4, 4))
    table[:2], table[2:, :2] = 0, 0
    drawn = source(
        teacher, mirror_share=0.9, least_cosine=0.0, direction_table=tuple(map(tuple, table))
    ).draw(0, COUNT)
    for name in ("wi", "wo"):
        assert drawn[name][:, 2].min() > 0.4999
    half = drawn["wi"] + drawn["wo"]
    near = half[:, 2] > 0.999 * np.linalg.norm(half, axis=1)
    assert near.mean() > 0.1


@pytest.mark.parametrize("profile", ["grazing", "head-on", "fixed-camera"])
def test_a_profile_leaves_pairs_around_the_mirror_direction_their_share(teacher, profile):
    def share(directions):
        """Of half vectors within two degrees, where few even pairs lie."""
        batch = source(teacher, mirror_share=0.5, directions=directions).draw(0, COUNT)
        half = batch["wi"] + batch["wo"]
        return (half[:, 2] > np.cos(np.deg2rad(2)) * np.linalg.norm(half, axis=1)).mean()

    assert share(profile) == pytest.approx(share("uniform"), rel=0.15)


def test_the_uniform_profile_draws_the_bits_of_no_profile(teacher):
    table = ((3.0, 3.0), (3.0, 3.0))
    plain = source(teacher).draw(1, COUNT)
    assert np.array_equal(source(teacher, direction_table=table).draw(1, COUNT), plain)
    assert distribution_of(np.array(profile_table("uniform"))).width == 0
