"""Neural texture compression: all textures of a material in two textures of BC7 and a network.

    python examples/learn/texture_compression/texture_compression.py [MATERIAL …] [--full]
        [--sizes 0.25 0.5] [--target PSNR]

Prints PSNR and bits a texel, beside BC7 of each texture at the same bits. `--target` takes the
smallest size that reaches it. Writes a picture of the originals, the network's and BC7's.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

from kit import (
    TEXTURES,
    Adam,
    Floats,
    Program,
    beside,
    parser,
    print_table,
    psnr,
    read,
    run,
    save_image,
)
from mlp import Network, first_layers, network_defines
from texture_set import (
    TextureSet,
    block_bits,
    load_textures,
    plain_blocks,
    resized,
    through_blocks,
)

from verdigris.core.base.device import Device

HERE = Path(__file__).parent
LATENTS, PLACES, LAYERS = 8, 4, 2
SMALL = {"side": 128, "width": 32, "hidden": 2, "samples": 1024, "steps": 600, "sizes": [0.5]}
FULL = {
    "side": 512,
    "width": 64,
    "hidden": 2,
    "samples": 16384,
    "steps": 4000,
    "sizes": [0.25, 0.5],
}
NETWORK_RATE, LATENT_RATE = 2e-3, 1e-2
# shares of the steps: blocks begin, latents rest
BLOCKS_FROM, FROZEN_FROM = 0.4, 0.85
# fits of blocks while training
FITS = 40


class Result(NamedTuple):
    texels: Floats
    decibels: float
    bits: float
    """Of a texel of the set, with the network."""


class Compressor:
    """A texture set on a device, its latents, and the network that decodes them."""

    def __init__(
        self,
        device: Device,
        textures: TextureSet,
        share: float,
        width: int,
        hidden: int,
        samples: int,
    ) -> None:
        rows, columns, channels = textures.texels.shape
        self._size, self._samples = (columns, rows), samples
        self._rows, self._columns = (max(round(share * side), 4) for side in (rows, columns))
        layers = first_layers([LATENTS + PLACES, *[width] * hidden, channels])
        # the network starts with the mean of each channel
        layers[-1].bias[:] = textures.texels.mean((0, 1))
        layers[-1].matrix[:] *= 0.1
        self._program = Program(
            device, HERE / "texture_compression.slang", **network_defines(device, layers)
        )
        self._network = Network(self._program, layers, samples)
        self._textures = self._program.buffer(textures.texels)
        reduced = resized(textures.texels, self._rows, self._columns)
        self._adam = Adam(self._program, principal_components(reduced))
        self._corrections = self._program.zeros(self._adam.count)
        self._latents = {
            "size": (self._columns, self._rows),
            "values": self._adam.values,
            "corrections": self._corrections,
            "gradients": self._adam.gradients,
        }

    def train(self, steps: int) -> None:
        every = max(int(steps * (FROZEN_FROM - BLOCKS_FROM)) // FITS, 1)
        for step in range(steps):
            done = step / steps
            is_frozen = done >= FROZEN_FROM
            if done >= BLOCKS_FROM and not is_frozen and step % every == 0:
                self.fit_blocks()
            self._program.run(
                "trainTexels",
                self._samples,
                latents=self._latents,
                textures=self._textures,
                size=self._size,
                step=step,
                **self._network.training,
            )
            fallen = 0.5 + 0.5 * np.cos(np.pi * done)
            self._network.step(NETWORK_RATE * fallen)
            if not is_frozen:
                self._adam.step(LATENT_RATE * fallen)
        self.fit_blocks()

    def fit_blocks(self) -> None:
        """What blocks of BC7 change about the latents, until the next fit."""
        values = read(self._adam.values, self._rows, self._columns, LATENTS)
        stored = through_blocks(np.clip(values, 0, 1))
        self._corrections.copy_from_numpy((stored - values).ravel())

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

    @property
    def bits(self) -> int:
        numbers = sum(part.size for layer in self._network.layers() for part in layer)
        return LAYERS * block_bits(self._rows, self._columns) + 16 * numbers


def principal_components(texels: Floats) -> Floats:
    """The first components of the channels, from 0 to 1: latents to start from."""
    flat = texels.reshape(-1, texels.shape[-1])
    centred = flat - flat.mean(0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    parts = centred @ axes[:, ::-1][:, :LATENTS]
    parts /= 2 * np.abs(parts).max(0) + 1e-6
    missing = np.zeros((len(flat), LATENTS - parts.shape[1]))
    return np.concatenate([parts, missing], -1).reshape(*texels.shape[:2], LATENTS) + 0.5


def compress(device: Device, textures: TextureSet, share: float, sizes: dict) -> Result:
    network = (sizes[name] for name in ("width", "hidden", "samples"))
    compressor = Compressor(device, textures, share, *network)
    compressor.train(sizes["steps"])
    texels = compressor.decode()
    rows, columns = texels.shape[:2]
    return Result(texels, psnr(texels, textures.texels), compressor.bits / (rows * columns))


def main(options: argparse.Namespace, device: Device) -> None:
    sizes = FULL if options.full else SMALL
    shares = sorted(options.sizes or sizes["sizes"])
    rows, gains = [], []
    for material in options.materials or (every_material() if options.full else ["copper_tray"]):
        textures = load_textures(material, sizes["side"])
        for share in shares:
            start = time.perf_counter()
            found = compress(device, textures, share, sizes)
            seconds = time.perf_counter() - start
            plain, plain_bits = plain_blocks(textures, found.bits)
            plain_decibels = psnr(plain, textures.texels)
            gains.append(found.decibels - plain_decibels)
            channels = textures.texels.shape[-1]
            figures = found.bits, found.decibels, plain_bits, plain_decibels, seconds
            rows.append(
                [material, str(channels), f"{share:g}", *(f"{each:.1f}" for each in figures)]
            )
            if options.target and found.decibels >= options.target:
                break
        shown = [each[..., textures.textures[0]] for each in (textures.texels, found.texels, plain)]
        pictures = [
            np.repeat(each, 3, -1)[..., :3] if each.shape[-1] < 3 else each[..., :3]
            for each in shown
        ]
        save_image(options.out / f"texture_compression_{material}.png", beside(*pictures))
    heads = ["material", "channels", "size", "bits", "PSNR", "BC7: bits", "PSNR", "seconds"]
    print_table(heads, rows)
    print(f"median gain over BC7 at equal bits: {np.median(gains):.1f} dB")


def every_material() -> list[str]:
    return sorted(path.stem for path in TEXTURES.parent.glob("*.mtlx"))


def arguments() -> argparse.ArgumentParser:
    small, full = (f"textures of {each['side']} x {each['side']}" for each in (SMALL, FULL))
    result = parser(__doc__, small, full + ", all examples")
    result.add_argument("materials", nargs="*", help="names of examples, such as copper_tray")
    result.add_argument(
        "--sizes", type=float, nargs="+", help="of latents, in parts of the textures'"
    )
    result.add_argument(
        "--target", type=float, help="PSNR; the smallest size that reaches it is taken"
    )
    return result


if __name__ == "__main__":
    run(main, arguments().parse_args())
