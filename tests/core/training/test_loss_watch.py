"""A loss that rises again is noticed, and nothing else is."""

import math

import pytest

from verdigris.core.training.loss_watch import LossWatch


def rise_of(losses):
    """Each of 50 steps: a window has two."""
    watch = LossWatch(1000)
    for loss in losses:
        watch.add(loss, 50)
    return watch.rise


def test_given_a_loss_that_falls_when_it_ends_then_it_has_not_risen():
    assert rise_of([1 / step for step in range(1, 101)]) == 1


def test_given_a_loss_that_rises_again_when_it_ends_then_its_means_tell_how_far():
    """Means of 3, 1 and 2.5."""
    assert rise_of([4, 2, 1, 1, 2, 3]) == pytest.approx(2.5)


def test_given_runs_of_many_steps_when_added_then_each_counts_by_its_steps():
    watch = LossWatch(10_000)
    for loss, steps in ((4.0, 150), (1.0, 50), (2.0, 500)):
        watch.add(loss, steps)
    assert watch.lowest == pytest.approx(2.0)
    assert watch.rise == 1
    watch.add(6.5, 200)
    assert watch.rise == pytest.approx(3.25)


@pytest.mark.parametrize("losses", [[], [5.0], [math.nan] * 10, [0.0] * 10])
def test_given_too_little_to_go_by_when_asked_then_it_has_not_risen(losses):
    assert rise_of(losses) == 1


def test_steps_that_were_all_skipped_do_not_count():
    assert rise_of([2, 2, math.nan, math.nan, 1, 1, math.inf, 3, 3]) == pytest.approx(3.0)
