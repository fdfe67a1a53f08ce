import math

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.settings.schedule import Schedule, TrainingSettings
from verdigris.core.training.optimiser import LazyRmsProp, adam, adam_rate, scaled_rate


def test_the_cosine_goes_from_one_over_the_middle_to_the_final_fraction():
    schedule = Schedule(steps=101, final_fraction=0.01)
    assert schedule.factor(0) == pytest.approx(1)
    assert schedule.factor(50) == pytest.approx((1 + 0.01) / 2)
    assert schedule.factor(100) == pytest.approx(0.01)
    assert schedule.factor(5000) == pytest.approx(0.01)


def test_the_warm_up_rises_linearly():
    schedule = Schedule(steps=10_000, warm_up=4)
    factors = [schedule.factor(step) for step in range(4)]
    np.testing.assert_allclose(factors, [0.2, 0.4, 0.6, 0.8], rtol=1e-5)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"steps": 0}, "steps is 0"),
        ({"decoder_rate": math.nan}, "decoder_rate is nan"),
        ({"latent_rate": -1.0}, "latent_rate is -1.0"),
        ({"final_fraction": 2.0}, "final_fraction is 2.0"),
        ({"warm_up": 20_000}, "warm_up is 20000: use 0 to 10000"),
    ],
)
def test_a_schedule_that_makes_no_sense_is_refused(values, message):
    with pytest.raises(SettingsError, match=message):
        Schedule(**values)


def test_an_unknown_loss_is_refused_with_those_that_exist():
    wanted = "loss is 'l2': use one of cbrt_bounded, cbrt_log, cbrt_l1, log_l1, l1"
    with pytest.raises(SettingsError, match=wanted):
        TrainingSettings(loss="l2")


def reference_adam(values, gradients, rate):
    """The textbook form with separate corrections."""
    m = v = np.zeros_like(values)
    for step, gradient in enumerate(gradients, 1):
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        values = values - rate * (m / (1 - 0.9**step)) / np.sqrt(v / (1 - 0.999**step))
    return values


def test_adam_is_the_textbook_form():
    random = np.random.default_rng(0)
    values, gradients = random.standard_normal(20), random.standard_normal((7, 20))
    expected = reference_adam(values, gradients, 0.01)
    m, v = np.zeros(20), np.zeros(20)
    for step, gradient in enumerate(gradients):
        adam(values, m, v, gradient.copy(), adam_rate(0.01, step))
    np.testing.assert_allclose(values, expected, rtol=1e-10)


def test_adam_leaves_what_never_had_a_gradient():
    values, m, v = np.ones(2), np.zeros(2), np.zeros(2)
    adam(values, m, v, np.array([0.0, 1.0]), 0.1)
    assert values[0] == 1
    assert values[1] < 1


def test_rows_that_are_touched_move_by_the_textbook_form_and_no_others():
    random = np.random.default_rng(1)
    start = random.standard_normal((6, 8)).astype(np.float32)
    lazy, rows = LazyRmsProp(start.copy()), np.array([1, 4])
    expected, squares = start[rows].astype("f8"), np.zeros((2, 8))
    for step in range(5):
        gradient = random.standard_normal((2, 8)).astype(np.float32)
        squares = 0.999 * squares + 0.001 * gradient.astype("f8") ** 2
        expected -= 0.1 * gradient / np.sqrt(squares / (1 - 0.999 ** (step + 1)))
        lazy.update(rows, gradient, scaled_rate(0.1, step))
    np.testing.assert_allclose(lazy.values[rows], expected, rtol=1e-5)
    np.testing.assert_allclose(lazy.v[rows], squares, rtol=1e-5)
    np.testing.assert_array_equal(lazy.values[[0, 2, 3, 5]], start[[0, 2, 3, 5]])
    assert not lazy.v[[0, 2, 3, 5]].any()


def test_rows_that_never_had_a_gradient_stay():
    lazy = LazyRmsProp(np.ones((2, 4), np.float32))
    lazy.update(np.array([0, 1]), np.array([[0.0] * 4, [1.0] * 4], np.float32), 0.1)
    assert (lazy.values[0] == 1).all()
    assert (lazy.values[1] < 1).all()
