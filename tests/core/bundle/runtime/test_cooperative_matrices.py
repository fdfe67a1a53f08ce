"""The decoder by cooperative matrices, compared with numpy in double precision."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.device import Device, open_device
from verdigris.core.base.errors import BundleError, DeviceError
from verdigris.core.base.kernels import Source
from verdigris.core.bundle.files.reference import choose_points
from verdigris.core.bundle.files.weights import plan_tensors
from verdigris.core.bundle.runtime import evaluate_queries
from verdigris.core.bundle.runtime.evaluate_queries import (
    GROUP_QUERIES,
    MatrixEvaluator,
    has_cooperative_matrices,
)
from verdigris.core.bundle.runtime.runtime_files import RUNTIME_SHADERS
from verdigris.core.network.numpy_mlp import evaluate_at_lod
from verdigris.core.network.spec import PRESETS, NetworkSpec

from ..bundles import made_up, stored

FAKE = Path(__file__).parents[3] / "fakes" / "tiles_of_threads.slang"
NETWORKS = {
    "2x16 leaky_relu": replace(PRESETS["2x16"], activation="leaky_relu"),
    "2x32 silu": replace(PRESETS["2x32"], activation="silu"),
    "3x64 leaky_smelu": replace(PRESETS["3x64"], activation="leaky_smelu"),
    # widths that are no whole tiles
    "1x5 relu, one frame": NetworkSpec(5, 1, "relu", frame_count=1),
    "5x7 silu": NetworkSpec(7, 5, "silu", latent_channels=4),
    "3x100 silu": NetworkSpec(100, 3, "silu"),
    # that fill the shared memory
    "2x128 silu": NetworkSpec(128, 2, "silu"),
    "8x256 relu, four": NetworkSpec(256, 8, "relu", frame_count=4, lobes=4, output_limit=9.0),
}
# Inputs of layers are sums of two halves, 21 bits.
ROUNDING = 1e-5


@pytest.fixture(scope="module")
def matrix_card():
    """A graphics card with cooperative matrices."""
    try:
        device = open_device("vulkan")
    except DeviceError:
        pytest.skip("there is no GPU")
    if device.is_software or not has_cooperative_matrices(device):
        pytest.skip("there is no GPU with cooperative matrices")
    return device


def compared(exported, evaluator):
    points = choose_points(exported.parameters.layout)
    arguments = points.uv, points.lod, points.wi, points.wo
    assert len(points) > GROUP_QUERIES
    found = evaluator.response(*(each[:-5] for each in arguments))
    wanted = evaluate_at_lod(exported.parameters.astype(np.float64), *arguments)[:-5]
    below = (points.wi[:-5, 2] <= 0) | (points.wo[:-5, 2] <= 0)
    assert below.any() and not found[below].any()
    return float((np.abs(found - wanted) / np.maximum(wanted, 0.01)).max())


def test_rows_staging_and_padding_give_the_numpy_decoder(software, monkeypatch):
    """With tiles of plain code, because no software device has cooperative matrices. The first and
    last layer are copied, the hidden one is read where it is. Padding of the file is no number."""
    real = (RUNTIME_SHADERS / "neural_tiles.slang").read_text()
    head = real[: real.index("public typealias InputTile")].replace("using namespace linalg;", "")
    text = head.replace("import neural_act", "import bundle.runtime.neural_act") + FAKE.read_text()
    shared_kernels = Device.shared_kernels

    def with_fake(device, defines, modules):
        assert defines["NEURAL_MATRICES"] == "1"
        return shared_kernels(device, defines, [*modules, Source("neural_tiles", text)])

    monkeypatch.setattr(Device, "shared_kernels", with_fake)
    monkeypatch.setattr(evaluate_queries, "has_cooperative_matrices", lambda _: True)
    exported = made_up(NetworkSpec(16, 2, "silu", frame_count=1))
    material = stored(exported)
    weights = np.frombuffer(material.weights, "<u2").copy()
    tensors = {each.name: each for each in plan_tensors(exported.parameters.spec)[0]}
    tensor = tensors["layer0.weights"]
    rows = weights[tensor.offset // 2 :][: 16 * 24].reshape(16, 24)
    assert tensor.shape == (16, 18) and tensor.row_stride == 48
    rows[:, 18:] = 0xFFFF
    material = replace(material, weights=weights.tobytes())
    assert compared(exported, MatrixEvaluator([material], software)) < ROUNDING


@pytest.mark.gpu
@pytest.mark.parametrize("name", NETWORKS)
def test_cooperative_matrices_are_the_numpy_decoder(matrix_card, name):
    exported = made_up(NETWORKS[name])
    limit = 20 * ROUNDING if "8x256" in name else ROUNDING
    assert compared(exported, MatrixEvaluator([stored(exported)], matrix_card)) < limit


def test_devices_without_them_and_several_decoders_are_refused(software, monkeypatch):
    two = [stored(made_up(PRESETS["2x16"], seed=seed)) for seed in (1, 2)]
    with pytest.raises(DeviceError, match="no cooperative matrices: use the portable decoder"):
        MatrixEvaluator(two[:1], software)
    monkeypatch.setattr(evaluate_queries, "has_cooperative_matrices", lambda _: True)
    with pytest.raises(BundleError, match="have 2 decoders, a group of threads evaluates one"):
        MatrixEvaluator(two, software)
