"""Samples that are drawn on the device lie where they should and hold the material's response."""

import numpy as np
import pytest
from analytic_material import respond

from verdigris.core.base.device import MOST_THREADS
from verdigris.core.base.errors import SettingsError
from verdigris.core.material.evaluator import LIVE_KNOTS, even_knots
from verdigris.core.network.spec import LatentLayout
from verdigris.core.sampling import draw_samples
from verdigris.core.sampling.draw_samples import TRAINING_SAMPLE, DrawnSamples
from verdigris.core.settings.draw_settings import DrawSettings
from verdigris.core.training.tensor.trainer_memory import read_buffer

LAYOUT = LatentLayout(64, 64, levels=4)
COUNT = 8000


def draw(teacher, step=0, seed=0, layout=LAYOUT, importance=None, **settings):
    source = DrawnSamples([teacher] * layout.materials, layout, seed, DrawSettings(**settings))
    if importance is not None:
        source = DrawnSamples([teacher], layout, seed, DrawSettings(**settings), importance)
    return source.draw(step, COUNT).copy()


def test_given_a_seed_and_step_when_drawn_again_then_samples_are_the_same_bits(teacher):
    source = DrawnSamples([teacher], LAYOUT, seed=3)
    first = source.draw(11, COUNT).copy()
    source.draw(2, COUNT)
    assert np.array_equal(source.draw(11, COUNT), first)
    assert not np.array_equal(draw(teacher, 12, 3)["wi"], first["wi"])
    assert not np.array_equal(draw(teacher, 11, 4)["wi"], first["wi"])


@pytest.mark.parametrize("most_threads", [MOST_THREADS, 2500, 10], ids=["one", "three", "five"])
def test_given_many_steps_when_recorded_at_once_then_each_is_what_it_is_alone(
    teacher, most_threads, monkeypatch
):
    """Whichever number of dispatches a device takes them in."""
    monkeypatch.setattr(draw_samples, "MOST_THREADS", most_threads)
    source = DrawnSamples([teacher], LAYOUT, seed=3)
    samples = teacher.device.new_buffer(np.zeros(5 * 1000, TRAINING_SAMPLE).view(np.uint32))
    encoder = teacher.device.gpu.create_command_encoder()
    source.record(encoder, samples, 7, 5, 1000)
    teacher.device.gpu.submit_command_buffer(encoder.finish())
    together = read_buffer(samples, TRAINING_SAMPLE).reshape(5, 1000)
    for step in range(5):
        assert np.array_equal(together[step], source.draw(7 + step, 1000))


@pytest.mark.parametrize("pairs", [1, 2, 4, 5])
def test_given_the_finest_level_when_drawn_then_responses_are_the_materials(teacher, pairs):
    batch = draw(teacher, coarse_share=0, finest_places=1, pairs=pairs)
    expected = respond(*(batch[name].astype("f8") for name in ("uv", "wi", "wo")))
    assert (batch["level"] == 0).all()
    assert (batch["weight"] == 1).all()
    error = np.abs(batch["response"] - expected).max(1) / expected.max(1)
    # where a stripe's edge falls between two floats, either side is right
    assert np.quantile(error, 0.999) < 1e-3


def test_given_few_coarse_samples_a_step_then_every_level_has_its_share_over_many(teacher):
    """Levels that are due less than one of them."""
    settings = DrawSettings(coarse_share=0.5, coarse_places=1)
    source = DrawnSamples([teacher], LatentLayout(64, 64, levels=7), 0, settings)
    levels = [source.draw(step, 16)["level"] for step in range(800)]
    counts = np.bincount(np.concatenate(levels).astype(int), minlength=7)
    expected = np.array([8, 4, 2, 1, 0.5, 0.25, 0.25]) * 800
    assert (np.abs(counts - expected) <= 4 * np.sqrt(expected)).all(), counts


