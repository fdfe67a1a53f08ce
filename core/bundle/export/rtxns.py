"""Exports the decoder's layers for NVIDIA's RTXNS loaders, as `.bin` or JSON.

These loaders support a plain perceptron. The engine computes its inputs (latents, frames and
directions) and the sum of exponentials after it; docs/FORMAT.md describes both.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence

import numpy as np

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files.manifest_network import network_json
from verdigris.core.bundle.files.weights import align
from verdigris.core.network.parameters import FloatArray, Parameters
from verdigris.core.network.spec import NetworkSpec

MAGIC = 0xA1C0DE01
MOST_LAYERS = 8
MOST_NEURONS = 128
ALIGNMENT = 64
_HALF = 0
_ROW_MAJOR = 0
_HEADER = struct.Struct("<7I4x")
_LAYER = struct.Struct("<2I2Q2I")
_END = struct.Struct("<I4xQ")


def check_fits(spec: NetworkSpec, name: str) -> None:
    """Refuses a network that the loaders do not support."""
    layers = len(spec.layers)
    if layers > MOST_LAYERS:
        raise BundleError(
            f"{name}: the network has {layers} layers: RTXNS loads at most {MOST_LAYERS}: "
            "bake with fewer layers"
        )
    widest = max(max(layer.inputs, layer.outputs) for layer in spec.layers)
    if widest > MOST_NEURONS:
        raise BundleError(
            f"{name}: the network is {widest} wide: RTXNS loads at most {MOST_NEURONS} "
            "rows and columns: bake with a narrower network"
        )


def rtxns_bin(parameters: Parameters, name: str) -> bytes:
    """The bytes of a `.bin` with the decoder's layers."""
    check_fits(parameters.spec, name)
    return layers_bin(
        [(parameters.weights(layer), parameters.bias(layer)) for layer in parameters.spec.layers]
    )


def layers_bin(layers: Sequence[tuple[FloatArray, FloatArray]]) -> bytes:
    """The bytes of a `.bin` of matrices [outputs, inputs] and biases: rows without padding,
    matrices and biases at multiples of 64."""
    records: list[bytes] = []
    payload = b""
    for matrix, bias in layers:
        parts = []
        for values in (matrix, bias):
            payload += bytes(align(len(payload), ALIGNMENT) - len(payload))
            data = values.astype("<f2").tobytes()
            parts.append((len(data), len(payload)))
            payload += data
        (weight_size, weight_at), (bias_size, bias_at) = parts
        rows, columns = matrix.shape
        records.append(_LAYER.pack(columns, rows, weight_size, bias_size, weight_at, bias_at))
    payload += bytes(align(len(payload), ALIGNMENT) - len(payload))
    records += [bytes(_LAYER.size)] * (MOST_LAYERS - len(records))
    first, last = layers[0][0], layers[-1][0]
    widths = len(layers) - 1, first.shape[1], first.shape[0], last.shape[0]
    header = _HEADER.pack(MAGIC, *widths, _HALF, _HALF)
    return b"".join([header, *records, _END.pack(_ROW_MAJOR, len(payload)), payload])


def rtxns_json(parameters: Parameters, name: str) -> bytes:
    """The text of a `.json`. Loaders ignore `verdigris`, which engines need."""
    spec = parameters.spec
    check_fits(spec, name)
    document = {
        "layers": [
            {
                "num_inputs": layer.inputs,
                "num_outputs": layer.outputs,
                "weights": _numbers(parameters.weights(layer)),
                "biases": _numbers(parameters.bias(layer)),
            }
            for layer in spec.layers
        ],
        "verdigris": {
            "network": network_json(spec),
            "frames": _numbers(parameters.frames()),
        },
    }
    return (json.dumps(document) + "\n").encode()


def _numbers(values: FloatArray) -> list[float]:
    """Half floats row by row; JSON numbers hold them exactly."""
    return [float(value) for value in values.astype(np.float16).ravel()]


TARGETS = {"rtxns-bin": (rtxns_bin, ".bin"), "rtxns-json": (rtxns_json, ".json")}
