"""Applications in strict fakes, which tests open scenes in."""

import pytest


@pytest.fixture(autouse=True)
def own_settings(tmp_path, monkeypatch):
    """Nothing that one test keeps, such as painted weights, comes back in another."""
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "settings"))


@pytest.fixture(autouse=True)
def no_session(own_settings):
    """A panel's session belongs to the application, which ends with the test."""
    yield
    from verdigris.plugins.common.panel_loader import end_session

    end_session()


@pytest.fixture
def maya(monkeypatch):
    import fake_maya

    scene = fake_maya.Scene()
    fake_maya.install(monkeypatch, scene)
    return scene


@pytest.fixture
def houdini(monkeypatch):
    import fake_houdini

    scene = fake_houdini.Scene()
    scene.hou = fake_houdini.install(monkeypatch, scene)
    return scene


@pytest.fixture
def in_houdini(houdini, tmp_path):
    """The host of a Houdini scene."""
    from .houdini.scenes import open_host

    return open_host(houdini, tmp_path)
