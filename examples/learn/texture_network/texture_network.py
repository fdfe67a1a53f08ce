"""A texture that is a network: colours of a picture, learned as a function of the place.

    python examples/learn/texture_network/texture_network.py [PICTURE] [--full] [--window]
        [--transform zoom] [--network FILE.bin] [--steps N]

Writes the original, the network's picture and the error beside each other, an animation of the
training, and the network as NVIDIA's RTXNS loads it. `--network` goes on with such a file.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import slangpy as spy

sys.path.append(str(Path(__file__).resolve().parents[1]))

from kit import (
    TEXTURES,
    Floats,
    Program,
    Window,
    beside,
    load_square,
    parser,
    psnr,
    read,
    run,
    save_animation,
    save_image,
)
from rtxns_file import Layer, read_network, write_network

from verdigris.core.base.device import Device
from verdigris.core.base.errors import VerdigrisError

HERE = Path(__file__).parent
BANDS, OUTPUTS = 6, 3
TRANSFORMS = ("copy", "zoom", "mirror", "swirl")
SMALL = {"width": 32, "hidden": 3, "samples": 1024, "steps": 600, "side": 64}
FULL = {"width": 64, "hidden": 4, "samples": 16384, "steps": 20_000, "side": 512}
RATE = 4e-3
FRAMES = 24  # of the animation
FIRST_SCALE = 128.0


class TextureNetwork:
    """A network on a device, with everything that training needs."""

    def __init__(self, device: Device, picture: Floats, layers: list[Layer], transform: str) -> None:
        self._hidden, self._width = len(layers) - 1, layers[0].matrix.shape[0]
        self._program = Program(
            device,
            HERE / "texture_network.slang",
            BANDS=BANDS,
            WIDTH=self._width,
            HIDDEN=self._hidden,
            COOPERATIVE=int(device.gpu.has_feature(spy.Feature.cooperative_vector)),
        )
        flat = np.concatenate([part.reshape(-1) for layer in layers for part in layer])
        self._count, self._steps = flat.size, 0
        buffer = self._program.buffer
        self._master, self._gradients = buffer(flat.astype(np.float32)), self._program.zeros(flat.size)
        self._moments = self._program.zeros(flat.size, 2)
        self._scaling = buffer(np.array([FIRST_SCALE, 0, 0], np.float32))
        self._weights, self._transposed = (buffer(np.zeros(flat.size, np.float16)) for _ in "12")
        self._task = {
            "picture": buffer(picture.astype(np.float32)),
            "transform": TRANSFORMS.index(transform),
        }
        self._size = picture.shape[1], picture.shape[0]
        self._shapes = [layer.matrix.shape for layer in layers]
        # with a rate of 0 it only makes the halves
        self._step_weights(0.0)

    def train(self, steps: int, samples: int, all_steps: int) -> None:
        """Some of `all_steps` steps. The learning rate falls to a hundredth along a cosine."""
        halves = samples * (4 * BANDS + self._hidden * self._width)
        reads, errors = (self._program.buffer(np.zeros(halves, np.float16)) for _ in "12")
        batch = {"reads": reads, "errors": errors, "samples": samples, "scaling": self._scaling}
        for _ in range(steps):
            self._steps += 1
            self._program.run(
                "trainSamples",
                samples,
                weights=self._weights,
                transposed=self._transposed,
                size=self._size,
                step=self._steps,
                **batch,
                **self._task,
            )
            self._program.run(
                "sumGradients", self._count, count=self._count, gradients=self._gradients, **batch
            )
            fallen = 0.505 + 0.495 * np.cos(np.pi * min(self._steps / all_steps, 1))
            correction = (1 - 0.999**self._steps) ** 0.5 / (1 - 0.9**self._steps)
            self._step_weights(RATE * fallen * correction)
            self._program.run("updateScale", 1, scaling=self._scaling)

    def _step_weights(self, rate: float) -> None:
        self._program.run(
            "stepWeights",
            self._count,
            count=self._count,
            rate=rate,
            master=self._master,
            gradients=self._gradients,
            moments=self._moments,
            scaling=self._scaling,
            weights=self._weights,
            transposed=self._transposed,
        )

    def draw(self, side: int) -> tuple[Floats, Floats]:
        """The network's picture, and what it should be."""
        learned, original = (self._program.zeros(side, side, 3) for _ in "12")
        self._program.run(
            "drawPicture",
            side * side,
            weights=self._weights,
            pictureSize=self._size,
            size=(side, side),
            learned=learned,
            original=original,
            **self._task,
        )
        return read(learned, side, side, 3), read(original, side, side, 3)

    @property
    def loss_scale(self) -> float:
        return float(read(self._scaling, 3)[0])

    def gradients(self) -> Floats:
        return read(self._gradients, self._count)

    def layers(self) -> list[Layer]:
        """The master weights."""
        flat, layers = read(self._master, self._count), []
        for rows, columns in self._shapes:
            matrix, bias, flat = np.split(flat, [rows * columns, rows * columns + rows])
            layers.append(Layer(matrix.reshape(rows, columns), bias))
        return layers


