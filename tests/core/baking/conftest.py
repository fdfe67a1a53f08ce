"""What tests of bakes share."""

import pytest

from ..small_endings import SMALL_ENDINGS
from .bakes import plain_teacher


@pytest.fixture(scope="module", autouse=True)
def _small_endings():
    """For all bakes of a module: few look at the closing pictures and measurements."""
    with pytest.MonkeyPatch.context() as patch:
        for each in SMALL_ENDINGS:
            patch.setattr(*each)
        yield


@pytest.fixture(scope="session")
def clay():
    return plain_teacher()
