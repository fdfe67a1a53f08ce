"""Draws the room with neural materials, or with the graphs they were baked from.

python examples/engine/render.py room.vdg -o room.png
python examples/engine/render.py room.vdg --graphs examples -o graphs.png
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import room
from graphs import load_graph
from neural_pack import NeuralPack, PackError
from tracer import BOUNCES, Scene, Shaders, Tracer, create_sums, picture_of
from wavefront import WavefrontTracer

from verdigris.core.base.device import SHADER_FOLDER, open_device
from verdigris.core.base.errors import VerdigrisError

# The window is far brighter than the room: the exposure is for the room.
_EXPOSURE, _WHITE = 3.0, 10.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pack", type=Path, help="scene pack of the materials")
    parser.add_argument("-o", "--output", type=Path, default=Path("room.png"), help=".png or .exr")
    parser.add_argument("--graphs", type=Path, help="folder of the documents: draws their graphs")
    parser.add_argument("--hits", action="store_true", help="shade by hit shaders, not by queues")
    parser.add_argument("--size", type=int, nargs=2, default=(1280, 720), help="of the picture")
    parser.add_argument("--samples", type=int, default=64, help="per pixel")
    parser.add_argument("--bounces", type=int, default=BOUNCES, help="of a path")
    parser.add_argument("--device", help="as for verdigris")
    arguments = parser.parse_args()
    try:
        draw(arguments)
    except (PackError, VerdigrisError) as failure:
        sys.exit(str(failure))


def draw(arguments: argparse.Namespace) -> None:
    size = tuple(arguments.size)
    device = open_device(arguments.device)
    pack = NeuralPack(device.gpu, arguments.pack)
    scene = Scene(device.gpu, room.build(), slots(pack.names))
    shaders = Shaders.neural(pack)
    if arguments.graphs:
        paths = [arguments.graphs / f"{name}.mtlx" for name in pack.names]
        graphs = [load_graph(device, path, index, pack) for index, path in enumerate(paths)]
        shaders = Shaders.of_graphs(graphs)
    start = time.perf_counter()
    kind = Tracer if arguments.hits else WavefrontTracer
    tracer = kind(device.gpu, [SHADER_FOLDER], scene, pack, shaders)
    print(f"{device}: {scene.triangles} triangles, compiled in {time.perf_counter() - start:.1f} s")
    sums = create_sums(device.gpu, size)
    seconds = [
        tracer.trace(sums, size, first=sample, bounces=arguments.bounces)
        for sample in range(arguments.samples)
    ]
    print(f"{1e3 * np.median(seconds):.1f} ms for a sample of each pixel, first {seconds[0]:.1f} s")
    write_picture(arguments.output, picture_of(sums, size, arguments.samples)[..., :3])


def slots(names: list[str]) -> list[int]:
    """The material of each slot of the room: by name, or else by turns."""
    return [
        names.index(name) if name in names else slot % len(names)
        for slot, name in enumerate(room.SLOTS)
    ]


def write_picture(path: Path, light: np.ndarray) -> None:
    if path.suffix != ".exr":
        light = tone_mapped(light)
    height, width = light.shape[:2]
    image = oiio.ImageBuf(oiio.ImageSpec(width, height, 3, oiio.FLOAT))
    image.set_pixels(oiio.ROI(), np.ascontiguousarray(light, np.float32))
    image.write(str(path), oiio.HALF if path.suffix == ".exr" else oiio.UINT8)
    print(path)


def tone_mapped(light: np.ndarray) -> np.ndarray:
    """For a screen: bright light is compressed (Reinhard 2002), then encoded as sRGB."""
    exposed = _EXPOSURE * light
    mapped = np.clip(exposed * (1.0 + exposed / _WHITE**2) / (1.0 + exposed), 0.0, 1.0)
    return np.where(mapped <= 0.0031308, 12.92 * mapped, 1.055 * mapped ** (1 / 2.4) - 0.055)


if __name__ == "__main__":
    main()
