"""Neural texture compression: all textures of a material in two textures of BC7 and a network.

    python examples/learn texture_compression [MATERIAL …] [--full]
        [--sizes 0.5,0.25 1,0.5] [--target PSNR]

Prints PSNR and bits a texel, beside BC7 of each texture at the same bits. `--target` takes the
smallest size that reaches it. Writes a picture of the originals, the network's and BC7's. The
training is in core/compress: `verdigris compress` writes files for engines.
"""

from __future__ import annotations

import argparse
import time
from math import hypot
from typing import NamedTuple

import numpy as np
from kit import TEXTURES, Floats, beside, parser, psnr, save_image
from texture_set import Plain, TextureSet, load_textures, plain_blocks

from verdigris.core.base.device import Device
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.compress.compressor import Compressor, Effort

SMALL_SIDE, SMALL = 128, Effort(width=32, hidden=2, samples=1024, steps=600)
FULL_SIDE, FULL = 512, Effort(width=64, hidden=2, samples=16384, steps=6000)
# sides of both textures, in parts of the material's
LADDER = [(0.25, 0.25), (0.5, 0.25), (0.5, 0.5), (1, 0.5), (1, 1)]
HEADS = (
    "| material | channels | latents | bits | PSNR | BC7 at equal bits | gain | "
    "BC7: bits at equal PSNR | seconds |"
)


class Result(NamedTuple):
    texels: Floats
    decibels: float
    bits: float
    """Of a texel of the material, with the network."""


def compress(
    device: Device, textures: TextureSet, shares: tuple[float, float], effort: Effort
) -> Result:
    """Without mip levels, which cost both rivals a third more."""
    compressor = Compressor(device, [textures.texels], shares, effort)
    compressor.train()
    texels = compressor.decode()
    return Result(texels, psnr(texels, textures.texels), compressor.compressed().bits)


def main(options: argparse.Namespace, device: Device) -> None:
    side, effort = (FULL_SIDE, FULL) if options.full else (SMALL_SIDE, SMALL)
    ladder = options.sizes or (LADDER if options.full or options.target else [(0.5, 0.5)])
    gains: dict[str, list[float]] = {}
    print(HEADS + "\n" + "| --- " * (HEADS.count("|") - 1) + "|")
    for material in options.materials or (every_material() if options.full else ["copper_tray"]):
        textures = load_textures(material, side)
        rivals = plain_blocks(textures)
        whole, results = len(textures.textures), []
        for shares in smaller_than(whole, ladder):
            start = time.perf_counter()
            found = compress(device, textures, shares, effort)
            seconds = time.perf_counter() - start
            equal_decibels, equal_bits = beside_plain(rivals, found)
            size = ", ".join(f"{share:g}" for share in shares)
            gain = found.decibels - equal_decibels
            gains.setdefault(size, []).append(gain)
            channels = f"{textures.texels.shape[-1]} in {whole}"
            print(
                f"| {material} | {channels} | {size} | {found.bits:.2f} | {found.decibels:.1f} | "
                f"{equal_decibels:.1f} | {gain:+.1f} | {equal_bits:.2f} | {seconds:.1f} |",
                flush=True,
            )
            results.append(found)
            if options.target and found.decibels >= options.target:
                break
        if options.target and found.decibels < options.target:
            found = max(results, key=lambda each: each.decibels)
            print(
                f"{material}: no size reaches {options.target:g} dB; the best has "
                f"{found.decibels:.1f} dB with {found.bits:.1f} bits a texel"
            )
        rival = min(rivals, key=lambda each: abs(each.bits - found.bits))
        images = (textures.texels, found.texels, rival.texels)
        shown = [as_colours(each[..., textures.textures[0]]) for each in images]
        save_image(options.out / f"texture_compression_{material}.png", beside(*shown))
    for size, each in gains.items():
        print(f"latents {size}: median gain over BC7 at equal bits {np.median(each):+.1f} dB")


def smaller_than(whole: int, ladder: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Sizes with fewer texels than `whole` textures have, the smallest first: a larger one is no
    compression."""
    ordered = sorted(ladder, key=lambda each: hypot(*each))
    found = [each for each in ordered if hypot(*each) ** 2 < whole]
    if not found:
        raise VerdigrisError(f"sizes {ladder}: not smaller than {whole} textures: use 0.5,0.5")
    return found


def two_sides(text: str) -> tuple[float, float]:
    try:
        fine, coarse = map(float, text.split(","))
    except ValueError:
        fine = coarse = 0.0
    if not 0 < coarse <= fine <= 1:
        raise argparse.ArgumentTypeError(
            f"{text}: give two parts of the material's side, the larger first, such as 1,0.5"
        )
    return fine, coarse


def beside_plain(rivals: list[Plain], found: Result) -> tuple[float, float]:
    """PSNR of BC7 at equal bits, and its bits at equal PSNR, between the sizes that were measured.
    Of two sizes the smaller one counts where it is better."""
    best = [
        each
        for index, each in enumerate(rivals)
        if all(each.decibels > smaller.decibels for smaller in rivals[:index])
    ]
    bits, decibels = np.log([each.bits for each in best]), [each.decibels for each in best]
    return (
        float(np.interp(np.log(found.bits), bits, decibels)),
        float(np.exp(np.interp(found.decibels, decibels, bits))),
    )


def as_colours(texels: Floats) -> Floats:
    return texels if texels.shape[-1] == 3 else np.repeat(texels[..., :1], 3, -1)


def every_material() -> list[str]:
    return sorted(path.stem for path in TEXTURES.parent.glob("*.mtlx"))


def arguments() -> argparse.ArgumentParser:
    small, full = (f"textures of {side} x {side}" for side in (SMALL_SIDE, FULL_SIDE))
    result = parser(__doc__, small, full + ", all examples")
    result.add_argument("materials", nargs="*", help="names of examples, such as copper_tray")
    sizes = "of both latent textures, in parts of the material's: 1,0.25"
    result.add_argument("--sizes", nargs="+", type=two_sides, help=sizes)
    target = "PSNR; the smallest size that reaches it is taken, else the best"
    result.add_argument("--target", type=float, help=target)
    return result
