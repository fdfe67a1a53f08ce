"""Devices, bundles and a scene pack that tests share, and commands in this process.

Tests that change a bundle take `folder`, a copy. With xdist each process makes its own.
"""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DeviceError
from verdigris.core.bundle.files.ktx2 import RGBA8, RGBA16F
from verdigris.core.bundle.runtime import runtime_files
from verdigris.core.bundle.runtime.device_materials import has_cooperative_vectors
from verdigris.core.bundle.scene.pack import pack
from verdigris.core.bundle.scene.verify_scene import verify_scene

from ..in_process import run_command
from ..small_endings import FEW_SHADERS
from .bundles import lively_parameters, make_bundle
from .scenes import LOOSE, WIDE


@pytest.fixture(scope="module", autouse=True)
def few_shaders():
    """For what is packed: `runtime` has tests of all shaders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime_files, "TARGETS", FEW_SHADERS)
        yield


@pytest.fixture(scope="session")
def software():
    return open_device("software")


@pytest.fixture(scope="session")
def cooperative_card():
    """A graphics card with cooperative vectors."""
    try:
        device = open_device("vulkan")
    except DeviceError:
        pytest.skip("there is no GPU")
    if device.is_software or not has_cooperative_vectors(device):
        pytest.skip("there is no GPU with cooperative vectors")
    return device


@pytest.fixture(scope="session")
def bundle(tmp_path_factory):
    return make_bundle(tmp_path_factory.mktemp("bundle") / "small.vdg")


@pytest.fixture
def folder(bundle, tmp_path):
    """A copy of the small bundle, to be changed."""
    return shutil.copytree(bundle.folder, tmp_path / "a.vdg")


@pytest.fixture(scope="session")
def bundles(tmp_path_factory):
    """Three materials; the third has the first one's decoder and latents of its own."""
    folder = tmp_path_factory.mktemp("bundles")
    first, second = lively_parameters(seed=1), lively_parameters(seed=2, layout=WIDE)
    third = replace(lively_parameters(seed=3), decoder=first.decoder)
    opacity = [np.full((1, 1, 1), 7, np.uint8)]
    return [
        make_bundle(folder / "copper.vdg", first),
        make_bundle(folder / "oak.vdg", second, RGBA16F),
        make_bundle(folder / "lace.vdg", third, RGBA8, opacity=opacity, bounds=LOOSE),
    ]


@pytest.fixture(scope="session")
def scene(bundles, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        # before what the module has
        patch.setattr(runtime_files, "TARGETS", FEW_SHADERS)
        return pack(bundles, tmp_path_factory.mktemp("scene") / "kitchen.vdg")


@pytest.fixture(scope="session")
def scene_verification(scene, software):
    """The comparison of the scene pack with its references."""
    return verify_scene(scene, software)


@pytest.fixture
def command():
    """What a command prints as JSON, on the software device."""

    def run(*arguments):
        code, out, errors = run_command([*arguments, "--json", "--device", "software"])
        assert code == 0, errors
        return json.loads(out)

    return run
