"""Learned mipmaps: coarse levels of colour and normals, fitted to the shading of the finest level.

    python examples/learn mipmaps [--full] [--out FOLDER]

Prints the error of each level beside a box filter and Toksvig's. Draws a floor with each.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from kit import (
    TEXTURES,
    Floats,
    Program,
    beside,
    from_srgb,
    load_image,
    parser,
    print_table,
    read,
    save_image,
    smaller,
    to_srgb,
)

from verdigris.core.base.device import Device

HERE = Path(__file__).parent
NUMBERS = 6  # of a texel: albedo and mean normal
SMALL = {"size": 128, "steps": 150, "samples": 8, "taps": 16, "rate": 0.01}
FULL = {"size": 512, "steps": 300, "samples": 8, "taps": 16, "rate": 0.01}
STEPS_A_CALL = 25
# name, and whether a short normal widens the highlight
KINDS = {"box filter": False, "Toksvig": True, "learned": True}


def finest_level(size: int) -> Floats:
    """Hammered copper: albedo and normal of each texel."""
    albedo = from_srgb(load_image(TEXTURES / "copper_tray_metal.jpg")[..., :3])
    normal = 2 * load_image(TEXTURES / "copper_tray_normal.png")[..., :3] - 1
    texels = smaller(np.concatenate([albedo, normal], -1), len(albedo) // size)
    texels[..., 3:] /= np.linalg.norm(texels[..., 3:], axis=-1, keepdims=True)
    return texels.astype(np.float32)


def box_filtered(finest: Floats) -> list[Floats]:
    """Each level is the mean of four texels of the one before. Normals become shorter where they
    differ."""
    levels = [finest]
    while len(level := levels[-1]) > 1:
        levels.append(smaller(level, 2))
    return levels


class Mipmaps:
    """The levels of a texture on a device."""

    def __init__(self, program: Program, levels: list[Floats]) -> None:
        self._program, self.size = program, len(levels[0])
        self.levels = len(levels)
        flat = np.concatenate([level.reshape(-1, NUMBERS) for level in levels])
        self._numbers = program.buffer(flat)
        self._chain = {"size": self.size, "numbers": self._numbers}

    def fit(self, steps: int, samples: int, taps: int, rate: float) -> None:
        """Improves all levels but the finest, each by itself."""
        for level in range(1, self.levels):
            texels = (self.size >> level) ** 2
            moments = self._program.zeros(texels * NUMBERS, 2)
            for first in range(0, steps, STEPS_A_CALL):
                self._program.run(
                    "fitLevel",
                    texels,
                    chain=self._chain,
                    moments=moments,
                    level=level,
                    firstStep=first,
                    steps=min(STEPS_A_CALL, steps - first),
                    allSteps=steps,
                    # a coarse level has few texels, so each gets more directions
                    samples=samples * max(1, min(1024 // texels, 16)),
                    taps=taps,
                    rate=rate,
                )

    def errors(self, is_widened: bool, samples: int) -> list[float]:
        """Of each coarse level: the mean error of shading over its mean."""
        found = []
        for level in range(1, self.levels):
            texels = (self.size >> level) ** 2
            # a coarse level has few texels, so each gets more directions
            directions = samples * max(1, 64 // texels)
            sums = self._program.zeros(texels * directions, 2)
            self._program.run(
                "measureLevel",
                texels * directions,
                chain=self._chain,
                sums=sums,
                level=level,
                samples=directions,
                isWidened=int(is_widened),
            )
            error, total = read(sums, texels * directions, 2).astype(np.float64).sum(0)
            found.append(float(error / total))
        return found

    def draw(self, width: int, height: int, rays: int, is_widened: bool) -> Floats:
        picture = self._program.zeros(height, width, 3)
        self._program.run(
            "drawFloor",
            width * height,
            chain=self._chain,
            picture=picture,
            size=(width, height),
            rays=rays,
            isWidened=int(is_widened),
        )
        return read(picture, height, width, 3)


def main(options: argparse.Namespace, device: Device) -> None:
    sizes = FULL if options.full else SMALL
    program = Program(device, HERE / "mipmaps.slang")
    levels = box_filtered(finest_level(sizes.pop("size")))
    filtered, learned = Mipmaps(program, levels), Mipmaps(program, levels)
    start = time.perf_counter()
    learned.fit(**sizes)
    chains = {"box filter": filtered, "Toksvig": filtered, "learned": learned}
    measured = {
        name: chain.errors(KINDS[name], 48 if options.full else 32)
        for name, chain in chains.items()
    }
    print(f"fitted in {time.perf_counter() - start:.1f} s")
    rows = [
        [
            f"{filtered.size >> level}",
            *(f"{100 * each[level - 1]:.1f}%" for each in measured.values()),
        ]
        for level in range(1, filtered.levels)
    ]
    print_table(["texels a side", *measured], rows)
    size = (480, 270) if options.full else (240, 135)
    pictures = [filtered.draw(*size, rays=256, is_widened=False)]
    pictures += [chain.draw(*size, 1, KINDS[name]) for name, chain in chains.items()]
    save_image(options.out / "mipmaps.png", to_srgb(0.6 * beside(*pictures)))


def arguments() -> argparse.ArgumentParser:
    small, full = (f"{each['size']} x {each['size']} texels" for each in (SMALL, FULL))
    return parser(__doc__, small, full)
