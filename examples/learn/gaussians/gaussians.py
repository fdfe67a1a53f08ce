"""A picture of 2D Gaussians, fitted by the gradient of its error.

    python examples/learn gaussians [PICTURE] [--full] [--counts 200 2000]

First 200 Gaussians the simple way, where each pixel visits all of them, then more with tiles.
Writes the pictures, an animation of the last fit, and prints PSNR and time by number of Gaussians.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from kit import (
    TEXTURES,
    Adam,
    Floats,
    Program,
    beside,
    load_square,
    parser,
    print_table,
    psnr,
    read,
    save_animation,
    save_image,
)

from verdigris.core.base.device import Device

HERE = Path(__file__).parent
NUMBERS, TILE, MOST_IN_TILE = 9, 16, 1024
MOST_SIMPLE = 256
SMALL = {"side": 64, "steps": 200, "simple_steps": 50, "counts": [50, 200, 500]}
FULL = {"side": 512, "steps": 20_000, "simple_steps": 300, "counts": [200, 500, 1000, 2000, 5000]}
# the learning rate, and what is left of it at the end
RATE, LAST = 0.02, 0.05
FRAMES = 24  # of the animation


def scattered(picture: Floats, count: int, seed: int = 1) -> Floats:
    """Round Gaussians with the colours of their places, most where the picture changes."""
    random = np.random.default_rng(seed)
    grey = picture.mean(-1)
    change = np.hypot(*np.gradient(grey)) + 0.02
    pixels = random.choice(change.size, count, p=change.ravel() / change.sum())
    rows, columns = np.unravel_index(pixels, grey.shape)
    centres = (np.stack([columns, rows], -1) + random.random((count, 2))) / min(grey.shape)
    numbers = np.zeros((count, NUMBERS), np.float32)
    numbers[:, :2] = 10 * centres
    numbers[:, 2:4] = np.log(0.5 / np.sqrt(count))
    numbers[:, 4] = random.uniform(0, np.pi, count)
    numbers[:, 5:8] = picture[rows, columns]
    numbers[:, 8] = 1.0
    return numbers


class Gaussians:
    """A pile of Gaussians that learns a picture."""

    def __init__(self, program: Program, picture: Floats, numbers: Floats, in_tiles: bool) -> None:
        self._program, self._in_tiles = program, in_tiles
        self._rows, self._columns = picture.shape[:2]
        self._adam = Adam(program, numbers)
        self._drawn = program.zeros(*picture.shape)
        self._largest = program.buffer(np.zeros(1, np.uint32))
        self._pile = {
            "numbers": self._adam.values,
            "gradients": self._adam.gradients,
            "count": len(numbers),
        }
        self._picture = {
            "size": (self._columns, self._rows),
            "wanted": program.buffer(picture.astype(np.float32)),
            "drawn": self._drawn,
        }

    def _run(self, is_training: bool) -> None:
        task = {"pile": self._pile, "picture": self._picture, "isTraining": int(is_training)}
        if self._in_tiles:
            tiles = -(-self._rows // TILE) * -(-self._columns // TILE)
            self._program.run("drawTiles", tiles * TILE * TILE, largest=self._largest, **task)
        else:
            self._program.run("drawSimply", self._rows * self._columns, **task)

    def train(self, steps: int, rate: float) -> None:
        for _ in range(steps):
            self._run(is_training=True)
            self._adam.step(rate)

    def draw(self) -> Floats:
        self._run(is_training=False)
        return read(self._drawn, self._rows, self._columns, 3)

    def gradients(self) -> Floats:
        """Of the mean squared error, by each number."""
        self._run(is_training=True)
        return read(self._adam.gradients, self._pile["count"], NUMBERS)

    @property
    def most_in_tile(self) -> int:
        return int(read(self._largest, 1, kind=np.uint32)[0])


def fit(gaussians: Gaussians, picture: Floats, steps: int) -> list[Floats]:
    """Trains, with a rate that falls. Returns pictures on the way."""
    frames = []
    for frame in range(FRAMES):
        part = steps * (frame + 1) // FRAMES - steps * frame // FRAMES
        gaussians.train(part, RATE * LAST ** (frame / (FRAMES - 1)))
        frames.append(gaussians.draw())
    return frames


def main(options: argparse.Namespace, device: Device) -> None:
    sizes = FULL if options.full else SMALL
    picture = load_square(options.picture, sizes["side"])
    program = Program(device, HERE / "gaussians.slang", MOST_SIMPLE=MOST_SIMPLE)
    counts, rows, pictures, frames = options.counts or sizes["counts"], [], [picture], []
    ways = [(200, False), *((count, True) for count in counts)]
    for count, in_tiles in ways:
        gaussians = Gaussians(program, picture, scattered(picture, count), in_tiles)
        start = time.perf_counter()
        steps = sizes["steps" if in_tiles else "simple_steps"]
        frames = fit(gaussians, picture, steps)
        seconds = time.perf_counter() - start
        way = f"tiles, at most {gaussians.most_in_tile}" if in_tiles else "all for each pixel"
        found = f"{psnr(frames[-1], picture):.1f}"
        rows.append([str(count), way, str(steps), found, f"{1e3 * seconds / steps:.1f}"])
        pictures += [frames[-1]] if in_tiles else []
        if gaussians.most_in_tile > MOST_IN_TILE:
            print(f"a tile has more than {MOST_IN_TILE} Gaussians, and leaves the last ones out")
    print_table(["Gaussians", "visited", "steps", "PSNR", "ms a step"], rows)
    save_image(options.out / "gaussians.png", beside(*pictures))
    save_animation(options.out / "gaussians.gif", [beside(picture, frame) for frame in frames])


def arguments() -> argparse.ArgumentParser:
    small, full = (f"a picture of {each['side']} x {each['side']}" for each in (SMALL, FULL))
    result = parser(__doc__, small, full)
    result.add_argument(
        "picture", type=Path, nargs="?", default=TEXTURES / "glazed_tile_color.jpg", help="an image"
    )
    result.add_argument("--counts", type=int, nargs="+", help="numbers of Gaussians")
    return result
