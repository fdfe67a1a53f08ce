"""What a bake and a worker tell can be compared, and kept in sets."""

import numpy as np
import pytest

from verdigris.core.progress import Checkpointed, Pace, Preview, Step
from verdigris.core.worker.protocol.worker_events import (
    ErrorMap,
    Importance,
    Picture,
    Pixels,
    Places,
)

PIXELS = np.ones((2, 2, 3), np.float32)
PICTURED = {
    Preview: (1, "clay", PIXELS),
    Pixels: (PIXELS,),
    Picture: (PIXELS, "neural", 1, 2, 1.0),
    ErrorMap: (PIXELS, 2),
    Places: (PIXELS, 1),
    Importance: (PIXELS, "map.exr"),
}


@pytest.mark.parametrize("kind", PICTURED)
def test_what_holds_an_array_is_equal_to_itself_alone(kind):
    values = PICTURED[kind]
    one, other = kind(*values), kind(*values)
    copied = [value.copy() if value is PIXELS else value for value in values]
    assert one == one and one != other and one != kind(*copied)
    assert one != Checkpointed(1, "here")
    assert [Checkpointed(1, "here"), other, one].index(one) == 2
    assert len({one, other}) == 2


def test_what_holds_none_is_compared_by_what_it_says():
    assert Step(1, 2, 0.5, 3.0, 4.0, 5.0) == Step(1, 2, 0.5, 3.0, 4.0, 5.0)
    assert Checkpointed(1, "here") == Checkpointed(1, "here") != Checkpointed(2, "here")


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
