"""What tests of bakes share."""

import pytest

from .small_endings import SMALL_ENDINGS


@pytest.fixture
def small_endings(monkeypatch):
    """For a bake whose closing pictures and measures nobody looks at."""
    for each in SMALL_ENDINGS:
        monkeypatch.setattr(*each)
