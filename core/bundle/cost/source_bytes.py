"""Bytes of the images that a material reads: what a bundle replaces."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from verdigris.core.base.text import format_bytes
from verdigris.core.material.load.provenance import texture_files
from verdigris.core.network.spec import block_bytes

if TYPE_CHECKING:
    from verdigris.core.material.load.mtlx_document import Document, Material

# Texels of all mip levels, relative to the finest.
MIPS = 4 / 3
_KIND_BYTES = {"uint8": 1, "uint16": 2, "half": 2, "float": 4}
# Bits of a texel in common block compression: BC7 for colours, BC6H for colours in half floats, BC5
# for normals; BC4 for images with one channel.
_BITS, _BITS_OF_ONE = 8, 4


@dataclass(frozen=True)
class SourceBytes:
    """Sizes of all images of a material, each counted once."""

    images: int = 0
    """Number of images; a set of UDIM tiles is one."""
    files: int = 0
    """Bytes of the files on disk (PNG, JPEG, EXR)."""
    plain: int = 0
    """Bytes on a GPU with mips, in the channels and bits of the files."""
    compressed: int = 0
    """Bytes on a GPU with mips, block-compressed: 4 bits a texel for images with one channel (BC4),
    8 for all others (BC7, BC5, BC6H)."""


def source_bytes(document: Document, material: Material) -> SourceBytes:
    """The sizes of a material's images, from their headers."""
    from verdigris.core.material.report import describe

    textures = [
        facts
        for report in describe(document, material.name, probe=False)
        for facts in report.textures
        if not facts.problem
    ]
    plain, compressed = images_on_gpu(map(asdict, textures))
    found = {facts.file for facts in textures}
    files = 0
    for path in texture_files(document, material):
        with contextlib.suppress(OSError):
            files += path.stat().st_size
    return SourceBytes(len(found), files, plain, compressed)


def images_on_gpu(textures: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
    """Bytes of images as they are, and block-compressed, from the `textures` of a report."""
    plain = compressed = 0
    for facts in {each["file"]: each for each in textures}.values():
        tiles = facts["tiles"] - facts["tiles_left_out"]
        width, height, channels = facts["width"], facts["height"], facts["channels"]
        texels = round(tiles * width * height * MIPS)
        plain += texels * channels * _KIND_BYTES.get(facts["kind"], 1)
        bits = _BITS_OF_ONE if channels == 1 else _BITS
        compressed += tiles * block_bytes(width, height, bits)
    return plain, compressed


def describe_larger(bundle: int, sources: int) -> str:
    """A sentence on a bundle that is larger than the images that it replaces; empty otherwise."""
    if not sources or bundle <= sources:
        return ""
    return (
        f"the bundle is larger than the block-compressed images that it replaces: "
        f"{format_bytes(bundle)}, and {format_bytes(sources)}"
    )
