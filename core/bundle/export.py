"""Exports bundles: with other textures, or the decoder for NVIDIA's RTXNS.

ASTC is for phones, and plain bytes for devices with neither BC7 nor ASTC. The folder is the
bundle's own with other texels, and a manifest that says so. Emission becomes half floats, which all
devices read.

RTXNS loads a plain perceptron, as `.bin` or JSON. The engine computes its inputs (latents, frames
and directions) and the sum of exponentials after it; docs/FORMAT.md describes both.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.array_types import Bytes, FloatArray, Floats
from verdigris.core.base.errors import BundleError
from verdigris.core.base.json_fields import load_json
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.base.text import version
from verdigris.core.bundle.files.ktx2 import ASTC, RGBA8, RGBA16F, write_ktx2
from verdigris.core.bundle.files.manifest import LARGEST_MANIFEST
from verdigris.core.bundle.files.manifest_network import network_json
from verdigris.core.bundle.files.read import read_recorded, read_whole, record_of
from verdigris.core.bundle.files.reference import (
    Reference,
    encode_reference,
    exported_response,
    log_mae,
    make_sampler_rows,
)
from verdigris.core.bundle.files.replace_folder import replace_folder
from verdigris.core.bundle.files.weights import align
from verdigris.core.network.latents.quantise import BYTE
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import NetworkSpec

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.bundle.files.stored_textures import LatentTexture


# The texel format of latents for each target.
TEXTURE_TARGETS = {"astc": ASTC, "rgba8": RGBA8}
# As for the bounds of a bake: another device may be off by this much more.
_MARGIN, _LEAST_MARGIN = 1.1, 1e-4

# ASTC: blocks of 4 x 4 texels. Quality is from 0 to 100: above this one, seconds grow and errors
# hardly fall.
SIDE, BLOCK_BYTES = 4, 16
QUALITY = 98.0
_CHANNELS = 4

# RTXNS: the file and its limits.
MAGIC = 0xA1C0DE01
MOST_LAYERS = 8
MOST_NEURONS = 128
ALIGNMENT = 64
_HALF = 0
_ROW_MAJOR = 0
_HEADER = struct.Struct("<7I4x")
_LAYER = struct.Struct("<2I2Q2I")
_END = struct.Struct("<I4xQ")


@dataclass(frozen=True)
class ExportedTextures:
    """The result of an export."""

    folder: Path
    latents_bytes: int
    errors: Mapping[str, float]
    """Errors of the re-encoded texels; empty if the bundle's own were kept."""


