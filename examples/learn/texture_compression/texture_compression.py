"""Neural texture compression: all textures of a material in two textures of BC7 and a network.

    python examples/learn texture_compression [MATERIAL …] [--full]
        [--sizes 0.5,0.25 1,0.5] [--target PSNR]

Prints PSNR and bits a texel, beside BC7 of each texture at the same bits. `--target` takes the
smallest size that reaches it. Writes the last size of each material as files, and a picture of
the originals, the network's and BC7's.
"""

from __future__ import annotations

import argparse
import time
from math import hypot
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from blocks import QUAD, lines_of, pack_lines, unpack_lines, whole_blocks
from compressed_set import CompressedSet, write_set
from kit import TEXTURES, Adam, Floats, Program, beside, parser, psnr, read, resized, save_image
from mlp import Layer, Network, first_layers, network_defines
from numpy.typing import NDArray
from texture_set import Plain, TextureSet, load_textures, plain_blocks

from verdigris.core.base.device import Device
from verdigris.core.base.errors import VerdigrisError

# inputs of the network: two reads of four channels from each of two textures, and eight numbers
# for the place
INPUTS = 2 * 2 * QUAD + 8
SMALL = {"side": 128, "width": 32, "hidden": 2, "samples": 1024, "steps": 600}
FULL = {"side": 512, "width": 64, "hidden": 2, "samples": 16384, "steps": 6000}
# sides of both textures, in parts of the material's
LADDER = [(0.25, 0.25), (0.5, 0.25), (0.5, 0.5), (1, 0.5), (1, 1)]
NETWORK_RATE, LATENT_RATE = 3e-3, 2e-2
# shares of the steps from which indices are rounded, and from which blocks rest
ROUNDED_FROM, FROZEN_FROM = 0.4, 0.85


HEADS = (
    "| material | channels | latents | bits | PSNR | BC7 at equal bits | gain | "
    "BC7: bits at equal PSNR | seconds |"
)


class Result(NamedTuple):
    texels: Floats
    decibels: float
    bits: float
    """Of a texel of the material, with the network."""
    compressed: CompressedSet