def first_layers(width: int, hidden: int, seed: int = 1) -> list[Layer]:
    """Random weights that keep the variance of what passes through rectifiers (He et al. 2015)."""
    random = np.random.default_rng(seed)
    widths = [4 * BANDS, *[width] * hidden, OUTPUTS]
    return [
        Layer(random.normal(0, (2 / columns) ** 0.5, (rows, columns)), np.zeros(rows))
        for columns, rows in zip(widths, widths[1:], strict=False)
    ]


def check_network(layers: list[Layer], path: Path) -> list[Layer]:
    """Refuses a network for other inputs or outputs."""
    inputs, outputs = layers[0].matrix.shape[1], layers[-1].matrix.shape[0]
    widths = {layer.matrix.shape[0] for layer in layers[:-1]}
    if (inputs, outputs) != (4 * BANDS, OUTPUTS) or len(widths) != 1:
        raise VerdigrisError(
            f"{path}: this network has {inputs} inputs and {outputs} outputs; this example needs "
            f"{4 * BANDS}, {OUTPUTS}, and hidden layers of one width"
        )
    return layers


def main(options: argparse.Namespace, device: Device) -> None:
    sizes = FULL if options.full else SMALL
    steps = options.steps or sizes["steps"]
    picture = load_square(options.picture, sizes["side"])
    side = len(picture)
    layers = (
        check_network(read_network(options.network), options.network)
        if options.network
        else first_layers(sizes["width"], sizes["hidden"])
    )
    network = TextureNetwork(device, picture, layers, options.transform)
    window = Window(device, 3 * side + 8, side, "texture network") if options.window else None
    frames, start = [], time.perf_counter()
    for frame in range(FRAMES):
        part = steps * (frame + 1) // FRAMES - steps * frame // FRAMES
        network.train(part, sizes["samples"], steps)
        learned, original = network.draw(side)
        frames.append(beside(original, learned, np.abs(learned - original) * 4))
        done = steps * (frame + 1) // FRAMES
        print(f"step {done:6}: {psnr(learned, original):.1f} dB, loss scale {network.loss_scale:g}")
        if window and not window.show(frames[-1]):
            break
    print(f"trained in {time.perf_counter() - start:.1f} s")
    save_image(options.out / "texture_network.png", frames[-1])
    save_animation(options.out / "texture_network.gif", frames)
    write_network(options.out / "texture_network.bin", network.layers())


def arguments() -> argparse.ArgumentParser:
    small, full = (
        f"{each['hidden']} layers of {each['width']}, a picture of {each['side']} x {each['side']}"
        for each in (SMALL, FULL)
    )
    result = parser(__doc__, small, full)
    result.add_argument(
        "picture", type=Path, nargs="?", default=TEXTURES / "glazed_tile_color.jpg", help="an image"
    )
    result.add_argument("--transform", choices=TRANSFORMS, default="copy", help="of the picture")
    result.add_argument("--network", type=Path, help="goes on with this file")
    result.add_argument("--steps", type=int, help="of training")
    result.add_argument("--window", action="store_true", help="show the training in a window")
    return result


if __name__ == "__main__":
    run(main, arguments().parse_args())
