"""Bakes that draw places by their errors."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.phases.error_weights import draw_by_errors, weights_of
from verdigris.core.baking.state import checkpoint
from verdigris.core.network.parameters import CheckpointError
from verdigris.core.progress.events import Checkpointed, Phase

from .bakes import TINY, baked, cut_off_and_resumed, plain_teacher, run

EVEN = {"resolution": 32, "uniform_resolution": 0}
SETTINGS = replace(TINY, **EVEN, iterations=600, draw_errors_at=(0.5, 0.8))
BRIEF = replace(SETTINGS, iterations=100)
STRAY = np.array([10 * 32 + 20, 10 * 32 + 21])


def in_progress(teachers, folder, **options):
    """A bake that is about to round its latents, and has not looked where errors are."""
    held = []
    events = bake(
        teachers,
        replace(SETTINGS, draw_errors_at=()),
        BakeOptions("out", folder, "numpy", **options),
        BakeControl(watch=held.append),
    )
    for event in events:
        if isinstance(event, Phase) and event.name == "rounding":
            return events, held[0]
    raise AssertionError("there was no such phase")


def led_astray(held, material=0):
    parameters, state = held.trainer.parameters(), held.trainer.state()
    random = np.random.default_rng(0)
    texels = STRAY + material * 32 * 32
    parameters.latents[texels] = 12 * random.standard_normal((len(STRAY), 8))
    held.trainer.restore(parameters, state)


def drawn_around(batch):
    """The share of samples on the strays and the ring around them: 3 x 4 of 32 x 32 texels."""
    column, row = (batch["uv"].T * 32).astype(int)
    return ((row >= 9) & (row < 12) & (column >= 19) & (column < 23)).mean()


def test_weights_are_errors_over_their_mean_spread_to_the_texels_around():
    errors = np.full((16, 16), 1.0, np.float32)
    errors[0, 5] = 3.0
    found = weights_of(errors, None)
    # of 256 texels nine see the one that is worse, three of them over the edge
    mean = (256 + 9 * 2) / 256
    wanted = np.full((16, 16), 1 / mean)
    wanted[[-1, 0, 1], 4:7] = 3 / mean
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_weights_lie_between_a_half_and_32():
    errors = np.zeros((64, 64), np.float32)
    errors[5, 5] = 1.0
    found = weights_of(errors, None)
    assert set(np.unique(found)) == {0.5, 1.0}
    errors += 1e-3
    assert set(np.unique(weights_of(errors, None))) == {0.5, 32.0}
    # nothing is wrong anywhere
    assert set(np.unique(weights_of(np.zeros((4, 4), np.float32), None))) == {0.5}


def test_what_is_left_out_has_no_error():
    errors = np.ones((8, 8), np.float32)
    errors[:, 6] = 1e6
    masked = np.zeros((8, 8), bool)
    masked[:, 5:8] = True
    np.testing.assert_array_equal(weights_of(errors, masked)[:, 1:4], 1)


def test_maps_of_large_textures_hold_the_worst_of_each_block():
    errors = np.ones((2048, 2048), np.float32)
    errors[1001, 501] = 9.0
    found = weights_of(errors, None)
    assert found.shape == (1024, 1024)
    # the texels around it lie in four
    assert np.argwhere(found > 2).tolist() == [[500, 250], [500, 251], [501, 250], [501, 251]]


def test_what_is_worst_is_drawn_up_to_64_times_as_often(clay, tmp_path):
    events, held = in_progress([clay], tmp_path)
    assert drawn_around(held.source.draw(0, 32_768)) == pytest.approx(12 / 1024, rel=0.1)
    led_astray(held)
    draw_by_errors(held)
    weights = held.source.error_weights[0]
    assert weights[10, 20] > 8 and np.median(weights) == 0.5
    share = weights[9:12, 19:23].sum() / weights.sum()
    assert drawn_around(held.source.draw(0, 32_768)) == pytest.approx(share, rel=0.1)
    events.close()


def test_each_material_has_a_map_of_its_own(clay, tmp_path):
    slate = plain_teacher("0.1, 0.2, 0.3", "slate")
    events, held = in_progress([clay, slate], tmp_path)
    led_astray(held, material=1)
    draw_by_errors(held)
    batch = held.source.draw(0, 32_768)
    of_first, of_second = (drawn_around(batch[batch["material"] == each]) for each in (0, 1))
    assert of_second > 5 * of_first
    assert of_first < 0.03
    events.close()


def test_what_is_painted_counts_beside_it_and_what_is_left_out_stays_so(clay, tmp_path):
    painted = np.ones((48, 48), np.float32)
    painted[:, :17] = 0
    painted[:, 40:] = 4
    events, held = in_progress([clay], tmp_path, importance=painted)
    led_astray(held)
    draw_by_errors(held)
    before = drawn_around(held.source.draw(0, 32_768))
    assert before > 0.1
    for step in range(4):
        uv = held.source.draw(step, 32_768)["uv"]
        assert uv[:, 0].min() >= 17 / 48
    # paint that comes later does not undo it
    held.source.set_importance(None)
    batch = held.source.draw(0, 32_768)
    assert batch["uv"][:, 0].min() < 0.01
    assert drawn_around(batch) > 0.1
    events.close()


def test_a_rising_loss_is_told_of_the_same_places_alone(clay, tmp_path):
    events, held = in_progress([clay], tmp_path)
    for loss in (1.0, 3.0):
        held.watch.add(loss, 1000)
    assert held.watch.rises[-1].factor >= 3
    draw_by_errors(held)
    assert held.watch.rises[-1].factor == 1
    events.close()


@pytest.fixture(scope="module")
def whole(clay, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run([clay], folder, BRIEF)
    return baked(folder)


@pytest.mark.parametrize("after", [0.45, 0.6, 0.85])
def test_a_bake_cut_off_around_it_ends_as_an_uninterrupted_one(whole, clay, tmp_path, after):
    cut = cut_off_and_resumed(clay, tmp_path, BRIEF, after)
    np.testing.assert_array_equal(whole.latents, cut.latents)
    np.testing.assert_array_equal(whole.decoder, cut.decoder)


def test_a_bake_that_does_not_ends_otherwise(whole, clay, tmp_path):
    run([clay], tmp_path, replace(BRIEF, draw_errors_at=()))
    assert not np.array_equal(baked(tmp_path).latents, whole.latents)


@pytest.fixture(scope="module")
def cut_off(clay, tmp_path_factory):
    """The checkpoint of a bake that draws by errors."""
    folder = tmp_path_factory.mktemp("cut")
    options = BakeOptions("out", folder, "numpy", checkpoint_seconds=0, run_seconds=1e-6)
    events = bake([clay], BRIEF, options)
    next(event for event in events if isinstance(event, Checkpointed) and event.step > 60)
    events.close()
    return checkpoint.load(checkpoint.state_path(folder, "out"))


@pytest.mark.parametrize(
    "wrong",
    [
        np.ones((2, 32, 32), np.float32),
        np.ones((32, 32), np.float32),
        np.zeros((1, 32, 32), np.float32),
        np.full((1, 32, 32), np.nan, np.float32),
        np.ones((1, 0, 0), np.float32),
        np.full((1, 2, 2), "a"),
    ],
)
def test_a_damaged_map_in_a_checkpoint_is_refused(cut_off, clay, tmp_path, wrong):
    assert cut_off.state["error_weights"].shape == (1, 32, 32)
    state = {**cut_off.state, "error_weights": wrong}
    path = checkpoint.state_path(tmp_path, "out")
    checkpoint.save(path, cut_off.parameters, cut_off.facts, state)
    with pytest.raises(
        CheckpointError, match=r"error_weights: are no weights of 1 latent texture\(s\)"
    ):
        run([clay], tmp_path, BRIEF, resume=True)
