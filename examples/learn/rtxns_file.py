"""Files of networks as NVIDIA's RTXNS (RTX Neural Shading) loads and saves them, `.bin`.

A header of 32 bytes, eight records of layers, and numbers in halves: matrices row by row and
biases, each at a multiple of 64 bytes.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.bundle.export import MAGIC, MOST_LAYERS, layers_bin
from verdigris.core.compress.mlp import Layer

_HEADER, _LAYER = struct.Struct("<7I4x"), struct.Struct("<2I2Q2I")
_END = struct.Struct("<I4xQ")
_HALF = np.dtype("<f2")


def write_network(path: Path, layers: list[Layer]) -> None:
    path.write_bytes(layers_bin(layers))
    print(path)


def read_network(path: Path) -> list[Layer]:
    """The layers of a file whose matrices are stored row by row."""
    data = path.read_bytes()
    payload = _HEADER.size + MOST_LAYERS * _LAYER.size + _END.size
    if len(data) < payload or _HEADER.unpack_from(data)[0] != MAGIC:
        raise VerdigrisError(f"{path}: this is no RTXNS network: choose a .bin that RTXNS saved")
    _, hidden, *_, kind, _ = _HEADER.unpack_from(data)
    order, size = _END.unpack_from(data, payload - _END.size)
    if order or kind or hidden >= MOST_LAYERS or len(data) < payload + size:
        raise VerdigrisError(
            f"{path}: {hidden} hidden layers, layout {order}, numbers of kind {kind}, {len(data)} "
            "bytes: only whole files of halves with matrices by rows are read"
        )
    layers = []
    for index in range(hidden + 1):
        at = _HEADER.size + index * _LAYER.size
        columns, rows, _, _, matrix, bias = _LAYER.unpack_from(data, at)
        if payload + max(matrix + rows * columns * _HALF.itemsize, bias) > len(data):
            raise VerdigrisError(f"{path}: layer {index} lies beyond the end: the file is damaged")
        numbers, biases = (
            np.frombuffer(data, _HALF, count, payload + start).astype(np.float32)
            for count, start in ((rows * columns, matrix), (rows, bias))
        )
        layers.append(Layer(numbers.reshape(rows, columns), biases))
    return layers
