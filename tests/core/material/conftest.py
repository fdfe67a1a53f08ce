"""Places on a surface, and texels."""

import numpy as np
import pytest

from .images import COUNT, HEIGHT, WIDTH


@pytest.fixture(scope="module")
def uv():
    return np.random.default_rng(1).random((COUNT, 2)).astype(np.float32)


@pytest.fixture
def colours():
    return np.random.default_rng(2).random((HEIGHT, WIDTH, 3))
