"""Verifies a compressed set: decoders must give its reference values."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.base.kernels import Kernels, Source
from verdigris.core.bundle.files.ktx2 import BC7, RGBA8
from verdigris.core.bundle.files.manifest_parts import RUNTIME_FOLDER
from verdigris.core.bundle.files.read import digest
from verdigris.core.bundle.runtime.device_materials import has_blocks, upload_texture
from verdigris.core.bundle.verify.rows import Row, largest
from verdigris.core.bundle.verify.verify import Verification
from verdigris.core.compress.compressed_set import CompressedSet, Latents
from verdigris.core.compress.mlp import read
from verdigris.core.compress.runtime_text import ENTRY_POINT, SLANG_FILE, slang_files
from verdigris.core.compress.set_files import BOUND, StoredSet, pack_weights

if TYPE_CHECKING:
    import slangpy as spy

    from verdigris.core.base.device import Device


def verify_set(stored: StoredSet, device: Device | None) -> Verification:
    """Compares numpy in single precision, and the shader on a device, with the reference."""
    reference = stored.reference
    uv, level = reference.uv.astype(np.float32), reference.level
    found: dict[str, FloatArray] = {"numpy": stored.compressed.evaluate_levels(uv, level)}
    notes = []
    own = slang_files(stored.compressed, stored.textures)
    if device is not None:
        found[f"shader on {device}"] = _evaluate_on(device, own, stored.compressed, uv, level)
    shipped = {each.file: each for each in stored.runtime}
    other = [
        name
        for name, data in own.items()
        if f"{RUNTIME_FOLDER}{name}" not in shipped
        or shipped[f"{RUNTIME_FOLDER}{name}"].sha256 != digest(data)
    ]
    if other:
        files = ", ".join(other)
        notes.append(f"not checked, because this Verdigris writes other files: {files}")
    rows = []
    for name, values in found.items():
        difference = np.abs(values.astype(np.float64) - reference.values)
        difference[~np.isfinite(values)] = np.inf
        what = f"{name} - reference"
        rows.append(Row(what, difference.size, "absolute", largest(difference), BOUND))
    return Verification(str(stored.folder), tuple(rows), tuple(notes))


def _evaluate_on(
    device: Device,
    files: dict[str, bytes],
    compressed: CompressedSet,
    uv: FloatArray,
    level: NDArray[np.int64],
) -> FloatArray:
    """All channels at places of several levels, evaluated with the shader of a set in these
    files."""
    options = dict(device.compiler_options)
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).write_bytes(data)
        options["include_paths"] = [Path(folder)]
        session = device.gpu.create_slang_session(compiler_options=options)
        kernel = Kernels(device.gpu, session).get([Source(Path(SLANG_FILE).stem)], ENTRY_POINT)
    queries = np.zeros((len(uv), 4), np.float32)
    queries[:, :2], queries[:, 2] = uv, level
    answers = device.new_buffer(np.zeros((len(uv), compressed.channels), np.float32))
    weights = np.frombuffer(pack_weights(compressed.layers), np.uint32)
    fine, coarse = (_upload(device, each) for each in compressed.latents)
    variables = {
        "neuralSetFine": fine,
        "neuralSetCoarse": coarse,
        "neuralSetWeights": device.new_buffer(weights),
        "neuralSetQueries": device.new_buffer(queries, queries.itemsize * queries.shape[-1]),
        "neuralSetAnswers": answers,
    }
    device.dispatch(kernel, len(uv), variables)
    return read(answers, len(uv), compressed.channels)


def _upload(device: Device, latents: Latents) -> spy.Texture:
    if has_blocks(device):
        return upload_texture(device, BC7, latents.levels, (latents.rows, latents.columns))
    texels = [latents.texels(level) for level in range(len(latents.levels))]
    return upload_texture(device, RGBA8, [np.rint(255 * each).astype(np.uint8) for each in texels])
