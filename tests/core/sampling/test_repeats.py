"""Drawn samples are trained several times, in an order that hangs on the step alone."""

from collections import Counter
from itertools import chain

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, require_preset
from verdigris.core.sampling.draw_samples import NUMPY_CHUNK_STEPS, DrawnSamples, turn_of
from verdigris.core.settings.draw_settings import DrawSettings
from verdigris.core.settings.schedule import TrainingSettings
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer

LAYOUT = LatentLayout(16, 16, levels=3)
COUNT = 64


def source(teacher, repeats, **settings):
    return DrawnSamples([teacher], LAYOUT, 5, DrawSettings(repeats=repeats, pairs=2, **settings))


def places(batch):
    """The points of a batch, each as its bits."""
    return [point.tobytes() for point in np.ascontiguousarray(batch).reshape(-1, 2)]


def test_every_second_chunk_is_one_that_was_drawn_four_chunks_before():
    turns = [turn_of(number, 2) for number in range(8, 14)]
    assert turns == [(4, 0), (0, 1), (5, 0), (1, 1), (6, 0), (2, 1)]
    assert [turn_of(number, 1) for number in range(3)] == [(0, 0), (1, 0), (2, 0)]
    assert [turn_of(number, 3) for number in (24, 25, 26)] == [(8, 0), (4, 1), (0, 2)]


@pytest.mark.parametrize("repeats", [1, 2, 3, 4])
def test_over_a_long_run_each_sample_is_trained_exactly_as_often_as_asked(teacher, repeats):
    drawn = source(teacher, repeats)
    chunks = repeats * 20
    seen = Counter()
    for step in range(chunks * NUMPY_CHUNK_STEPS):
        seen.update(places(drawn.draw(step, COUNT)))
    fresh = source(teacher, 1)
    # chunks 0 to 7 have had all of their turns by then, whatever the repeats
    for step in range(8 * NUMPY_CHUNK_STEPS):
        assert {seen[point] for point in places(fresh.draw(step, COUNT))} == {repeats}
    assert max(seen.values()) == repeats


def test_a_repeat_holds_the_points_of_its_chunk_beside_others_and_coarse_ones_where_they_were(
    teacher,
):
    drawn, fresh = source(teacher, 2), source(teacher, 1)
    # what is trained as chunk 9 was first trained as chunk 0
    again = [
        drawn.draw(9 * NUMPY_CHUNK_STEPS + place, COUNT).copy()
        for place in range(NUMPY_CHUNK_STEPS)
    ]
    first = [fresh.draw(place, COUNT).copy() for place in range(NUMPY_CHUNK_STEPS)]
    assert Counter(chain(*map(places, again))) == Counter(chain(*map(places, first)))
    for one, other in zip(again, first, strict=True):
        assert 0 < len(set(places(one)) & set(places(other))) < COUNT // 2
        assert np.array_equal(one["level"] > 0, other["level"] > 0)
        assert np.array_equal(one["uv"][0::2], one["uv"][1::2])


def test_a_batch_hangs_on_its_step_alone(teacher):
    whole = source(teacher, 3)
    batches = [whole.draw(step, COUNT).copy() for step in range(40 * NUMPY_CHUNK_STEPS)]
    for step in (0, 11, 100, 317, 250, 7):
        assert np.array_equal(source(teacher, 3).draw(step, COUNT), batches[step])
        assert np.array_equal(whole.draw(step, COUNT), batches[step])


def test_no_more_is_kept_than_has_turns_to_come(teacher):
    drawn = source(teacher, 3)
    for step in range(0, 60 * NUMPY_CHUNK_STEPS, NUMPY_CHUNK_STEPS):
        drawn.draw(step, COUNT)
    assert len(drawn._kept) <= 2 * 4 + 1
    drawn.draw(0, 2 * COUNT)
    drawn.draw(2000 * NUMPY_CHUNK_STEPS, 2 * COUNT)
    assert len(drawn._kept) == 1


def test_a_new_importance_map_is_in_effect_from_the_next_batch_on_repeats_included(teacher):
    drawn = source(teacher, 3, coarse_share=0)
    last = 31 * NUMPY_CHUNK_STEPS + 3
    for step in range(last + 1):
        drawn.draw(step, COUNT)
    left = np.zeros((16, 16))
    left[:, :8] = 1
    drawn.set_importance(left)
    for step in range(last + 1, last + 1 + 30 * NUMPY_CHUNK_STEPS):
        assert drawn.draw(step, COUNT)["uv"][:, 0].max() < 0.5


def test_a_resumed_run_ends_with_the_bits_of_one_that_was_not_interrupted(teacher):
    start = initialise(require_preset("2x16"), LAYOUT, 0)

    def trainer():
        return NumpyTrainer(start, source(teacher, 2), TrainingSettings(batch=COUNT))

    whole, first, resumed = trainer(), trainer(), trainer()
    try:
        whole.step_many(150)
        first.step_many(83)
        parameters, state = first.parameters(), first.state()
        first.step_many(9)
        resumed.restore(parameters, state)
        resumed.step_many(67)
        expected, found = whole.parameters(), resumed.parameters()
    finally:
        for each in (whole, first, resumed):
            each.close()
    np.testing.assert_array_equal(found.latents, expected.latents)
    np.testing.assert_array_equal(found.decoder, expected.decoder)


@pytest.mark.parametrize("repeats", [0, 17])
def test_too_few_or_too_many_repeats_are_refused(repeats):
    with pytest.raises(SettingsError, match=f"repeats is {repeats}: use 1 to 16"):
        DrawSettings(repeats=repeats)
