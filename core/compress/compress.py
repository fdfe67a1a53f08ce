"""Compresses the images of a material, from the document to a folder: at the smallest size of the
latent textures that reaches a target, within a limit of bytes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from verdigris.core.base.array_types import Floats
from verdigris.core.base.errors import BundleError, SettingsError, why_no_folder
from verdigris.core.base.outputs import check_no_bundle
from verdigris.core.base.text import format_bytes, version
from verdigris.core.bundle.files.manifest import TEXTURES_FORMAT
from verdigris.core.bundle.files.replace_folder import check_replaceable
from verdigris.core.compress.compressed_set import INPUTS, CompressedSet, level_sizes, whole_blocks
from verdigris.core.compress.compressor import Compressor, Effort, channel_weights
from verdigris.core.compress.runtime_text import runtime_files
from verdigris.core.compress.set_files import write_set
from verdigris.core.compress.texture_set import LARGEST_SIDE, TextureSet, find_textures, load_set
from verdigris.core.material.load.provenance import source_facts
from verdigris.core.network.latents import bc7
from verdigris.core.network.spec import block_bytes

if TYPE_CHECKING:
    from verdigris.core.base.device import Device
    from verdigris.core.material.load.mtlx_document import Document, Material

# Bits of a texel: BC4 for images of one channel, BC7 and BC5 for others.
_BITS, _BITS_OF_ONE = 8, 4

Show = Callable[[str, float], None]
"""Shows the current work, and the part of it that is done."""
Shares = tuple[float, float]
"""Sides of both latent textures, in those of the textures."""

# From the smallest on.
SIZES: tuple[Shares, ...] = (
    *((0.125, 0.125), (0.25, 0.125), (0.25, 0.25), (0.5, 0.25)),
    *((0.5, 0.5), (1, 0.5), (1, 1)),
)
DEFAULT: Shares = (1, 0.5)
# On a CPU, and on a GPU.
QUICK = Effort(width=32, hidden=2, samples=1024, steps=800)
FULL = Effort(width=64, hidden=2, samples=16384, steps=6000)
# Samples of a step grow with the textures, so that a texel is visited about as often.
_VISITS = {QUICK.steps: 12, FULL.steps: 300}
_MOST_SAMPLES = 1 << 17
# A size is given up if it is this far below the target, in dB, after this part of the steps, before
# its blocks are rounded.
_HOPELESS, _LOOKS_AT = 3.0, 0.4


@dataclass(frozen=True)
class Limits:
    """What the result should fulfil."""

    target: float | None = None
    """The least PSNR in dB."""
    most_bytes: int | None = None
    plain_bytes: int | None = None
    """Bytes of the same images in plain blocks. Without the other limits, a set takes fewer."""


class Result(NamedTuple):
    """A set of one size."""

    compressed: CompressedSet
    texels: Floats
    """The finest level as the device decodes it."""
    shares: Shares
    psnr: float
    """PSNR of the finest level in dB, for numbers from 0 to 1."""
    seconds: float
    reached: bool
    """Whether the target is reached, if there is one."""


@dataclass(frozen=True)
class Compressed:
    """A set that was written, with what it was made of."""

    path: Path
    result: Result
    textures: TextureSet
    errors: dict[str, Any]
    block_bytes: int
    """Bytes of the images as block-compressed textures, with mip levels."""


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
    textures = load_set(document, find_textures(document, material, names), side)
    plain_bytes = _block_bytes(textures)
    result = choose_size(device, textures, replace(limits, plain_bytes=plain_bytes), steps, show)
    if show:
        show("measuring", 1.0)
    errors = _errors_of(result, textures)
    wishes = {"target": limits.target, "most_bytes": limits.most_bytes}
    source = {
        **source_facts(document, material),
        "material": material.name,
        "verdigris": version(),
        "limits": {name: value for name, value in wishes.items() if value is not None},
    }
    runtime = runtime_files(result.compressed, textures.textures, material.name)
    write_set(path, material.name, result.compressed, textures, runtime, source, errors)
    return Compressed(path, result, textures, errors, plain_bytes)


def _check_path(path: Path) -> None:
    """Refuses a folder that cannot be written, before any work."""
    why = why_no_folder(path.parent)
    if why:
        raise BundleError(f"{why}: create it, or choose another with --output")
    check_no_bundle(path.parent, path)
    check_replaceable(path, TEXTURES_FORMAT)


def _block_bytes(textures: TextureSet) -> int:
    """Bytes of the same images in common block compression, no larger than the set."""
    rows, columns = textures.size
    return sum(
        block_bytes(
            min(each.width, columns),
            min(each.height, rows),
            _BITS_OF_ONE if len(each.channels) == 1 else _BITS,
        )
        for each in textures.textures
    )


def _errors_of(result: Result, textures: TextureSet) -> dict[str, Any]:
    """PSNR of the whole, of each mip level as numpy decodes it, and of each texture."""
    finest = textures.levels[0]
    of_levels = [
        psnr(result.compressed.decode(number), level)
        for number, level in enumerate(textures.levels)
    ]
    of_textures = {
        each.name: psnr(result.texels[..., each.outputs], finest[..., each.outputs])
        for each in textures.textures
        if each.outputs
    }
    return {
        "psnr": round(result.psnr, 2),
        "psnr_by_level": [round(value, 2) for value in of_levels],
        "psnr_by_texture": {name: round(value, 2) for name, value in of_textures.items()},
    }


def choose_size(
    device: Device,
    textures: TextureSet,
    limits: Limits,
    steps: int | None = None,
    show: Show | None = None,
) -> Result:
    """With a target, compresses at each size from the smallest on, and takes the first that reaches
    it; if none does, the best. With only a limit of bytes, takes the largest size within it, and
    without limits the usual size."""
    rows, columns = textures.size
    effort = effort_for(device.is_software, rows * columns, steps)
    fitting = sizes_within(limits.most_bytes, textures, effort)
    if limits.target is None:
        usual = usual_size(limits.plain_bytes, textures, effort)
        fitting = fitting[-1:] if limits.most_bytes else [usual]
    best: Result | None = None
    for number, shares in enumerate(fitting):
        is_last = number == len(fitting) - 1
        found = _compress(device, textures, shares, effort, limits.target, is_last, show)
        if found is None:
            continue
        if best is None or found.psnr > best.psnr:
            best = found
        if best.reached:
            break
    assert best is not None
    return best


def effort_for(is_software: bool, texels: int, steps: int | None) -> Effort:
    """An effort that takes a minute or two on the device."""
    effort = QUICK if is_software else FULL
    samples = round(texels * _VISITS[effort.steps] / effort.steps)
    samples = min(max(samples, effort.samples), _MOST_SAMPLES)
    return replace(effort, samples=samples, steps=steps or effort.steps)


def sizes_within(most: int | None, textures: TextureSet, effort: Effort) -> list[Shares]:
    """Sizes that take at most so many bytes, the smallest first."""
    # small textures have the same blocks at several sizes
    apart = {
        tuple(whole_blocks(share, *textures.size) for share in each): each for each in SIZES[::-1]
    }
    bytes_of = {each: forecast(textures, each, effort) for each in [*apart.values()][::-1]}
    found = [each for each, count in bytes_of.items() if most is None or count <= most]
    if not found:
        least = bytes_of[SIZES[0]]
        raise SettingsError(
            f"{format_bytes(most or 0)} are too few: the smallest set of these textures takes "
            f"{format_bytes(least)}: use --bytes {-(-least // 1024)}K or a smaller --size"
        )
    return found


def usual_size(plain_bytes: int | None, textures: TextureSet, effort: Effort) -> Shares:
    """The size of a set without limits; a smaller one where plain blocks take no more bytes."""
    if plain_bytes is None:
        return DEFAULT
    sizes = SIZES[: SIZES.index(DEFAULT) + 1]
    smaller = [each for each in sizes if forecast(textures, each, effort) < plain_bytes]
    return smaller[-1] if smaller else sizes[0]


def forecast(textures: TextureSet, shares: Shares, effort: Effort) -> int:
    """Bytes of a set: the blocks of all levels, and the network."""
    rows, columns, channels = textures.levels[0].shape
    widths = [INPUTS, *[effort.width] * effort.hidden, channels]
    count: int = 2 * sum((inputs + 1) * outputs for inputs, outputs in pairwise(widths))
    for share in shares:
        sizes = level_sizes(*whole_blocks(share, rows, columns))[: len(textures.levels)]
        count += sum(
            bc7.BLOCK_BYTES * bc7.blocks_of(height) * bc7.blocks_of(width)
            for height, width in sizes
        )
    return count


def _compress(
    device: Device,
    textures: TextureSet,
    shares: Shares,
    effort: Effort,
    target: float | None,
    is_last: bool,
    show: Show | None,
) -> Result | None:
    """Compresses at one size. None if the target is out of reach early in the training."""
    begun = time.monotonic()
    what = describe_size(shares)
    weights = channel_weights(textures.levels[0])
    compressor = Compressor(device, textures.levels, shares, effort, weights)

    def tell(done: float) -> None:
        if show:
            show(what, done)

    step = compressor.train(0, _LOOKS_AT, tell)
    if target is not None and not is_last:
        early = psnr(compressor.decode(), textures.levels[0])
        if early < target - _HOPELESS:
            return None
    compressor.train(step, 1.0, tell)
    texels = compressor.decode()
    found = psnr(texels, textures.levels[0])
    return Result(
        compressor.compressed(),
        texels,
        shares,
        found,
        time.monotonic() - begun,
        target is None or found >= target,
    )


def psnr(found: Floats, wanted: Floats) -> float:
    """Peak signal-to-noise ratio in decibels, for numbers from 0 to 1."""
    return float(-10 * np.log10(np.mean((found - wanted) ** 2, dtype=np.float64) + 1e-12))


def describe_size(shares: Shares) -> str:
    """The sides of both latent textures, for people."""
    return " and ".join(f"{share:g}" for share in shares) + " of the side"


def picture(done: Compressed, most_side: int = 256) -> Floats:
    """A row for each texture: the original, the decoded one, and four times their difference, in
    the numbers that files store."""
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
