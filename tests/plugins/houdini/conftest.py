import pytest


@pytest.fixture
def host(in_houdini):
    return in_houdini


@pytest.fixture
def harness(houdini, host, tmp_path):
    houdini.path = (tmp_path / "shot.hip").as_posix()
    from .scenes import HoudiniHarness

    found = HoudiniHarness(host, tmp_path / "shot.hip")
    found.houdini = houdini
    return found
