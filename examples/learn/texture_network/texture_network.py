"""A texture that is a network: colours of a picture, learned as a function of the place.

    python examples/learn texture_network [PICTURE] [--full] [--window]
        [--transform zoom] [--network FILE.bin] [--steps N]

Writes the original, the network's picture and the error beside each other, an animation of the
training, and the network as NVIDIA's RTXNS loads it. `--network` goes on with such a file.
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
    Window,
    beside,
    load_square,
    parser,
    psnr,
    read,
    save_animation,
    save_image,
)
from rtxns_file import read_network, write_network

from verdigris.core.base.device import Device
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.compress.mlp import Layer, Network, first_layers, network_defines

HERE = Path(__file__).parent
BANDS, OUTPUTS = 6, 3
TRANSFORMS = ("copy", "zoom", "mirror", "swirl")
SMALL = {"width": 32, "hidden": 3, "samples": 1024, "steps": 1500, "side": 64, "rate": 4e-3}
FULL = {"width": 64, "hidden": 4, "samples": 16384, "steps": 20_000, "side": 256, "rate": 3e-3}
FRAMES = 24  # of the animation


class TextureNetwork:
    """A picture on a device, and the network that learns it."""

    def __init__(
        self, device: Device, picture: Floats, layers: list[Layer], transform: str, samples: int
    ) -> None:
        path = HERE / "texture_network.slang"
        self._program = Program(device, path, **network_defines(device, layers))
        self.network = Network(self._program, layers, samples)
        self._picture = {
            "picture": self._program.buffer(picture.astype(np.float32)),
            "transform": TRANSFORMS.index(transform),
        }
        self._size = picture.shape[1], picture.shape[0]
        self._samples = samples

    def train(self, steps: int, all_steps: int, rate: float) -> None:
        """Some of `all_steps` steps. The learning rate falls to a hundredth along a cosine."""
        network = self.network
        for _ in range(steps):
            done = min(network.steps / all_steps, 1)
            self._program.run(
                "trainSamples",
                self._samples,
                size=self._size,
                step=network.steps,
                **network.training,
                **self._picture,
            )
            network.step(rate * (0.505 + 0.495 * np.cos(np.pi * done)))

    def draw(self, side: int) -> tuple[Floats, Floats]:
        """The network's picture, and what it should be."""
        learned, original = (self._program.zeros(side, side, 3) for _ in "12")
        self._program.run(
            "drawPicture",
            side * side,
            network=self.network.buffers,
            pictureSize=self._size,
            size=(side, side),
            learned=learned,
            original=original,
            **self._picture,
        )
        return read(learned, side, side, 3), read(original, side, side, 3)


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
        else first_layers([4 * BANDS, *[sizes["width"]] * sizes["hidden"], OUTPUTS])
    )
    texture = TextureNetwork(device, picture, layers, options.transform, sizes["samples"])
    window = Window(device, 3 * side + 8, side, "texture network") if options.window else None
    frames, start = [], time.perf_counter()
    for frame in range(FRAMES):
        part = steps * (frame + 1) // FRAMES - steps * frame // FRAMES
        texture.train(part, steps, sizes["rate"])
        learned, original = texture.draw(side)
        frames.append(beside(original, learned, np.abs(learned - original) * 4))
        done = steps * (frame + 1) // FRAMES
        scale = texture.network.loss_scale
        print(f"step {done:6}: {psnr(learned, original):.1f} dB, loss scale {scale:g}")
        if window and not window.show(frames[-1]):
            break
    print(f"trained in {time.perf_counter() - start:.1f} s")
    save_image(options.out / "texture_network.png", frames[-1])
    save_animation(options.out / "texture_network.gif", frames)
    write_network(options.out / "texture_network.bin", texture.network.layers())


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
