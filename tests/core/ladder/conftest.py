import pytest

from .small_ladder import make_ball


@pytest.fixture(scope="package")
def ball():
    return make_ball()
