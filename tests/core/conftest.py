"""What tests of bakes and of processes share."""

import signal

import pytest

from .small_endings import SMALL_ENDINGS


@pytest.fixture
def small_endings(monkeypatch):
    """For a bake whose closing pictures and measures nobody looks at."""
    for each in SMALL_ENDINGS:
        monkeypatch.setattr(*each)


@pytest.fixture
def heard():
    """Processes that are begun in the background are deaf to Ctrl-C, those of `nohup` to the end of
    their terminal, and so are theirs."""
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler)}
    if hasattr(signal, "SIGHUP"):
        before[signal.SIGHUP] = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
