"""When metrics, pictures and checkpoints of a bake are due."""

import pytest

from verdigris.core.progress.pace import Pace


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def wait_of(pace, clock):
    """Whole seconds until it is due."""
    begun = clock.now
    while not pace.is_due:
        clock.now += 1
        assert clock.now < begun + 1000
    return clock.now - begun


def test_what_is_quick_is_due_as_often_as_it_is_wanted(clock):
    pace = Pace(4.5, clock)
    assert wait_of(pace, clock) == 5
    with pace.taken():
        clock.now += 0.125
    assert wait_of(pace, clock) == 5


def test_what_is_slow_takes_a_twentieth_of_the_time(clock):
    pace = Pace(4.5, clock)
    with pace.taken():
        # and compiles
        clock.now += 10
    assert wait_of(pace, clock) == 5
    with pace.taken():
        clock.now += 3
    # just beyond 60 seconds
    assert wait_of(pace, clock) == 61
    with pace.taken():
        clock.now += 0.125
    assert wait_of(pace, clock) == 5


def test_without_a_wait_it_is_due_whatever_it_takes(clock):
    pace = Pace(0.0, clock)
    with pace.taken():
        clock.now += 30
    clock.now += 0.001
    assert pace.is_due
