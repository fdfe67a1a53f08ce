"""Files of a compressed set, the folder NAME.vdt: two textures of BC7 in KTX 2.0, the network,
shaders, values to check a decoder, and a manifest. docs/COMPRESS.md describes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import Doubles
from verdigris.core.base.errors import BundleError
from verdigris.core.base.json_fields import Fields, parse_json
from verdigris.core.base.outputs import MANIFEST_FILE, WEIGHTS_FILE, kind_of
from verdigris.core.base.text import version
from verdigris.core.bundle.files.ktx2 import BC7, FORMATS, TextureShape, write_ktx2
from verdigris.core.bundle.files.manifest import LARGEST_MANIFEST, TEXTURES_FORMAT
from verdigris.core.bundle.files.manifest_parts import RUNTIME_FOLDER, FileRecord, parse_record
from verdigris.core.bundle.files.read import read_recorded, read_texture, read_whole, record_of
from verdigris.core.bundle.files.replace_folder import replace_folder
from verdigris.core.compress.compressed_set import INPUTS, CompressedSet, Latents, level_sizes
from verdigris.core.compress.mlp import SLOPE, Layer
from verdigris.core.compress.texture_set import (
    MOST_CHANNELS,
    SetTexture,
    TextureSet,
    describe,
    parse_texture,
)

VERSION = "1.0"
SUFFIX = ".vdt"
REFERENCE_FILE = "reference.json"
NAMES = ("fine", "coarse")
_ROWS = 512
# Largest allowed difference of a decoder from the reference, which is in double precision.
BOUND = 2e-3
_LARGEST_SIDE, _MOST_LEVELS = 16384, 15
_MOST_WIDTH, _MOST_HIDDEN = 128, 7
_LARGEST_FILE = 2 << 30


@dataclass(frozen=True)
class Reference:
    """Places, and the channels that the stored numbers give there."""

    uv: Doubles
    level: NDArray[np.int64]
    values: Doubles


@dataclass(frozen=True)
class StoredSet:
    """A folder with a checked manifest."""

    folder: Path
    manifest: Mapping[str, Any]
    compressed: CompressedSet
    textures: tuple[SetTexture, ...]
    runtime: tuple[FileRecord, ...]
    """The shaders."""
    reference: Reference = field(repr=False)

    @property
    def name(self) -> str:
        return str(self.manifest["name"])


def is_texture_set(path: Path) -> bool:
    return kind_of(path / MANIFEST_FILE) == TEXTURES_FORMAT


def make_reference(compressed: CompressedSet, count: int = _ROWS) -> Reference:
    """Values at random places in double precision: half of them on the finest level, the others on
    all levels."""
    random = np.random.default_rng(7)
    level = np.where(np.arange(count) % 2, 0, random.integers(0, compressed.levels, count)).astype(
        np.int64
    )
    sizes = np.array(level_sizes(*compressed.size))[level][:, ::-1]
    texel = np.floor(random.random((count, 2)) * sizes)
    uv = (texel + 0.5) / sizes
    uv = np.round(uv, 9)
    return Reference(uv, level, compressed.evaluate_levels(uv, level).astype(np.float64))


def write_set(
    path: Path,
    name: str,
    compressed: CompressedSet,
    textures: TextureSet,
    runtime: Mapping[str, bytes],
    source: Mapping[str, Any],
    errors: Mapping[str, Any],
) -> Path:
    """Writes the folder as a whole, and replaces an older set."""
    writer = f"verdigris {version()}"
    reference = make_reference(compressed)
    files: dict[str, bytes] = {WEIGHTS_FILE: pack_weights(compressed.layers)}
    latents = []
    for use, each in zip(NAMES, compressed.latents, strict=True):
        data = write_ktx2(BC7, each.levels, writer, (each.rows, each.columns))
        files[f"{use}.ktx2"] = data
        latents.append(
            {
                **record_of(f"{use}.ktx2", data).as_json(),
                "width": each.columns,
                "height": each.rows,
                "levels": len(each.levels),
                "format": BC7,
            }
        )
    rows = [
        [*map(float, uv), int(level), *(round(float(value), 7) for value in values)]
        for uv, level, values in zip(reference.uv, reference.level, reference.values, strict=True)
    ]
    # an engine loads the weights and the latents
    loaded_bytes = sum(map(len, files.values()))
    files[REFERENCE_FILE] = json.dumps({"rows": rows}).encode()
    files |= {f"{RUNTIME_FOLDER}{file}": data for file, data in runtime.items()}
    manifest = {
        "format": TEXTURES_FORMAT,
        "version": VERSION,
        "name": name,
        "width": compressed.size[1],
        "height": compressed.size[0],
        "levels": compressed.levels,
        "channels": compressed.channels,
        "textures": [describe(each) for each in textures.textures],
        "latents": latents,
        "network": {
            **record_of(WEIGHTS_FILE, files[WEIGHTS_FILE]).as_json(),
            "inputs": INPUTS,
            "width": len(compressed.layers[0].bias),
            "hidden": len(compressed.layers) - 1,
            "slope": SLOPE,
        },
        "reference": {
            **record_of(REFERENCE_FILE, files[REFERENCE_FILE]).as_json(),
            "count": len(rows),
            "bound": BOUND,
        },
        "runtime": [
            record_of(file, data).as_json()
            for file, data in files.items()
            if file.startswith(RUNTIME_FOLDER)
        ],
        "errors": errors,
        "cost": {"loaded_bytes": loaded_bytes},
        "source": source,
    }
    files[MANIFEST_FILE] = (json.dumps(manifest, indent=1) + "\n").encode()
    return replace_folder(path, files, TEXTURES_FORMAT)


def pack_weights(layers: Sequence[Layer]) -> bytes:
    """The network in half floats: each matrix row by row, then its biases. Only the end is
    padded."""
    numbers = np.concatenate([part.ravel() for layer in layers for part in layer]).astype("<f2")
    return numbers.tobytes() + bytes(-numbers.nbytes % 4)


def open_set(folder: Path) -> StoredSet:
    """Opens a folder and checks its manifest, lengths and digests."""
    if not (folder / MANIFEST_FILE).is_file():
        raise BundleError(f"{folder} is not a compressed set: name a folder NAME{SUFFIX}")
    place = str(folder / MANIFEST_FILE)
    fields = parse_json(read_whole(folder, MANIFEST_FILE, LARGEST_MANIFEST), place)
    fields.require(
        fields.text("format") == TEXTURES_FORMAT, "format", f"a set has {TEXTURES_FORMAT!r}"
    )
    major = fields.text("version").partition(".")[0]
    fields.require(
        major == VERSION.partition(".")[0], "version", f"this program reads {VERSION}: update it"
    )
    fields.text("name")
    size = fields.whole("height", 1, _LARGEST_SIDE), fields.whole("width", 1, _LARGEST_SIDE)
    levels = fields.whole("levels", 1, _MOST_LEVELS)
    channels = fields.whole("channels", 1, MOST_CHANNELS)
    latents = [_read_latents(folder, each) for each in fields.tables("latents", len(NAMES))]
    fields.require(len(latents) == len(NAMES), "latents", "it must have two")
    network = fields.table("network")
    network.require(network.whole("inputs", 1, 1024) == INPUTS, "inputs", f"it must be {INPUTS}")
    network.require(network.number("slope") == SLOPE, "slope", f"it must be {SLOPE}")
    shapes = [
        *[network.whole("width", 1, _MOST_WIDTH)] * network.whole("hidden", 1, _MOST_HIDDEN),
        channels,
    ]
    layers = _read_layers(folder, network, [INPUTS, *shapes])
    record = fields.table("reference")
    runtime = [_record(each) for each in fields.tables("runtime", 64)]
    for each in runtime:
        read_recorded(folder, each)
    compressed = CompressedSet(size, levels, latents, layers)
    reference = _read_reference(folder, record, compressed)
    textures = tuple(parse_texture(each, channels) for each in fields.tables("textures", 64))
    return StoredSet(folder, fields.values, compressed, textures, tuple(runtime), reference)


def _record(fields: Fields) -> FileRecord:
    folder = RUNTIME_FOLDER if "/" in fields.text("file") else ""
    return parse_record(fields, _LARGEST_FILE, folder)


def _read_latents(folder: Path, fields: Fields) -> Latents:
    rows, columns = (fields.whole(side, 4, _LARGEST_SIDE) for side in ("height", "width"))
    count = fields.whole("levels", 1, _MOST_LEVELS)
    fields.require(fields.text("format") == BC7, "format", f"it must be {BC7}")
    most = len(level_sizes(rows, columns))
    fields.require(count <= most, "levels", f"a texture of this size has at most {most}")
    shape = TextureShape(FORMATS[BC7], columns, rows, count, 0)
    return Latents(rows, columns, read_texture(folder, _record(fields), shape))


def _read_layers(folder: Path, fields: Fields, widths: Sequence[int]) -> list[Layer]:
    data = read_recorded(folder, _record(fields))
    needed = sum((inputs + 1) * outputs for inputs, outputs in pairwise(widths))
    fits = len(data) == 2 * (needed + needed % 2)
    fields.require(fits, "bytes", f"the network has {needed} numbers")
    numbers = np.frombuffer(data, "<f2").astype(np.float32)
    if not np.isfinite(numbers).all():
        raise BundleError(f"{folder / WEIGHTS_FILE}: holds numbers that are not finite")
    layers, at = [], 0
    for inputs, outputs in pairwise(widths):
        matrix, bias = np.split(numbers[at : at + (inputs + 1) * outputs], [inputs * outputs])
        layers.append(Layer(matrix.reshape(outputs, inputs), bias))
        at += (inputs + 1) * outputs
    return layers


def _read_reference(folder: Path, fields: Fields, compressed: CompressedSet) -> Reference:
    data = read_recorded(folder, _record(fields))
    count = fields.whole("count", 1, 1 << 14)
    file = parse_json(data, str(folder / REFERENCE_FILE))
    rows = file.numbers("rows", count, 3 + compressed.channels)
    places = "each row must begin with u and v from 0 to 1, and a level of the set"
    file.require(bool(((rows[:, :2] >= 0) & (rows[:, :2] <= 1)).all()), "rows", places)
    file.require(bool(np.isin(rows[:, 2], np.arange(compressed.levels)).all()), "rows", places)
    return Reference(rows[:, :2], rows[:, 2].astype(np.int64), rows[:, 3:])
