"""Shaders that several test files read."""

import pytest

from .shader_files import NETWORKS, StrictFiles

_COMPILED = {name: StrictFiles(spec) for name, spec in NETWORKS.items()}


@pytest.fixture(scope="module", autouse=True)
def few_shaders():
    """All of them here."""


@pytest.fixture(scope="session", params=NETWORKS)
def files(request):
    """The files of one network, compiled when they are first asked for."""
    return _COMPILED[request.param]


@pytest.fixture(scope="session")
def large_files():
    return _COMPILED["2x32 silu"]


@pytest.fixture(scope="session")
def small_files():
    return _COMPILED["2x5 leaky_smelu"]
