"""Predictions correct themselves, and the time left does not wander."""

import itertools
import random

import pytest

from verdigris.core.base.text import format_range
from verdigris.core.settings.presets import require_recipe
from verdigris.ui.estimates import (
    BakeClock,
    BakeTimes,
    Prediction,
    Predictions,
    TimeLeft,
    compare,
    difficulty_of,
)


def settings(preset):
    return require_recipe(preset, "numpy").largest


def test_a_machine_that_takes_three_times_as_long_is_known_after_one_bake():
    predictions = Predictions()
    first = predictions.predict(settings("standard"), "numpy", "standard")
    assert not first.is_learnt and first.low == pytest.approx(first.seconds / 2)
    predictions.learn(settings("standard"), "numpy", 3 * first.seconds)
    second = predictions.predict(settings("standard"), "numpy", "standard")
    assert second.is_learnt and second.seconds == pytest.approx(3 * first.seconds)
    # the decoder of final is another one, and all that is known is this machine
    final = Predictions().predict(settings("final"), "numpy", "final").seconds
    assert predictions.predict(settings("final"), "numpy", "final").seconds == pytest.approx(
        3 * final
    )
    # of a graphics card, nothing is known from bakes on the processor
    card = require_recipe("standard", "tensor").largest
    assert not predictions.predict(card, "tensor", "standard").is_learnt


def test_bakes_that_vary_widen_the_range_and_like_ones_count_first():
    predictions = Predictions()
    raw = predictions.predict(settings("standard"), "numpy").seconds
    for factor in (1.0, 1.5, 1.25):
        predictions.learn(settings("standard"), "numpy", factor * raw)
    found = predictions.predict(settings("standard"), "numpy")
    assert found.seconds == pytest.approx(1.25 * raw)
    assert found.low <= raw * 1.0001 and found.high >= 1.5 * raw * 0.9999
    for _ in range(5):
        predictions.learn(settings("draft"), "numpy", 500.0)
    assert predictions.predict(settings("standard"), "numpy").seconds < 2 * raw


def test_outcomes_survive_the_settings_and_damaged_ones_are_left_out():
    predictions = Predictions()
    predictions.learn(settings("draft"), "numpy", 40.0)
    predictions.learn(settings("draft"), "numpy", 40.0, "draft", "hard", 2)
    again = Predictions()
    # one of before dots were kept
    again.read_json([["numpy", "2x32", 20.0, 30.0]])
    assert again.outcomes.pop().dots == 0
    again.read_json([*predictions.as_json(), ["numpy"], ["numpy", "2x32", "x", 1], [1, 2, 0, 3]])
    assert again.outcomes == predictions.outcomes


# Drafts on a CPU: parts and images, as `inspect` prints them, and the dots of the bake.
DRAFTS = {
    "copper_tray": (("oren_nayar_diffuse_bsdf", "conductor_bsdf"), 7, 1),
    "glazed_tile": (("base", "specular", "coat"), 3, 1),
    "brushed_steel": (("base", "metal", "specular"), 1, 4),
    "pearl_inlay": (("base", "metal", "specular", "thin film"), 2, 4),
}


@pytest.mark.parametrize("name", DRAFTS)
def test_a_card_promises_the_dots_that_a_draft_gets_and_learns_others(name):
    parts, images, dots = DRAFTS[name]
    report = {"parts": [{"name": part} for part in parts], "textures": [{}] * images}
    difficulty = difficulty_of(report, False)
    predictions = Predictions()
    found = predictions.predict(settings("draft"), "numpy", "draft", difficulty=difficulty).dots
    assert found[0] <= dots <= found[1]
    # three bakes here with other dots count for more than the table
    other = 6 - dots
    for _ in range(3):
        predictions.learn(settings("draft"), "numpy", 9.0, "draft", difficulty, other)
    again = predictions.predict(settings("draft"), "numpy", "draft", difficulty=difficulty).dots
    assert again == (other, other)
    unlike = predictions.predict(settings("draft"), "numpy", "standard", difficulty=difficulty)
    assert unlike.dots != again or dots == 4


def test_how_far_off_a_prediction_was_is_told():
    predicted = Prediction(100.0, 1.5, 1000, (3, 3), True)
    found = [compare(predicted, seconds) for seconds in (103, 120, 70, 250)]
    assert found == [
        "as predicted",
        "20% longer than predicted",
        "30% shorter than predicted",
        "2.5 times as long as predicted",
    ]


def shown_ends(prediction, times):
    """The latest end that is shown, for each (elapsed, share)."""
    left = TimeLeft()
    left.start(prediction)
    found = [(elapsed, left.update(elapsed, share)) for elapsed, share in times]
    return [elapsed + each[1] for elapsed, each in found if each is not None]