class Grid:
    """A texture of BC7 while it is trained: ends of blocks, and shares of texels between them."""

    def __init__(self, program: Program, texels: Floats) -> None:
        self._program = program
        rows, columns = self._size = texels.shape[:2]
        ends, shares = lines_of(texels)
        self._adam = Adam(program, np.concatenate([ends.ravel(), shares.ravel()]))
        self._texels = program.zeros(*texels.shape)
        self.arguments = {
            "size": (columns, rows),
            "values": self._adam.values,
            "gradients": self._adam.gradients,
            "texels": self._texels,
            "byTexels": program.zeros(*texels.shape),
        }
        self.expand(is_rounded=False)

    def expand(self, is_rounded: bool) -> None:
        """Makes texels of the values."""
        rows, columns = self._size
        self._program.run(
            "expandBlocks", rows * columns, grid=self.arguments, isRounded=int(is_rounded)
        )

    def step(self, rate: float) -> None:
        rows, columns = self._size
        self._program.run("collectGradients", rows * columns // QUAD**2, grid=self.arguments)
        self._adam.step(rate)

    def pack(self) -> NDArray[np.uint8]:
        """The blocks of BC7, [rows, columns, 16]. From here on texels are what blocks decode to."""
        rows, columns = self._size
        values = np.clip(read(self._adam.values, self._adam.count), 0, 1)
        ends, shares = np.split(values, [rows * columns // 2])
        blocks = pack_lines(ends.reshape(-1, 2, QUAD), shares.reshape(rows, columns))
        self._texels.copy_from_numpy(unpack_lines(blocks, rows, columns).ravel())
        return blocks.reshape(rows // QUAD, columns // QUAD, -1)


class Compressor:
    """The textures of a material on a device, and the latents and network that stand for them."""

    def __init__(
        self,
        device: Device,
        textures: TextureSet,
        shares: tuple[float, float],
        width: int,
        hidden: int,
        samples: int,
    ) -> None:
        rows, columns, channels = textures.texels.shape
        self._size, self._samples = (columns, rows), samples
        layers = first_layers([INPUTS, *[width] * hidden, channels])
        # the network starts with the mean of each channel
        layers[-1].bias[:] = textures.texels.mean((0, 1))
        layers[-1].matrix[:] *= 0.1
        self._program = Program(
            device, Path(__file__).with_suffix(".slang"), **network_defines(device, layers)
        )
        self._network = Network(self._program, layers, samples)
        self._textures = self._program.buffer(textures.texels)
        parts = principal_components(textures.texels, 2 * QUAD)
        # each texture has its own line in a block, so the two largest components are apart
        self._grids = [
            Grid(self._program, resized(parts[..., index::2], *whole_blocks(share, rows, columns)))
            for index, share in enumerate(shares)
        ]
        self._blocks: list[NDArray[np.uint8]] = []
        self._latents = dict(
            zip(("fine", "coarse"), (grid.arguments for grid in self._grids), strict=True)
        )

    def train(self, steps: int) -> None:
        for step in range(steps):
            done = step / steps
            fallen = 0.5 + 0.5 * np.cos(np.pi * done)
            if done >= FROZEN_FROM and not self._blocks:
                self._blocks = [grid.pack() for grid in self._grids]
            self._program.run(
                "trainTexels",
                self._samples,
                latents=self._latents,
                textures=self._textures,
                size=self._size,
                step=step,
                **self._network.training,
            )
            self._network.step(NETWORK_RATE * fallen)
            for grid in self._grids if not self._blocks else []:
                grid.step(LATENT_RATE * fallen)
                grid.expand(done >= ROUNDED_FROM)

    def decode(self) -> Floats:
        columns, rows = self._size
        channels = self._network.layers()[-1].bias.size
        decoded = self._program.zeros(rows, columns, channels)
        self._program.run(
            "decodeTexels",
            rows * columns,
            network=self._network.buffers,
            latents=self._latents,
            size=self._size,
            textures=decoded,
        )
        return read(decoded, rows, columns, channels)

    def compressed(self) -> CompressedSet:
        """What is stored."""
        columns, rows = self._size
        halves = [
            Layer(*(part.astype(np.float16).astype(np.float32) for part in layer))
            for layer in self._network.layers()
        ]
        return CompressedSet((rows, columns), self._blocks, halves)


def principal_components(texels: Floats, count: int) -> Floats:
    """The first components of the channels, from 0 to 1 with one scale: latents to start from."""
    flat = texels.reshape(-1, texels.shape[-1])
    centred = flat - flat.mean(0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    parts = centred @ axes[:, ::-1][:, :count]
    missing = np.zeros((len(flat), count - parts.shape[1]))
    parts = np.concatenate([parts, missing], -1) / (2 * np.abs(parts).max() + 1e-6)
    return parts.reshape(*texels.shape[:2], count) + 0.5


def compress(
    device: Device, textures: TextureSet, shares: tuple[float, float], sizes: dict[str, Any]
) -> Result:
    network = (sizes[name] for name in ("width", "hidden", "samples"))
    compressor = Compressor(device, textures, shares, *network)
    compressor.train(sizes["steps"])
    texels = compressor.decode()
    compressed = compressor.compressed()
    return Result(texels, psnr(texels, textures.texels), compressed.bits, compressed)


def main(options: argparse.Namespace, device: Device) -> None:
    sizes = FULL if options.full else SMALL
    ladder = options.sizes or (LADDER if options.full or options.target else [(0.5, 0.5)])
    gains: dict[str, list[float]] = {}
    print(HEADS + "\n" + "| --- " * (HEADS.count("|") - 1) + "|")
    for material in options.materials or (every_material() if options.full else ["copper_tray"]):
        textures = load_textures(material, sizes["side"])
        rivals = plain_blocks(textures)
        whole, results = len(textures.textures), []
        for shares in smaller_than(whole, ladder):
            start = time.perf_counter()
            found = compress(device, textures, shares, sizes)
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
        write_set(options.out / material, found.compressed)
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
    small, full = (f"textures of {each['side']} x {each['side']}" for each in (SMALL, FULL))
    result = parser(__doc__, small, full + ", all examples")
    result.add_argument("materials", nargs="*", help="names of examples, such as copper_tray")
    sizes = "of both latent textures, in parts of the material's: 1,0.25"
    result.add_argument("--sizes", nargs="+", type=two_sides, help=sizes)
    target = "PSNR; the smallest size that reaches it is taken, else the best"
    result.add_argument("--target", type=float, help=target)
    return result
