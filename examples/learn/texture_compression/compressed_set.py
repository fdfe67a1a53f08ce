"""Files of a compressed material: two textures of BC7 in KTX 2.0, the network as RTXNS loads it,
and sizes in JSON. The decoder here is numpy: all that an engine computes, in forty lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from blocks import QUAD, unpack_lines
from kit import Floats
from mlp import Layer
from numpy.typing import NDArray
from rtxns_file import read_network, write_network

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.bundle.files.ktx2 import BC7, FORMATS, TextureShape, read_ktx2, write_ktx2

WRITER = "verdigris examples/learn"
SLOPE = 0.01
"""Of the leaky rectifier."""


class CompressedSet(NamedTuple):
    size: tuple[int, int]
    """Rows and columns of the textures."""
    grids: list[NDArray[np.uint8]]
    """Blocks [rows, columns, 16] of both latent textures, the finer one first."""
    layers: list[Layer]

    @property
    def bits(self) -> float:
        """Of a texel, with the network."""
        numbers = sum(part.size for layer in self.layers for part in layer)
        stored = 8 * sum(blocks.size for blocks in self.grids) + 16 * numbers
        return stored / (self.size[0] * self.size[1])

    def decode(self) -> Floats:
        """All channels, [rows, columns, channels]."""
        rows, columns = self.size
        u, v = (np.arange(columns) + 0.5) / columns, (np.arange(rows) + 0.5) / rows
        inputs: list[Floats] = []
        for blocks in self.grids:
            height, width = (QUAD * side for side in blocks.shape[:2])
            texels = unpack_lines(blocks.reshape(-1, blocks.shape[-1]), height, width)
            nearest = texels[(v * height).astype(int)][:, (u * width).astype(int)]
            across = filtered(np.moveaxis(filtered(texels, v), 1, 0), u)
            inputs += [2 * np.moveaxis(across, 1, 0) - 1, 2 * nearest - 1]
        for octave in (1, 2):
            angles = [2 * np.pi * octave * place for place in (u * width, v * height)]
            waves = [wave(angle) for angle in angles for wave in (np.sin, np.cos)]
            grid = [np.tile(wave, (rows, 1)) for wave in waves[:2]]
            grid += [np.tile(wave[:, None], (1, columns)) for wave in waves[2:]]
            inputs.append(np.stack(grid, -1))
        x = np.concatenate(inputs, -1).astype(np.float32)
        for layer in self.layers[:-1]:
            x = x @ layer.matrix.T + layer.bias
            x = np.maximum(x, SLOPE * x)
        return np.clip(x @ self.layers[-1].matrix.T + self.layers[-1].bias, 0, 1)


def filtered(texels: Floats, places: Floats) -> Floats:
    """Linear interpolation along the first axis, which repeats."""
    count = len(texels)
    at = places * count - 0.5
    low = np.floor(at).astype(int)
    share = (at - low)[:, None, None]
    return texels[low % count] * (1 - share) + texels[(low + 1) % count] * share


def write_set(folder: Path, compressed: CompressedSet) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    sizes = {"rows": compressed.size[0], "columns": compressed.size[1], "latents": []}
    for name, blocks in zip(("fine", "coarse"), compressed.grids, strict=True):
        size = [QUAD * side for side in blocks.shape[:2]]
        data = write_ktx2(BC7, [blocks], WRITER, (size[0], size[1]))
        (folder / f"{name}.ktx2").write_bytes(data)
        sizes["latents"].append(size)
    write_network(folder / "network.bin", compressed.layers)
    (folder / "sizes.json").write_text(json.dumps(sizes) + "\n")


def read_set(folder: Path) -> CompressedSet:
    try:
        sizes = json.loads((folder / "sizes.json").read_text())
        shapes = [(int(height), int(width)) for height, width in sizes["latents"]]
        size = int(sizes["rows"]), int(sizes["columns"])
    except (OSError, ValueError, KeyError, TypeError) as failure:
        raise VerdigrisError(
            f"{folder}: no compressed material ({failure}): choose a folder that this example wrote"
        ) from None
    grids = []
    for name, (height, width) in zip(("fine", "coarse"), shapes, strict=True):
        path = folder / f"{name}.ktx2"
        shape = TextureShape(FORMATS[BC7], width, height, 1, 0)
        grids += read_ktx2(path.read_bytes(), shape, str(path))
    return CompressedSet(size, grids, read_network(folder / "network.bin"))