@pytest.mark.parametrize("pairs", [1, 2, 4])
def test_given_coarser_levels_when_drawn_then_responses_are_means_over_their_texels(teacher, pairs):
    batch = draw(teacher, coarse_share=0.5, coarse_places=256, pairs=pairs)
    # neighbours are of one level, so that none waits for another's many places
    assert (np.diff(batch["level"]) >= 0).all()
    shares = np.bincount(batch["level"].astype(int)) / COUNT
    assert shares == pytest.approx([0.5, 0.25, 0.125, 0.125], abs=2 * pairs / COUNT)
    coarse = batch[batch["level"] == 3][:200]
    grid = (np.stack(np.meshgrid(np.arange(24), np.arange(24)), -1).reshape(-1, 2) + 0.5) / 24
    wi, wo = coarse["wi"].astype("f8"), coarse["wo"].astype("f8")
    # twice the width of a texel, of which there are eight a side
    places = [coarse["uv"] + (part - 0.5) / 4 for part in grid]
    expected = np.mean([respond(place.astype("f8"), wi, wo) for place in places], axis=0)
    middle = respond(coarse["uv"].astype("f8"), wi, wo)
    error = np.abs(coarse["response"] - expected).mean()
    assert error < 0.1 * np.abs(middle - expected).mean()


@pytest.mark.parametrize("width", [0.5, 1.0])
def test_given_a_width_when_drawn_then_the_finest_level_is_the_mean_over_that_much_of_a_texel(
    teacher, width
):
    layout = LatentLayout(8, 8, levels=2)
    batch = draw(teacher, layout=layout, coarse_share=0, finest_places=256, finest_width=width)[
        :200
    ]
    parts = (np.arange(24) + 0.5) / 24 - 0.5
    grid = np.stack(np.meshgrid(parts, parts), -1).reshape(-1, 2)
    wi, wo = batch["wi"].astype("f8"), batch["wo"].astype("f8")

    def mean_over(texels):
        places = [batch["uv"] + part * texels / 8 for part in grid]
        return np.mean([respond(place.astype("f8"), wi, wo) for place in places], axis=0)

    errors = {
        texels: np.abs(batch["response"] - mean_over(texels)).mean() for texels in (0.5, 0.75, 1.0)
    }
    assert errors[width] < 0.2 * min(errors[other] for other in errors if other != width)


def test_given_no_importance_when_drawn_then_every_part_of_the_square_gets_its_share(teacher):
    uv = draw(teacher)["uv"]
    counts, _, _ = np.histogram2d(*uv.T, bins=10, range=[[0, 1], [0, 1]])
    # spread evenly: far closer to equal than independent draws, whose deviation is 9
    assert np.abs(counts - COUNT / 100).max() <= 6


def test_given_an_importance_map_when_drawn_then_density_follows_it(teacher):
    importance = np.zeros((4, 8))
    importance[0, 1], importance[2, 3:5] = 1, [2, 5]
    uv = draw(teacher, importance=importance)["uv"]
    counts, _, _ = np.histogram2d(uv[:, 1], uv[:, 0], bins=(4, 8), range=[[0, 1], [0, 1]])
    assert counts / COUNT == pytest.approx(importance / 8, abs=0.01)
    in_brightest = uv[(uv[:, 1] > 0.5) & (uv[:, 0] > 0.5)]
    assert in_brightest.mean(0) == pytest.approx([4.5 / 8, 2.5 / 4], abs=0.005)


@pytest.mark.parametrize(
    "shares", [{"mirror_share": 0.0}, {"mirror_share": 0.9}, {"half_difference_share": 0.9}]
)
def test_given_any_shares_when_drawn_then_directions_are_unit_and_above_the_horizon(
    teacher, shares
):
    batch = draw(teacher, least_cosine=0.05, **{"mirror_share": 0.1, **shares})
    for name in ("wi", "wo"):
        assert np.linalg.norm(batch[name], axis=1) == pytest.approx(1, abs=1e-6)
        assert batch[name][:, 2].min() > 0.0499


def test_given_a_mirror_share_when_drawn_then_more_half_vectors_are_near_the_normal(teacher):
    def near_normal(batch):
        half = batch["wi"] + batch["wo"]
        return (half[:, 2] > 0.999 * np.linalg.norm(half, axis=1)).mean()

    even = near_normal(draw(teacher, mirror_share=0.0))
    some = near_normal(draw(teacher, mirror_share=0.3))
    assert even < 0.02
    assert some > even + 0.04


