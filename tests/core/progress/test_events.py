"""What a bake and a worker tell can be compared, and kept in sets."""

import numpy as np
import pytest

from verdigris.core.progress.events import Checkpointed, Preview, Step
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
