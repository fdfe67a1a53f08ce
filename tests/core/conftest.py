"""What tests of bakes and of processes share."""

import signal
from functools import partial

import pytest

from verdigris.core.training import finish
from verdigris.core.training.measure import sphere_to_compare


@pytest.fixture
def small_spheres(monkeypatch):
    """A bake's closing pictures take most of its time where it is tiny. Bakes of fixtures that a
    module shares draw them at their size."""
    monkeypatch.setattr(finish, "sphere_to_compare", partial(sphere_to_compare, size=32))


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
