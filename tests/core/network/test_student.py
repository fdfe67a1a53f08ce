"""The student's shader against the oracle, for decoders of every shape."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DeviceError
from verdigris.core.network.numpy_mlp import evaluate
from verdigris.core.network.parameters import initialise
from verdigris.core.network.prepared_places import PackedNetwork, highlights_of
from verdigris.core.network.spec import PRESETS, LatentLayout, NetworkSpec
from verdigris.core.network.student import Student

LAYOUT = LatentLayout(8, 4, levels=2, materials=2)
COUNT = 400
SPECS = {
    "three layers of rows that are no whole quads": NetworkSpec(
        hidden_width=9, hidden_layers=3, frame_count=3, lobes=4, output_limit=9.0
    ),
    "one layer": NetworkSpec(hidden_width=20, hidden_layers=1, lobes=1),
    "more than constants hold": NetworkSpec(hidden_width=128, hidden_layers=2),
}


@pytest.fixture(params=["software", pytest.param("auto", marks=pytest.mark.gpu)])
def device(request):
    try:
        found = open_device(request.param)
    except DeviceError as error:
        pytest.skip(str(error))
    if found.is_software and request.param != "software":
        pytest.skip(f"{found} is no hardware GPU")
    return found


def random_parameters(spec):
    parameters, random = initialise(spec, LAYOUT, 0), np.random.default_rng(1)
    parameters.latents[:] = random.standard_normal(parameters.latents.shape)
    parameters.decoder[:] += 0.1 * random.standard_normal(parameters.decoder.shape)
    return parameters


def random_points():
    random = np.random.default_rng(2)
    vectors = random.standard_normal((2, COUNT, 3))
    vectors[..., 2] = np.abs(vectors[..., 2]) + 0.05
    wi, wo = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)
    return random.uniform(-1, 2, (COUNT, 2)).astype(np.float32), wi, wo


@pytest.mark.parametrize("name", SPECS)
def test_it_answers_as_the_oracle_does(name, device):
    spec = replace(SPECS[name], activation="silu")
    parameters, (uv, wi, wo) = random_parameters(spec), random_points()
    student = Student(parameters, device, material=1, level=1)
    expected = evaluate(spec, parameters.astype(np.float64), uv, 1, wi, wo, 1)
    np.testing.assert_allclose(student.response(uv, wi, wo), expected, rtol=3e-4)
    # directions of light follow the same highlights on a GPU and on a CPU
    known = highlights_of(PackedNetwork.of(parameters.of_material(1)), uv, np.zeros((COUNT, 0)), 1)
    np.testing.assert_allclose(student.highlights(uv, wo), known, rtol=3e-4, atol=1e-5)


def test_it_takes_other_numbers_without_compiling(device):
    spec, (uv, wi, wo) = PRESETS["2x16"], random_points()
    parameters = random_parameters(spec)
    student = Student(parameters, device)
    student.response(uv, wi, wo)
    kernels = dict(student._kernels)
    parameters.decoder[:] *= 0.9
    parameters.latents[:] += 0.1
    student.update(parameters)
    expected = evaluate(spec, parameters.astype(np.float64), uv, 0, wi, wo)
    np.testing.assert_allclose(student.response(uv, wi, wo), expected, rtol=3e-4)
    assert student._kernels == kernels and len(kernels) == 1
