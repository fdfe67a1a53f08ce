"""A loss that rises again is noticed, and nothing else is."""

import math

import pytest

from verdigris.core.baking.finish.notices import risen_loss
from verdigris.core.baking.state.clock import LossWatch


def watched(losses):
    """Each of 50 steps: a window has two."""
    watch = LossWatch(1000)
    for loss in losses:
        watch.add(loss, 50)
    return watch


def rise_of(losses):
    return watched(losses).rises[-1].factor


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
    assert watch.rises[-1].factor == 1
    watch.add(6.5, 200)
    assert watch.rises[-1].factor == pytest.approx(3.25)


@pytest.mark.parametrize("losses", [[], [5.0], [math.nan] * 10, [0.0] * 10])
def test_given_too_little_to_go_by_when_asked_then_it_has_not_risen(losses):
    assert rise_of(losses) == 1


def test_steps_that_were_all_skipped_do_not_count():
    assert rise_of([2, 2, math.nan, math.nan, 1, 1, math.inf, 3, 3]) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("last", "is_told"), [(0.025, True), (0.0115, False), (0.0205, True), (0.01, False)]
)
def test_a_rise_is_told_where_it_can_be_seen(last, is_told):
    told = list(risen_loss(watched([0.02, 0.02, 0.01, 0.01, last, last])))
    assert bool(told) == is_told


def test_a_black_material_of_which_nothing_is_to_be_learnt_goes_not_astray():
    assert not list(risen_loss(watched([1e-3, 1e-3, 1e-6, 1e-6, 5e-6, 5e-6])))


def test_a_rise_on_the_way_is_told_though_the_loss_fell_again_on_other_samples():
    watch = watched([0.02, 0.02, 0.01, 0.01, 0.014, 0.014])
    watch.begin_again(1000)
    for loss in (0.03, 0.03, 0.02, 0.02):
        watch.add(loss, 50)
    (warning,) = risen_loss(watch)
    assert "the loss rose to 1.4 times its lowest value" in warning.text


def test_a_loss_that_is_higher_on_other_samples_alone_has_not_risen():
    watch = watched([0.02, 0.02, 0.01, 0.01])
    watch.begin_again(1000)
    for loss in (0.03, 0.03, 0.02, 0.02):
        watch.add(loss, 50)
    assert not list(risen_loss(watch))
