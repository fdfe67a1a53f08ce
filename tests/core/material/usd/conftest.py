import numpy as np
import pytest

from ..surfaces import hemisphere

_COUNT = 400


@pytest.fixture(scope="module")
def samples():
    """Random places, and directions of light and view."""
    random = np.random.default_rng(0)
    uv = random.uniform(0, 2, (_COUNT, 2)) * [1, 0.5]
    directions = (hemisphere(random, _COUNT, 0.05) for _ in range(2))
    return tuple(part.astype(np.float32) for part in (uv, *directions))
