"""Compresses the images of a material, from the document to a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.errors import BundleError, why_no_folder
from verdigris.core.base.outputs import check_no_bundle
from verdigris.core.bundle.files.manifest import TEXTURES_FORMAT
from verdigris.core.bundle.files.replace_folder import check_replaceable
from verdigris.core.bundle.files.write import version
from verdigris.core.compress.choose_size import Limits, Result, choose_size, errors_by_level, psnr
from verdigris.core.compress.runtime_text import runtime_files
from verdigris.core.compress.set_files import write_set
from verdigris.core.compress.texture_set import (
    LARGEST_SIDE,
    SetTexture,
    TextureSet,
    find_textures,
    load_set,
)
from verdigris.core.material.load.provenance import source_facts
from verdigris.core.network.spec import block_bytes

if TYPE_CHECKING:
    from verdigris.core.base.device import Device
    from verdigris.core.material.load.mtlx_document import Document, Material

# Bits of a texel: BC4 for images of one channel, BC7 and BC5 for others.
_BITS, _BITS_OF_ONE = 8, 4

Floats = NDArray[np.float32]
Show = Callable[[str, float], None]


@dataclass(frozen=True)
class Compressed:
    """What was written."""

    path: Path
    result: Result
    textures: TextureSet
    errors: dict[str, Any]
    block_bytes: int
    """Of the images as block-compressed textures, with mips."""


def compress_material(
    document: Document,
    material: Material,
    path: Path,
    device: Device,
    limits: Limits,
    names: Sequence[str] = (),
    side: int = LARGEST_SIDE,
    steps: int | None = None,
    show: Show | None = None,
) -> Compressed:
    """Compresses the images of a material, or those with these names, and writes the folder."""
    _check_path(path)
    found = find_textures(document, material, names)
    textures = load_set(document, found, side)
    plain_bytes = _block_bytes(textures)
    limits = replace(limits, plain_bytes=plain_bytes)
    result = choose_size(device, textures, limits, steps, show)
    if show:
        show("measuring", 1.0)
    errors = {
        "psnr": round(result.psnr, 2),
        "psnr_by_level": [
            round(each, 2) for each in errors_by_level(result.compressed, textures.levels)
        ],
        "psnr_by_texture": {
            each.name: round(psnr_of(each, result.texels, textures.levels[0]), 2)
            for each in textures.textures
            if each.outputs
        },
    }
    source = {
        **source_facts(document, material),
        "material": material.name,
        "verdigris": version(),
        "limits": {
            name: value
            for name, value in asdict(limits).items()
            if name != "plain_bytes" and value is not None
        },
    }
    runtime = runtime_files(result.compressed, textures.textures, material.name)
    write_set(path, material.name, result.compressed, textures, runtime, source, errors)
    return Compressed(path, result, textures, errors, plain_bytes)


def _block_bytes(textures: TextureSet) -> int:
    """Of the same images in common block compression, no larger than the set."""
    rows, columns = textures.size
    return sum(
        block_bytes(
            min(each.width, columns),
            min(each.height, rows),
            _BITS_OF_ONE if len(each.channels) == 1 else _BITS,
        )
        for each in textures.textures
    )


def psnr_of(texture: SetTexture, found: Floats, wanted: Floats) -> float:
    """Of the channels of one texture."""
    return psnr(found[..., texture.outputs], wanted[..., texture.outputs])


def _check_path(path: Path) -> None:
    """Refuses, before any work, a place that cannot be written."""
    why = why_no_folder(path.parent)
    if why:
        raise BundleError(f"{why}: create it, or choose another with --output")
    check_no_bundle(path.parent, path)
    check_replaceable(path, TEXTURES_FORMAT)


def picture(done: Compressed, most_side: int = 256) -> Floats:
    """Originals, what is decoded, and their difference times four, as they are stored; a row for
    each texture."""
    rows = []
    wanted, found = done.textures.levels[0], done.result.texels
    step = max(1, -(-max(wanted.shape[:2]) // most_side))
    for texture in done.textures.textures:
        if not texture.outputs:
            continue
        shown = (texture.outputs * 3 if len(texture.outputs) < 3 else texture.outputs)[:3]
        parts = [each[::-step, ::step, shown] for each in (wanted, found)]
        rows.append(np.concatenate([*parts, np.clip(4 * np.abs(parts[0] - parts[1]), 0, 1)], 1))
    return np.ascontiguousarray(np.concatenate(rows)[..., :3], np.float32)
