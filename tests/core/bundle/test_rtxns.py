"""The exports for RTXNS, read back by their documented layout, and evaluated."""

import json
import struct

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.export import rtxns_bin, rtxns_json
from verdigris.core.network.numpy_mlp import forward
from verdigris.core.network.spec import LatentLayout, NetworkSpec

from .bundles import lively_parameters, make_bundle

TINY = LatentLayout(4, 4, 3)


def read_bin(data):
    """[(weights [outputs, inputs], biases)] of a .bin."""
    magic, hidden, inputs, width, outputs, weight_type, bias_type = struct.unpack_from("<7I", data)
    assert magic == 0xA1C0DE01
    assert (weight_type, bias_type) == (0, 0)
    widths = [inputs, *[width] * hidden, outputs]
    (layout,) = struct.unpack_from("<I", data, 0x120)
    (size,) = struct.unpack_from("<Q", data, 0x128)
    payload = data[0x130:]
    assert (layout, size) == (0, len(payload))
    layers = []
    for index in range(8):
        record = struct.unpack_from("<2I2Q2I", data, 0x20 + 32 * index)
        if index > hidden:
            assert not any(record)
            continue
        rows, columns, weight_size, bias_size, weight_at, bias_at = (
            record[1],
            record[0],
            *record[2:],
        )
        assert (columns, rows) == (widths[index], widths[index + 1])
        assert (weight_size, bias_size) == (2 * rows * columns, 2 * rows)
        assert weight_at % 64 == bias_at % 64 == 0
        weights = np.frombuffer(payload[weight_at : weight_at + weight_size], "<f2")
        biases = np.frombuffer(payload[bias_at : bias_at + bias_size], "<f2")
        layers.append((weights.reshape(rows, columns).astype(float), biases.astype(float)))
    return layers


def read_json(data):
    return [
        (
            np.array(layer["weights"]).reshape(layer["num_outputs"], layer["num_inputs"]),
            np.array(layer["biases"]),
        )
        for layer in json.loads(data)["layers"]
    ]


def silu(x):
    return x / (1 + np.exp(-x))


@pytest.mark.parametrize(("write", "read"), [(rtxns_bin, read_bin), (rtxns_json, read_json)])
def test_the_layers_evaluate_to_what_the_bundle_does(write, read, tmp_path):
    spec = NetworkSpec(16, 3, "silu", latent_channels=8 if read is read_bin else 4)
    bundle = make_bundle(tmp_path / "a.vdg", lively_parameters(spec, TINY))
    parameters = bundle.parameters().astype(np.float64)
    random = np.random.default_rng(1)
    up = np.array([[0.3], [-0.2], [0.93]]) * np.ones(50)
    wanted, tape = forward(spec, parameters, random.random((2, 50)), 0, up, up)
    x = tape.layer_inputs[0]
    layers = read(write(parameters, "a.vdg"))
    for index, (weights, biases) in enumerate(layers):
        x = weights @ x + biases[:, None]
        if index < len(layers) - 1:
            x = silu(x)
    np.testing.assert_allclose(x, wanted, rtol=1e-9)


def test_the_json_brings_what_an_engine_computes_around_the_layers(tmp_path):
    bundle = make_bundle(tmp_path / "a.vdg")
    parameters = bundle.parameters()
    beside = json.loads(rtxns_json(parameters, "a.vdg"))["verdigris"]
    frames = np.array(beside["frames"]).reshape(16, 8)
    np.testing.assert_array_equal(frames, parameters.frames())
    output = {"transform": "sum_of_exp", "lobes": 2, "shift": 3.0, "limit": 10.3}
    assert beside["network"]["output"] == output


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (NetworkSpec(hidden_layers=8, hidden_width=16), "has 9 layers: RTXNS loads at most 8"),
        (NetworkSpec(hidden_width=160), "is 160 wide: RTXNS loads at most 128"),
    ],
)
@pytest.mark.parametrize("write", [rtxns_bin, rtxns_json])
def test_networks_that_the_loader_does_not_support_are_refused_with_the_reason(write, spec, why):
    with pytest.raises(BundleError, match=f"a.vdg: the network {why}"):
        write(lively_parameters(spec, TINY), "a.vdg")
