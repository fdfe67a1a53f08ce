"""Bundles with other textures: ASTC for phones, plain bytes for what has neither BC7 nor ASTC.

The folder is the bundle's own with other texels, and a manifest that says so. Emission becomes half
floats, which all devices read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import BundleError
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.bundle.export.astc import QUALITY, encode_levels
from verdigris.core.bundle.files.checked_files import read_recorded, read_whole, record_of
from verdigris.core.bundle.files.ktx2 import ASTC, RGBA8, RGBA16F, write_ktx2
from verdigris.core.bundle.files.manifest import LARGEST_MANIFEST
from verdigris.core.bundle.files.manifest_parts import FileRecord
from verdigris.core.bundle.files.reference import Reference, encode_reference, exported_response
from verdigris.core.bundle.files.replace_folder import replace_folder
from verdigris.core.bundle.files.sampler_rows import make_sampler_rows
from verdigris.core.bundle.files.write import version
from verdigris.core.network.latents.quantise import BYTE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.bundle.files.stored_textures import LatentTexture

    Floats = NDArray[np.float32]

TARGETS = ("astc", "rgba8")
_FORMATS = {"astc": ASTC, "rgba8": RGBA8}
# As for the bounds of a bake: another device may be off by this much more.
_MARGIN, _LEAST_MARGIN = 1.1, 1e-4


@dataclass(frozen=True)
class ExportedTextures:
    """The result of an export."""

    folder: Path
    latents_bytes: int
    errors: Mapping[str, float]
    """Of the texels that are not the bundle's own: empty if all are."""


def export_textures(bundle: Bundle, target: str, folder: Path) -> ExportedTextures:
    """Writes the bundle with other textures; `target` is one of TARGETS."""
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
    document = json.loads(read_whole(bundle.folder, MANIFEST_FILE, LARGEST_MANIFEST))
    writer = f"verdigris {version()}"
    errors: dict[str, float] = {}
    stored = latents.levels
    if target == "astc":
        stored, decoded = encode_levels(latents.levels)
        errors = _replace_reference(bundle, replace(latents, levels=decoded), files, document)
        errors["rms_of_255"] = _rms(latents, decoded)
    _replace_texture(
        document["latents"],
        files,
        _FORMATS[target],
        write_ktx2(_FORMATS[target], stored, writer, latents.size),
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
    bundle: Bundle, latents: LatentTexture, files: dict[str, bytes], document: dict[str, Any]
) -> dict[str, float]:
    """Replaces the responses that decoders are checked with; returns how far they moved."""
    before = bundle.reference()
    exact = replace(bundle.exact_parameters(), latents=latents.exact_values())
    points = before.uv, before.lod, before.wi, before.wo, before.live
    after = replace(
        before,
        exported=exported_response(exact, before),
        sampler=None if exact.head is None else make_sampler_rows(exact, *points),
    )
    record: FileRecord = record_of(bundle.manifest.reference.file, encode_reference(after))
    files[record.file] = encode_reference(after)
    document["reference"] |= record.as_json()
    errors = {"log_mae": _log_mae(after.exported, before.exported)}
    if before.teacher is not None:
        errors |= _against_teacher(before, after, document["bounds"])
    return errors


def _against_teacher(
    before: Reference, after: Reference, bounds: dict[str, Any]
) -> dict[str, float]:
    """Errors against the material's graph before and after; widens the bound of the latter."""
    assert before.teacher is not None
    errors = [_log_mae(each.exported, before.teacher) for each in (before, after)]
    if "teacher_log_mae" in bounds:
        least = _MARGIN * errors[1] + _LEAST_MARGIN
        bounds["teacher_log_mae"] = max(bounds["teacher_log_mae"], least)
    return {"material_log_mae_before": errors[0], "material_log_mae_after": errors[1]}


def _log_mae(found: Floats, wanted: Floats) -> float:
    difference = np.log1p(found.astype(np.float64)) - np.log1p(wanted.astype(np.float64))
    return float(np.abs(difference).mean())


def _rms(latents: LatentTexture, decoded: list[Floats]) -> float:
    """Root mean square of the changes on the finest level, in steps of 255."""
    change = BYTE * decoded[0].astype(np.float64) - latents.levels[0]
    return float(np.sqrt((change**2).mean()))


def _count_bytes(document: dict[str, Any], files: Mapping[str, bytes]) -> None:
    names = ("emission", "opacity")
    maps = [len(files[document[name]["file"]]) for name in names if name in document]
    weights, latents = (len(files[document[name]["file"]]) for name in ("weights", "latents"))
    document["cost"] |= {
        "latents_bytes": latents,
        "maps_bytes": sum(maps),
        "loaded_bytes": weights + latents + sum(maps),
    }
