"""Devices, a small bundle, a scene of three, and commands in this process."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DeviceError
from verdigris.core.bundle.runtime.device_materials import has_cooperative_vectors
from verdigris.core.bundle.scene.pack import pack
from verdigris.core.cli import main as cli

from .bundles import lively_parameters, make_bundle
from .scenes import LOOSE, WIDE


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


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """Three materials; the third has the first one's decoder and latents of its own."""
    folder = tmp_path_factory.mktemp("bundles")
    first, second = lively_parameters(seed=1), lively_parameters(seed=2, layout=WIDE)
    third = replace(lively_parameters(seed=3), decoder=first.decoder)
    opacity = [np.full((1, 1, 1), 7, np.uint8)]
    return [
        make_bundle(folder / "copper.vdg", first),
        make_bundle(folder / "oak.vdg", second, quantised=False),
        make_bundle(folder / "lace.vdg", third, opacity=opacity, bounds=LOOSE),
    ]


@pytest.fixture(scope="module")
def scene(bundles, tmp_path_factory):
    return pack(bundles, tmp_path_factory.mktemp("scene") / "kitchen.vdg")


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
