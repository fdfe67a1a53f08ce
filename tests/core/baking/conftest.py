"""What tests of bakes share."""

from contextlib import contextmanager

import pytest

from ..small_endings import SMALL_ENDINGS
from .bakes import plain_teacher, run


@contextmanager
def with_small_endings():
    with pytest.MonkeyPatch.context() as patch:
        for each in SMALL_ENDINGS:
            patch.setattr(*each)
        yield


@pytest.fixture(scope="module", autouse=True)
def _small_endings():
    """For all bakes of a module: few look at the closing pictures and measurements."""
    with with_small_endings():
        yield


@pytest.fixture(scope="session")
def clay():
    return plain_teacher()


@pytest.fixture(scope="session")
def whole_clay(clay, tmp_path_factory):
    """The folder of a bake of clay with the settings TINY, without interruption: to be read."""
    folder = tmp_path_factory.mktemp("whole_clay")
    with with_small_endings():
        run([clay], folder)
    return folder
