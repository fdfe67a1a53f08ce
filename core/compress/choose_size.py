"""Chooses the size of the latent textures: the smallest that reaches a target, within a limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.text import format_bytes
from verdigris.core.compress.blocks import whole_blocks
from verdigris.core.compress.compressed_set import INPUTS, CompressedSet
from verdigris.core.compress.compressor import Compressor, Effort, channel_weights
from verdigris.core.compress.resampling import level_sizes
from verdigris.core.network.latents import bc7

if TYPE_CHECKING:
    from verdigris.core.base.device import Device
    from verdigris.core.compress.texture_set import TextureSet

Floats = NDArray[np.float32]
Shares = tuple[float, float]

# Sides of both latent textures in those of the textures, by size.
SIZES: tuple[Shares, ...] = (
    *((0.125, 0.125), (0.25, 0.125), (0.25, 0.25), (0.5, 0.25)),
    *((0.5, 0.5), (1, 0.5), (1, 1)),
)
DEFAULT: Shares = (1, 0.5)
# On a processor, and on a card.
QUICK = Effort(width=32, hidden=2, samples=1024, steps=800)
FULL = Effort(width=64, hidden=2, samples=16384, steps=6000)
# Samples of a step grow with the textures, so that a texel is visited about as often.
_VISITS = {QUICK.steps: 12, FULL.steps: 300}
_MOST_SAMPLES = 1 << 17
# A size is given up where it is this far below the target, in dB, before its blocks are rounded.
_HOPELESS, _LOOKS_AT = 3.0, 0.4

Show = Callable[[str, float], None]


@dataclass(frozen=True)
class Limits:
    target: float | None = None
    """PSNR in dB."""
    most_bytes: int | None = None
    plain_bytes: int | None = None
    """Of the same images in plain blocks. Without the other limits a set takes fewer."""


class Result(NamedTuple):
    compressed: CompressedSet
    texels: Floats
    """The finest level as the device decodes it."""
    shares: Shares
    psnr: float
    """Of the finest level, in dB, for numbers from 0 to 1."""
    seconds: float
    reached: bool
    """Whether the target is reached, if there is one."""


def effort_for(is_software: bool, texels: int, steps: int | None) -> Effort:
    """What a device can do in a minute or two."""
    effort = QUICK if is_software else FULL
    samples = round(texels * _VISITS[effort.steps] / effort.steps)
    samples = min(max(samples, effort.samples), _MOST_SAMPLES)
    return replace(effort, samples=samples, steps=steps or effort.steps)


def choose_size(
    device: Device,
    textures: TextureSet,
    limits: Limits,
    steps: int | None = None,
    show: Show | None = None,
) -> Result:
    """Compresses at sizes from the smallest, and takes the first that reaches the target; without a
    target, at the largest within the limit. Where none reaches it, the best is taken. Without
    limits it has the usual size."""
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


def sizes_within(most: int | None, textures: TextureSet, effort: Effort) -> list[Shares]:
    """Sizes of at most so many bytes, the smallest first."""
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
    """Bytes of a set: blocks of all levels, and the network."""
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
    """None for a size that is given up."""
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


def describe_size(shares: Shares) -> str:
    return " and ".join(f"{share:g}" for share in shares) + " of the side"


def psnr(found: Floats, wanted: Floats) -> float:
    """Peak signal-to-noise ratio in decibels, for numbers from 0 to 1."""
    return float(-10 * np.log10(np.mean((found - wanted) ** 2, dtype=np.float64) + 1e-12))


def errors_by_level(compressed: CompressedSet, levels: Sequence[Floats]) -> list[float]:
    """PSNR of each mip level, as numpy decodes it."""
    return [psnr(compressed.decode(number), level) for number, level in enumerate(levels)]
