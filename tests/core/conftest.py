"""What tests of processes share."""

import signal

import pytest


@pytest.fixture
def heard():
    """Processes that are begun in the background are deaf to Ctrl-C, and so are theirs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