def test_the_time_left_changes_a_few_times_where_the_rate_of_steps_wanders():
    """A `final` whose phases have rates that differ by 3, as on two cores: it takes 600 s."""
    random.seed(1)
    rates = [(0.1, 0.4), (0.5, 1.3), (0.4, 0.95)]
    times, elapsed, share = [], 0.0, 0.0
    whole = sum(part * slow for part, slow in rates)
    for part, slow in rates:
        for _ in range(100):
            elapsed += 600 * part * slow / whole / 100 * random.uniform(0.7, 1.3)
            share += part / 100
            times.append((elapsed, min(1.0, share)))
    end = elapsed
    ends = shown_ends(Prediction(500.0, 1.5, 0, (3, 3), True), times)
    assert len(ends) == len(times)
    changes = sum(abs(b - a) > 1 for a, b in itertools.pairwise(ends))
    assert changes <= 8
    assert all(end < 1.02 * each < 1.5 * end for each in ends), ends
    # what elapsed / share says meanwhile
    naive = [elapsed / share for elapsed, share in times]
    assert max(naive) / min(naive) > max(ends) / min(ends)


def test_a_resumed_bake_counts_from_where_it_goes_on():
    left = TimeLeft()
    left.start(None, is_resumed=True)
    assert left.update(2.0, 0.8) is None
    low, high = left.update(12.0, 0.9)
    # as much again is left as was done, which is no hundredth of the whole
    assert low < 12 < high


def test_without_a_prediction_the_progress_tells_and_a_late_bake_never_has_less_than_nothing():
    left = TimeLeft()
    left.start(None)
    assert left.update(1.0, 0.0) is None
    low, high = left.update(10.0, 0.5)
    assert low < 10 < high
    left.start(Prediction(10.0, 1.1, 0, (3, 3), True))
    low, high = left.update(500.0, 0.01)
    assert low == 0.0 and high > 0


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (18, 43, "20 to 45 s"),
        (0, 2, "about 5 s"),
        (170, 190, "about 3 min"),
        (100, 330, "2 to 6 min"),
        (4000, 9000, "1 to 2 h"),
    ],
)
def test_ranges_are_written_in_round_numbers(low, high, text):
    assert format_range(low, high) == text


def test_pauses_do_not_count():
    now = [0.0]
    clock = BakeClock(lambda: now[0])
    clock.start()
    for until, is_paused in ((5, True), (50, True), (60, False), (62, False)):
        now[0] = until
        clock.pause(is_paused)
    assert clock.seconds == 7


def test_a_busy_machine_makes_bakes_longer_and_teaches_nothing_wrong():
    times = BakeTimes()
    alone = times.predictions.predict(settings("draft"), "numpy", "draft").seconds
    # the worker opens a document on a machine that does four times as much
    times.note_pace(8.0, 2.0)
    assert times.slower == 4
    busy = times.predictions.predict(settings("draft"), "numpy", "draft", slower=times.slower)
    assert busy.seconds == pytest.approx(4 * alone) and busy.slower == 4
    # a promised time is not multiplied
    limited = times.predictions.predict(settings("draft"), "numpy", "draft", 30.0, slower=4.0)
    assert limited.seconds < 60
    now = [0.0]
    times.clock = BakeClock(lambda: now[0])
    times.start(busy, is_resumed=False)
    # the other work has doubled
    now[0] = 8 * alone
    times.note_pace(8 * alone - 4, alone - 0.5)
    times.learn(settings("draft"), "numpy", "draft", "", 3)
    assert times.took == 8 * alone
    assert times.predictions.outcomes[-1].seconds == pytest.approx(alone)


def test_a_bake_that_is_slower_than_promised_is_never_about_to_end():
    left = TimeLeft()
    left.start(Prediction(20.0, 2.0, 0, (3, 4), False))
    # twelve times as long, as told by its own progress
    for elapsed in range(4, 120, 4):
        low, high = left.update(float(elapsed), elapsed / 240)
    assert 10 < low < 124 < high
    # as told by the worker, from the start
    left.start(Prediction(20.0, 2.0, 0, (3, 4), False))
    low, high = left.update(5.0, 5 / 240, slower=12.0)
    assert low < 235 < high


def test_bumps_under_a_coat_are_hard_whatever_the_number_of_images():
    parts = [{"name": each} for each in ("base", "metal", "specular", "coat")]
    report = {"parts": parts, "textures": [{}] * 2, "varying_inputs": ["geometry_normal"]}
    assert difficulty_of(report, False) == "hard"
    # a smooth coat is not, nor bumps of a rough surface
    assert difficulty_of({**report, "varying_inputs": ["base_color"]}, False) == "easy"
    assert difficulty_of({**report, "parts": parts[:1]}, False) == "easy"