def export_textures(bundle: Bundle, target: str, folder: Path) -> ExportedTextures:
    """Writes the bundle with other textures; `target` is one of TEXTURE_TARGETS."""
    if folder.resolve() == bundle.folder.resolve():
        raise BundleError(f"{folder}: is the bundle itself: choose another folder")
    latents = bundle.latents().decoded()
    if latents.format != RGBA8:
        raise BundleError(
            f"{bundle.folder}: its latents are half floats, which {target} cannot hold: bake it "
            "with --set latent_format=bc7 or rgba8"
        )
    manifest = bundle.manifest
    files = {record.file: read_recorded(bundle.folder, record) for record in manifest.records}
    document = load_json(
        read_whole(bundle.folder, MANIFEST_FILE, LARGEST_MANIFEST), str(bundle.folder)
    )
    writer = f"verdigris {version()}"
    errors: dict[str, float] = {}
    stored = latents.levels
    if target == "astc":
        stored, decoded = encode_levels(latents.levels)
        changed = replace(latents, levels=decoded)
        bounds = document["bounds"]
        if bundle.transmitted:
            table = document["transmission"]["reference"]
            _replace_reference(bundle.transmitted, changed, files, table, bounds)
        errors = _replace_reference(bundle, changed, files, document["reference"], bounds)
        errors["rms_of_255"] = _rms(latents, decoded)
    _replace_texture(
        document["latents"],
        files,
        TEXTURE_TARGETS[target],
        write_ktx2(TEXTURE_TARGETS[target], stored, writer, latents.size),
    )
    if manifest.emission:
        emission = bundle.emission()
        assert emission is not None
        data = write_ktx2(RGBA16F, emission, writer)
        _replace_texture(document["emission"], files, RGBA16F, data)
    document["export"] = {
        "target": target,
        "from": manifest.latents.format,
        "verdigris": version(),
        **({"encoder": f"astcenc, quality {QUALITY:g}"} if target == "astc" else {}),
        **({"errors": errors} if errors else {}),
    }
    _count_bytes(document, files)
    files[MANIFEST_FILE] = (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()
    written = replace_folder(folder, files)
    return ExportedTextures(written, document["cost"]["latents_bytes"], errors)


def _replace_texture(
    table: dict[str, Any], files: dict[str, bytes], format_name: str, data: bytes
) -> None:
    record = record_of(table["file"], data)
    files[record.file] = data
    table |= {**record.as_json(), "format": format_name}


def _replace_reference(
    bundle: Bundle,
    latents: LatentTexture,
    files: dict[str, bytes],
    table: dict[str, Any],
    bounds: dict[str, Any],
) -> dict[str, float]:
    """Replaces the responses that the first decoder is checked with. Returns their changes."""
    before = bundle.reference()
    exact = replace(bundle.exact_parameters().sides[0], latents=latents.exact_values())
    points = before.uv, before.lod, before.wi, before.wo, before.live
    after = replace(
        before,
        exported=exported_response(exact, before),
        sampler=None if exact.head is None else make_sampler_rows(exact, *points),
    )
    record = record_of(bundle.manifest.reference.file, encode_reference(after))
    files[record.file] = encode_reference(after)
    table |= record.as_json()
    errors = {"log_mae": log_mae(after.exported, before.exported)}
    if before.teacher is not None:
        errors |= _against_teacher(before, after, bounds)
    return errors


def _against_teacher(
    before: Reference, after: Reference, bounds: dict[str, Any]
) -> dict[str, float]:
    """Errors against the material's graph before and after; widens the bound of the latter."""
    assert before.teacher is not None
    errors = [log_mae(each.exported, before.teacher) for each in (before, after)]
    if "teacher_log_mae" in bounds:
        least = _MARGIN * errors[1] + _LEAST_MARGIN
        bounds["teacher_log_mae"] = max(bounds["teacher_log_mae"], least)
    return {"material_log_mae_before": errors[0], "material_log_mae_after": errors[1]}


def _rms(latents: LatentTexture, decoded: list[Floats]) -> float:
    """Root mean square of the changes on the finest level, in steps of 255."""
    change = BYTE * decoded[0].astype(np.float64) - latents.levels[0]
    return float(np.sqrt((change**2).mean()))


def _count_bytes(document: dict[str, Any], files: Mapping[str, bytes]) -> None:
    names = ("emission", "opacity", "relief")
    maps = [len(files[document[name]["file"]]) for name in names if name in document]
    weights, latents = (len(files[document[name]["file"]]) for name in ("weights", "latents"))
    if below := document.get("transmission"):
        weights += len(files[below["weights"]["file"]])
    document["cost"] |= {
        "latents_bytes": latents,
        "maps_bytes": sum(maps),
        "loaded_bytes": weights + latents + sum(maps),
    }


class AstcEncoder:
    """Encodes bytes of four channels as blocks, and decodes them again."""

    def __init__(self) -> None:
        try:
            import astc_encoder
        except ImportError:
            raise BundleError(
                "--target astc needs the package astc-encoder-py: install it with "
                "`pip install astc-encoder-py`, or choose --target rgba8"
            ) from None
        self._package: Any = astc_encoder
        profile = astc_encoder.ASTCProfile.LDR
        config = astc_encoder.ASTCConfig(profile, SIDE, SIDE, quality=QUALITY)
        self._context = astc_encoder.ASTCContext(config)
        self._swizzle = astc_encoder.ASTCSwizzle.from_str("RGBA")

    def encode(self, level: Bytes) -> Bytes:
        """Blocks [layers, rows, columns, 16] of bytes [layers, height, width, 4]."""
        layers, height, width, _ = level.shape
        rows, columns = -(-height // SIDE), -(-width // SIDE)
        data = [self._context.compress(self._image(each), self._swizzle) for each in level]
        blocks = np.frombuffer(b"".join(data), np.uint8)
        return blocks.reshape(layers, rows, columns, BLOCK_BYTES)

    def decode(self, blocks: Bytes, height: int, width: int) -> Floats:
        """The values that a texture unit reads, from 0 to 1, in half floats. Bytes would be those
        of the mode `decode_unorm8`, which may differ by one."""
        found = []
        for layer in blocks:
            image = self._package.ASTCImage(self._package.ASTCType.F32, width, height)
            self._context.decompress(layer.tobytes(), image, self._swizzle)
            found.append(np.frombuffer(image.data, np.float32).reshape(height, width, _CHANNELS))
        return np.stack(found)

    def _image(self, texels: Bytes) -> Any:
        height, width, _ = texels.shape
        data = np.ascontiguousarray(texels).tobytes()
        return self._package.ASTCImage(self._package.ASTCType.U8, width, height, data=data)


def encode_levels(levels: Sequence[Bytes]) -> tuple[list[Bytes], list[Floats]]:
    """The blocks of each level, and the values that they decode to."""
    encoder = AstcEncoder()
    blocks = [encoder.encode(level) for level in levels]
    decoded = [
        encoder.decode(each, *level.shape[1:3]) for each, level in zip(blocks, levels, strict=True)
    ]
    return blocks, decoded


def rtxns_bin(parameters: Parameters, name: str) -> bytes:
    """The bytes of a `.bin` with the decoder's layers."""
    check_fits(parameters.spec, name)
    return layers_bin(
        [(parameters.weights(layer), parameters.bias(layer)) for layer in parameters.spec.layers]
    )


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
        "verdigris": {"network": network_json(spec), "frames": _numbers(parameters.frames())},
    }
    return (json.dumps(document) + "\n").encode()


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


def layers_bin(layers: Sequence[tuple[FloatArray, FloatArray]]) -> bytes:
    """The bytes of a `.bin` with matrices [outputs, inputs] and biases. Rows have no padding;
    matrices and biases begin at multiples of 64."""
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


def _numbers(values: FloatArray) -> list[float]:
    """Half floats row by row; JSON numbers hold them exactly."""
    return [float(value) for value in values.astype(np.float16).ravel()]


# Functions that write the decoder for RTXNS, and suffixes of their files.
RTXNS_TARGETS = {"rtxns-bin": (rtxns_bin, ".bin"), "rtxns-json": (rtxns_json, ".json")}
