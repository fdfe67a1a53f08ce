"""Devices, a small bundle, and commands in this process."""

import json
import sys

import pytest

from verdigris.core import cli
from verdigris.core.bundle.device_materials import has_cooperative_vectors
from verdigris.core.device import open_device
from verdigris.core.errors import DeviceError

from .bundles import make_bundle


@pytest.fixture(scope="module")
def software():
    return open_device("software")


@pytest.fixture(scope="module")
def cooperative_card():
    """A graphics card with cooperative vectors."""
    try:
        device = open_device("vulkan")
    except DeviceError:
        pytest.skip("there is no GPU")
    if device.is_software or not has_cooperative_vectors(device):
        pytest.skip("there is no GPU with cooperative vectors")
    return device


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return make_bundle(tmp_path_factory.mktemp("bundle") / "small.vdg")


@pytest.fixture
def command(monkeypatch, capsys):
    """What a command prints as JSON, on the software device."""

    def run(*arguments):
        words = ["verdigris", *map(str, arguments), "--json", "--device", "software"]
        monkeypatch.setattr(sys, "argv", words)
        try:
            cli.main()
        except SystemExit as end:
            assert not end.code, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run