@pytest.mark.parametrize("pairs", [2, 4, 5, 8])
def test_given_pairs_when_drawn_then_neighbours_share_their_place_and_not_their_directions(
    teacher, pairs
):
    batch = draw(teacher, pairs=pairs).reshape(-1, pairs)
    for name in ("uv", "level", "material"):
        assert (batch[name] == batch[name][:, :1]).all()
    assert (batch["wi"] != np.roll(batch["wi"], 1, axis=1)).any(2).mean() > 0.99


def test_given_several_materials_when_drawn_then_each_has_its_part_of_the_batch(teacher):
    batch = draw(teacher, layout=LatentLayout(64, 64, levels=1, materials=3))
    assert np.array_equal(np.unique(batch["material"]), [0, 1, 2])
    assert np.bincount(batch["material"]).min() >= COUNT // 3
    with pytest.raises(SettingsError, match="1 materials for 3"):
        DrawnSamples([teacher], LatentLayout(8, 8, materials=3))


@pytest.mark.parametrize("most", [1, 2])
def test_given_fewer_in_a_thread_when_drawn_then_samples_are_the_same(teacher, most, monkeypatch):
    settings = {"coarse_share": 0.5, "finest_places": 4, "pairs": 4}
    expected = draw(teacher, **settings)
    monkeypatch.setattr(draw_samples, "MOST_TOGETHER_ON_SOFTWARE", most)
    found = draw(teacher, **settings)
    for name in ("uv", "level", "wi", "wo", "weight"):
        assert np.array_equal(found[name], expected[name]), name
    assert found["response"] == pytest.approx(expected["response"], rel=1e-5)


@pytest.mark.parametrize("pairs", [2, 4])
def test_given_pairs_of_materials_that_do_not_divide_the_batch_when_drawn_then_none_is_torn(
    teacher, pairs
):
    batch = draw(teacher, layout=LatentLayout(64, 64, levels=1, materials=3), pairs=pairs)
    together = batch.reshape(-1, pairs)
    for name in ("uv", "material"):
        assert (together[name] == together[name][:, :1]).all()
    assert np.bincount(batch["material"]).min() >= COUNT // 3 - pairs


def test_given_fewer_samples_than_materials_when_drawn_then_the_error_says_how_many(teacher):
    source = DrawnSamples([teacher] * 3, LatentLayout(8, 8, materials=3), 0, DrawSettings(pairs=2))
    with pytest.raises(SettingsError, match="batch is 4: use at least 6 for 3 materials"):
        source.draw(0, 4)


def test_live_values_follow_their_quantiles_and_some_lie_at_ends_of_steps(teacher, monkeypatch):
    """Closed form: between two quantiles a value is uniform."""
    quantiles = np.array([[0.4, 0.5, *np.linspace(0.6, 0.95, LIVE_KNOTS - 3), 1]], np.float32).T
    quantiles[0] = 0
    quantiles = np.concatenate([quantiles, even_knots(1)], 1)
    monkeypatch.setattr(teacher, "live_knots", quantiles, raising=False)
    monkeypatch.setattr(teacher, "live_steps", (1, 4), raising=False)
    live = draw(teacher)["live"]
    at_ends = np.isin(live[:, 0], (0, 1)) & np.isin(live[:, 1], np.linspace(0, 1, 5))
    assert at_ends.mean() == pytest.approx(draw_samples.LIVE_SHARE, abs=0.015)
    between = live[~at_ends]
    for number in range(2):
        shares = np.interp(between[:, number], quantiles[:, number], np.linspace(0, 1, LIVE_KNOTS))
        # the largest distance of two distributions (Kolmogorov and Smirnov), at 1 in 1000
        ordered = np.sort(shares)
        far = np.abs(ordered - (np.arange(len(ordered)) + 0.5) / len(ordered)).max()
        assert far < 1.95 / np.sqrt(len(ordered))
    assert (live[:, 2] <= 1).all()
